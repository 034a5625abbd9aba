/* A10: message queues and semaphores, POSIX and System V. */
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "probe.h"

int probe_ipc_flood(int argc, char** argv) {
  const long most = count_from(argc, argv, 100000);
  long posix = 0, queues = 0, sets = 0;
  char name[32];
  for (mqd_t queue = 0; posix < most; ++posix) {
    snprintf(name, sizeof name, "/q%ld", posix);
    queue = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
    if (queue == (mqd_t)-1) {
      say("mq_open", -1);
      break;
    }
    mq_close(queue);
    if (argc > 1) mq_unlink(name);
  }
  while (queues < most && msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0) ++queues;
  while (sets < most && semget(IPC_PRIVATE, 200, IPC_CREAT | 0600) >= 0) ++sets;
  say_number("posix", posix);
  say_number("queues", queues);
  say_number("semaphores", sets);
  return 0;
}
