/* A18, A28: burns on every processor, niced, pinned and in real time where that goes. */
#include <sched.h>
#include <sys/resource.h>

#include "probe.h"

int probe_cpu_hog(int argc, char** argv) {
  const double end = seconds_now() + (double)count_from(argc, argv, 3600);
  for (int i = 0; i < 8; ++i)
    if (fork() == 0) {
      setpriority(PRIO_PROCESS, 0, -20);
      while (seconds_now() < end) {
      }
      _exit(0);
    }
  say_text("begun", "yes");
  reap_all();
  return 0;
}

int probe_real_time(int argc, char** argv) {
  (void)argc;
  (void)argv;
  const struct sched_param one = {.sched_priority = 1};
  const struct sched_param none = {0};
  say("fifo", sched_setscheduler(0, SCHED_FIFO, &one));
  say("rr", sched_setscheduler(0, SCHED_RR, &one));
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } deadline = {48, 6, 0, 0, 0, 1000000, 10000000, 10000000};
  say("deadline", syscall(SYS_sched_setattr, 0, &deadline, 0));
  say("batch", sched_setscheduler(0, SCHED_BATCH, &none));
  say("nice", setpriority(PRIO_PROCESS, 0, -5));
  return 0;
}
