#include "jail/cli/private_engine.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "jail/cli/bind_rows.h"
#include "jail/cli/folder_judge.h"
#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/os/memfd.h"
#include "jail/os/unix_socket.h"
#include "jail/wire/keeper.h"
#include "jail/wire/supervisor_config.h"

namespace mayfly {

namespace {

constexpr Milliseconds kHelperLimit = 500_ms;  // builder and witness see the supervisor's pidfd and end in microseconds
constexpr Milliseconds kOrphanLimit = 4_s;     // a jail without its engine dies within 2 s

std::uint32_t processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&allowed)));
}

Expected<std::string> runtime_of(const EngineOptions& options, Privilege privilege) {
  if (!options.runtime_directory.empty()) return options.runtime_directory;
  return TRY(find_paths(privilege, {})).runtime;
}

Expected<CorePrograms> find_programs(const EngineOptions& options, const Programs& programs) {
  CorePrograms core;
  core.builder = options.builder.empty() ? TRY(programs.path("mayfly-builder")) : options.builder;
  core.witness = TRY(programs.path("mayfly-witness"));
  core.supervisor = TRY(programs.path("mayfly-supervisor"));
  core.builder_arguments = options.builder_arguments;
  return core;
}

SupervisorConfig config_for(const EngineOptions& options, const std::string& instance, const std::string& runtime,
                            Privilege privilege, std::uint32_t uid_base) {
  SupervisorConfig config;
  config.log_level = Severity::Error;  // stderr is the program's: what is no fault stays unsaid
  config.instance = instance;
  config.run_directory = runtime;
  config.rootless = privilege == Privilege::Rootless;
  config.private_engine = true;
  config.uid_base = uid_base;
  config.use_cgroups = options.use_cgroups;
  config.version = MAYFLY_VERSION;
  config.policy = options.policy;
  config.policy.made_ahead = options.made_ahead;
  return config;
}

bool ends_within(const Child& child, Milliseconds limit) {
  const Microseconds deadline = monotonic_now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - monotonic_now()).count();
    pollfd entry{child.pidfd().get(), POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// Reaps it, after SIGKILL when it has not ended in time.
Expected<int> end_child(Child& child, Milliseconds limit) {  // its wait status
  if (!ends_within(child, limit)) {
    if (auto sent = child.signal(SIGKILL); !sent && sent.error().error != ESRCH)
      return tl::make_unexpected(sent.error());
  }
  return child.wait();
}

// What an ended builder or witness left to us (pid 1s, relays) is in the process group it had.
Expected<void> reap_group(pid_t group, Microseconds deadline) {
  for (;;) {
    siginfo_t info{};
    const int done = ::waitid(P_PGID, static_cast<id_t>(group), &info, WEXITED | WNOHANG);
    if (done != 0 && errno == ECHILD) return {};
    if (done != 0 && errno != EINTR) return failure("reap what the engine left", errno);
    if (done == 0 && info.si_pid != 0) continue;  // one is gone, look for the next
    if (monotonic_now() >= deadline)
      return failure("end the engine", 0, "group " + std::to_string(group), "processes of it are still alive");
    ::usleep(500);
  }
}

}  // namespace

void raise_run_ceilings(Policy& policy) {
  struct sysinfo host {};
  ::sysinfo(&host);
  const std::uint64_t memory = std::uint64_t{host.totalram} * host.mem_unit;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  Limits& most = policy.run.ceilings;
  most.wall = 24 * 60_min;
  most.cpu_time = most.wall * policy.processors;
  most.memory = Bytes{std::max(memory, policy.run.defaults.memory.count)};
  most.processes = 32'768;  // what a 32-bit pid_max gives a pid namespace
  most.cpus = MilliCpus{std::max(policy.processors * 1000, policy.run.defaults.cpus.count)};
  most.disk = Bytes{std::max(memory / 2, policy.run.defaults.disk.count)};
  most.open_files =
      static_cast<std::uint32_t>(std::clamp<rlim_t>(files.rlim_max, policy.run.defaults.open_files, 1'048'576));
  most.output_kept = std::max(most.output_kept, 8_mib);
}

Policy policy_of_this_host() {
  Policy policy;
  policy.processors = processors();
  raise_run_ceilings(policy);
  return policy;
}

Expected<PrivateEngine> PrivateEngine::start(const EngineOptions& options) {
  const Privilege privilege = options.privilege.value_or(current_privilege());
  TRY(namespaces_not_ruled_out(NamespaceSwitches::read(), engine_user(privilege)));
  const std::string runtime = TRY(runtime_of(options, privilege));
  const Programs programs = options.programs.empty() ? TRY(Programs::find()) : Programs::in(options.programs);
  const CorePrograms core_programs = TRY(find_programs(options, programs));
  Instance instance = TRY(Instance::claim(runtime));
  std::optional<UidBlock> block;
  if (privilege == Privilege::Root) block = TRY(UidBlock::take(runtime + "/uid-blocks"));
  const std::uint32_t uid_base = block ? block->base() : 0;

  const BindChoices choices{privilege, uid_base, options.made_ahead ? MadeAhead::Yes : MadeAhead::No,
                            options.usr_local ? UsrLocal::Shown : UsrLocal::Hidden};
  const Catalogue& catalogue = options.policy.catalogue;
  const auto paths = find_paths(privilege, "");  // of a service of the same user, where it has a place
  TRY(keep_apart(catalogue, {runtime, programs.directory(), paths ? paths->state : "", paths ? paths->run : ""}));
  const Fd binds = TRY(seal_bind_table(TRY(make_bind_table(choices, programs, catalogue))));
  const SupervisorConfig config = config_for(options, instance.id(), runtime, privilege, uid_base);
  const Fd config_fd = TRY(make_sealed_memfd("mayfly-config", encode(config).dump()));
  SocketPair lease = TRY(make_seqpacket_pair(Blocking::No));
  const Fd self = TRY(open_pidfd(::getpid()));
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return failure("adopt orphans", errno);

  const CoreDescriptors with{self.get(),         binds.get(), config_fd.get(),
                             lease.theirs.get(), -1,          block ? block->lock().get() : -1};
  instance.may_leave_cgroups();
  Core core = TRY(start_core(core_programs, with));
  lease.theirs.reset();  // so that the supervisor's death closes our end
  SupervisorClient client = TRY(SupervisorClient::adopt(std::move(lease.ours)));
  return PrivateEngine(std::move(client), std::move(instance), std::move(block), privilege, std::move(core));
}

// A moved-from engine must have nothing left to stop: a moved-from optional would still be engaged.
PrivateEngine::PrivateEngine(PrivateEngine&& other) noexcept
    : client(std::move(other.client)),
      instance_(std::move(other.instance_)),
      block_(std::move(other.block_)),
      privilege_(other.privilege_),
      core_(std::exchange(other.core_, std::nullopt)) {}

Expected<void> PrivateEngine::stop() {
  if (!core_) return {};
  Core core = std::move(*core_);
  core_.reset();
  KeeperMessage message;
  message.says = KeeperSays::Stop;
  // Fails when the supervisor is gone already, which is what we want.
  (void)send_message(core.channel.get(), std::as_bytes(std::span(&message, 1)), {});
  { const SupervisorClient closed = std::move(client); }
  const pid_t groups[] = {core.builder.pid(), core.witness.pid()};
  if (TRY(end_child(core.supervisor, kStopLimit + 1_s)) == 0) instance_.leaves_nothing();
  TRY(end_child(core.builder, kHelperLimit));
  TRY(end_child(core.witness, kHelperLimit));
  const Microseconds deadline = monotonic_now() + kOrphanLimit;
  for (const pid_t group : groups) TRY(reap_group(group, deadline));
  return {};
}

PrivateEngine::~PrivateEngine() {
  if (auto stopped = stop(); !stopped) log_failure("engine.stop_failed", stopped.error());
}

}  // namespace mayfly
