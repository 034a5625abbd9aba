#include "jail/cli/core_processes.h"

#include <unistd.h>

#include <cerrno>

#include "jail/os/unix_socket.h"
#include "jail/wire/startup.h"

namespace mayfly {

namespace {

std::string folderless(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// `ours` is the supervisor's end.
Expected<Child> begin_builder(const CorePrograms& programs, const CoreDescriptors& with, const Fd& supervisor_pidfd,
                              const Fd& control) {
  ChildProgram program;
  program.path = programs.builder;
  program.argv = {folderless(programs.builder)};
  program.argv.insert(program.argv.end(), programs.builder_arguments.begin(), programs.builder_arguments.end());
  program.fds = {{with.keeper_pidfd, kKeeperPidfd},
                 {control.get(), kBuilderControl},
                 {with.bind_table, kBuilderBindTable},
                 {supervisor_pidfd.get(), kBuilderSupervisorPidfd}};
  return start_apart(std::move(program));
}

Expected<Child> begin_witness(const CorePrograms& programs, const CoreDescriptors& with, const Fd& supervisor_pidfd,
                              const Fd& control) {
  ChildProgram program;
  program.path = programs.witness;
  program.argv = {folderless(programs.witness)};
  program.fds = {{with.keeper_pidfd, kKeeperPidfd},
                 {control.get(), kWitnessControl},
                 {supervisor_pidfd.get(), kWitnessSupervisorPidfd}};
  if (with.uid_lock >= 0) program.fds.push_back({with.uid_lock, kWitnessUidLock});
  return start_apart(std::move(program));
}

Expected<Child> begin_supervisor(const CorePrograms& programs, const CoreDescriptors& with, const Fd& keeper,
                                 const Fd& builder, const Fd& witness) {
  ChildProgram program;
  program.path = programs.supervisor;
  program.argv = {folderless(programs.supervisor)};
  program.fds = {{with.keeper_pidfd, kKeeperPidfd},   {keeper.get(), kSupervisorKeeper},
                 {builder.get(), kSupervisorBuilder}, {witness.get(), kSupervisorWitness},
                 {with.config, kSupervisorConfig},    {with.lease, kSupervisorLease}};
  if (with.monitor >= 0) program.fds.push_back({with.monitor, kSupervisorMonitor});
  if (with.uid_lock >= 0) program.fds.push_back({with.uid_lock, kSupervisorUidLock});
  return start_apart(std::move(program));
}

Expected<SocketPair> make_control() {
  // Non-blocking for the supervisor, which never waits for one of them; the other end decides for itself.
  SocketPair pair = TRY(make_seqpacket_pair(Blocking::No));
  TRY(set_nonblocking(pair.theirs.get(), Blocking::Yes));
  return pair;
}

}  // namespace

Expected<Child> start_apart(ChildProgram program) {
  program.wait_for_go = true;
  Child child = TRY(Child::start(program));
  // Possible only before its exec (setpgid(2), EACCES), hence the waiting.
  if (::setpgid(child.pid(), child.pid()) != 0) return failure("set process group", errno, program.path);
  return child;
}

Expected<Core> start_core(const CorePrograms& programs, const CoreDescriptors& with) {
  SocketPair keeper = TRY(make_seqpacket_pair(Blocking::No));
  SocketPair builder_control = TRY(make_control());
  SocketPair witness_control = TRY(make_control());
  Child supervisor = TRY(begin_supervisor(programs, with, keeper.theirs, builder_control.ours, witness_control.ours));
  Child builder = TRY(begin_builder(programs, with, supervisor.pidfd(), builder_control.theirs));
  TRY(builder.go());
  Child witness = TRY(begin_witness(programs, with, supervisor.pidfd(), witness_control.theirs));
  TRY(witness.go());
  TRY(supervisor.go());
  return Core{std::move(keeper.ours), std::move(supervisor), std::move(builder), std::move(witness)};
}

Expected<Restarted> start_builder(const CorePrograms& programs, const CoreDescriptors& with,
                                  const Fd& supervisor_pidfd) {
  SocketPair control = TRY(make_control());
  Child child = TRY(begin_builder(programs, with, supervisor_pidfd, control.theirs));
  TRY(child.go());
  return Restarted{std::move(child), std::move(control.ours)};
}

Expected<Restarted> start_witness(const CorePrograms& programs, const CoreDescriptors& with,
                                  const Fd& supervisor_pidfd) {
  SocketPair control = TRY(make_control());
  Child child = TRY(begin_witness(programs, with, supervisor_pidfd, control.theirs));
  TRY(child.go());
  return Restarted{std::move(child), std::move(control.ours)};
}

}  // namespace mayfly
