#include "jail/builder/inside/limits.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>

namespace mayfly {

namespace {

void lower(Inside& in, __rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const rlimit& ours = in.host.limits[resource];
  const rlim_t most = std::min(hard, ours.rlim_max);
  const rlimit limit{std::min(soft, most), most};
  in.check(::setrlimit(resource, &limit));
}

void lower(Inside& in, __rlimit_resource resource, rlim_t both) { lower(in, resource, both, both); }

// Where no cgroup bounds the share of CPU: as many processors as it needs, chosen by slot so that jails spread. With a
// cgroup the quota does it better: a jail tied to a busy processor would wait while another is idle.
void choose_processors(Inside& in) {
  if (in.plan.cgroup != CgroupKind::None) return;
  const std::uint32_t wanted = (in.plan.milli_cpus + 999) / 1000;
  if (wanted >= in.host.processor_count) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (std::uint32_t i = 0; i < wanted; ++i)
    CPU_SET(in.host.processors[(in.plan.slot * wanted + i) % in.host.processor_count], &chosen);
  in.check(::sched_setaffinity(0, sizeof chosen, &chosen));
}

}  // namespace

// Neither can harm if it fails: the program then has fewer processors, or starts later.
void stay_on_this_processor() {
  const int number = ::sched_getcpu();
  if (number < 0) return;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(number, &here);
  ::sched_setaffinity(0, sizeof here, &here);
}

void use_all_processors(const Inside& in) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::uint32_t i = 0; i < in.host.processor_count; ++i) CPU_SET(in.host.processors[i], &all);
  ::sched_setaffinity(0, sizeof all, &all);
}

void set_limits(Inside& in) {
  if (in.leaves_out(Layer::Limits)) return;
  const Plan& plan = in.plan;
  const rlim_t cpu_seconds = (plan.cpu_ms + 999) / 1000;
  lower(in, RLIMIT_CORE, 1);  // 0 would still start a core pattern's pipe handler on the host (core(5)); 1 does not
  lower(in, RLIMIT_NOFILE, plan.open_files);
  lower(in, RLIMIT_NPROC, plan.processes);
  lower(in, RLIMIT_FSIZE, plan.disk_bytes + 4096);  // behind the tmpfs, so that a full disk is ENOSPC and not SIGXFSZ
  lower(in, RLIMIT_MSGQUEUE, 819'200);  // the kernel's default: nine queues of default size; charged to the cgroup too
  lower(in, RLIMIT_SIGPENDING, 1024);   // queued signals and POSIX timers, counted per uid
  lower(in, RLIMIT_MEMLOCK, 65'536);
  lower(in, RLIMIT_RTPRIO, 0);
  lower(in, RLIMIT_NICE, 0);
  lower(in, RLIMIT_STACK, 8u << 20, 64u << 20);             // deep recursion may raise it; memory bounds it anyway
  lower(in, RLIMIT_CPU, cpu_seconds + 1, cpu_seconds + 2);  // per process, behind the supervisor's own limit
  choose_processors(in);
}

}  // namespace mayfly
