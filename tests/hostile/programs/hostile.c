/* hostile: every hostile program in one static file, so that it needs nothing of the jail that it attacks.
 *   hostile NAME [ARGUMENTS]    runs one; exit status is the program's own
 *   hostile                     lists the names */
#include "probe.h"

/* clang-format off */
#define PROGRAMS(X)                                                                                                  \
  X(canary)                                                                                                          \
  X(fork_bomb)                                                                                                       \
  X(fork_tree) X(fork_chain) X(thread_bomb) X(memory_one) X(memory_many) X(memory_memfd) X(memory_shm)               \
      X(memory_locked) X(pipe_memory) X(fds_in_flight) X(fill_disk) X(inode_flood) X(sparse_file) X(ipc_flood)       \
          X(open_files) X(long_names) X(cpu_hog) X(real_time) X(cpu_orphans) X(signal_storm) X(refused_calls)        \
              X(endless_output) X(timer_flood) X(holds_stdout) X(ignores_signals) X(stops_itself) X(orphan_flood)    \
                  X(exit_with) X(die_of) X(trace_others) X(memory_of_init) X(kill_everybody) X(namespaces) X(mounts) \
                      X(write_programs) X(inherited_fds) X(inherited_environment) X(inherited_attributes)            \
                          X(proc_writes) X(proc_reads) X(host_words) X(processes_seen) X(own_status) X(cgroup_files) \
                              X(keyrings) X(io_uring) X(kernel_calls) X(clocks) X(personality) X(socket_families)    \
                                  X(host_sockets) X(ways_out) X(talk_to_self) X(foreign_calls) X(terminal)           \
                                      X(pty_flood) X(hostile_names) X(gain) X(secrets) X(logging_filter) X(socket_memory) X(accept_queues) X(watch_host)
/* clang-format on */

#define DECLARE(name) int probe_##name(int argc, char** argv);
PROGRAMS(DECLARE)

int main(int argc, char** argv) {
#define RUN(name) \
  if (argc > 1 && strcmp(argv[1], #name) == 0) return probe_##name(argc - 1, argv + 1);
  PROGRAMS(RUN)
#define LIST(name) say_text("program", #name);
  PROGRAMS(LIST)
  return argc > 1 ? 64 : 0;
}
