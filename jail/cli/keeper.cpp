#include "jail/cli/keeper.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "jail/cli/bind_rows.h"
#include "jail/cli/handed_listeners.h"
#include "jail/cli/host_key.h"
#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/os/memfd.h"
#include "jail/wire/supervisor_config.h"

namespace mayfly {

namespace {

// timeout(1) and some terminals deliver one request twice, to the process and to its group.
constexpr Milliseconds kSameRequest = 500_ms;
constexpr std::uint64_t kMostHostKeyBytes = 16 * 1024;

// A socket that was handed in takes the place of the configured address. Nothing: it is off.
Expected<std::optional<TcpListener>> listener_for(const std::string& what, std::optional<TcpListener> handed,
                                                  const std::optional<TcpAddress>& address, const Settings& settings) {
  if (!handed) return address ? std::optional(TRY(listen_tcp(*address, what))) : std::nullopt;
  if (!address)
    return failure("take the socket for " + what + " on", 0, handed->bound.text,
                   what + " is off: give it an address, or hand in no socket");
  TRY(judge_exposure(what, handed->bound, settings));
  return handed;
}

Expected<CorePrograms> find_core(const Programs& programs) {
  return CorePrograms{TRY(programs.path("mayfly-builder")),
                      TRY(programs.path("mayfly-witness")),
                      TRY(programs.path("mayfly-supervisor")),
                      {}};
}

}  // namespace

Expected<Keeper> Keeper::make(Orders orders, const Programs& programs) {
  const bool root = orders.privilege == Privilege::Root;
  TRY(namespaces_not_ruled_out(NamespaceSwitches::read(), engine_user(orders.privilege)));
  TRY(make_directory(orders.paths.state, 0700));
  TRY(make_directory(orders.paths.runtime, root ? 0755 : 0700));
  TRY(make_directory(orders.paths.run, root ? 0755 : 0700));
  sweep_instances(orders.paths.runtime);
  Instance instance = TRY(Instance::claim(orders.paths.runtime));
  StateLock lock = TRY(StateLock::take(orders.paths.state, instance.id()));
  CorePrograms core = TRY(find_core(programs));
  EventLoop loop = TRY(EventLoop::make());
  Keeper keeper(std::move(orders), std::move(core), std::move(loop), std::move(instance), std::move(lock));
  keeper.own_program_ = TRY(Programs::self());
  TRY(keeper.prepare(programs));
  return keeper;
}

Keeper::~Keeper() {
  for (const std::string& path : sockets_.made) ::unlink(path.c_str());
}

Expected<void> Keeper::prepare(const Programs& programs) {
  self_pidfd_ = TRY(open_pidfd(::getpid()));
  if (orders_.privilege == Privilege::Root) block_ = TRY(UidBlock::take(orders_.paths.runtime + "/uid-blocks"));
  const std::uint32_t uid_base = block_ ? block_->base() : 0;
  const Settings& settings = orders_.settings;
  const BindChoices choices{orders_.privilege, uid_base, settings.policy.made_ahead ? MadeAhead::Yes : MadeAhead::No,
                            settings.usr_local ? UsrLocal::Shown : UsrLocal::Hidden};
  bind_table_ = TRY(seal_bind_table(TRY(make_bind_table(choices, programs, settings.policy.catalogue))));

  TRY(prepare_front_ends(programs));
  SupervisorConfig config;
  config.instance = instance_.id();
  config.run_directory = orders_.paths.runtime;
  config.rootless = orders_.privilege == Privilege::Rootless;
  config.uid_base = uid_base;
  config.use_cgroups = orders_.use_cgroups;
  config.version = MAYFLY_VERSION;
  config.log_level = settings.log_level;
  config.state_directory = orders_.paths.state;
  config.ssh = ssh_at_;
  config.http = http_at_;
  config.host_key = host_key_;
  config.access = settings.ssh_access;
  config.policy = settings.policy;
  config_ = TRY(make_sealed_memfd("mayfly-config", encode(config).dump()));
  return watch_signals();
}

Expected<void> Keeper::prepare_front_ends(const Programs& programs) {
  const Settings& settings = orders_.settings;
  // The TCP ports first: a busy one is the likeliest mistake, and nothing has been made yet.
  HandedListeners handed = TRY(take_handed_listeners());
  const FrontEndAddresses addresses = TRY(front_end_addresses(settings));
  auto ssh = TRY(listener_for("ssh", std::move(handed.ssh), addresses.ssh, settings));
  auto http = TRY(listener_for("http", std::move(handed.http), addresses.http, settings));
  sockets_ = TRY(listen_unix(orders_.paths, orders_.privilege, instance_.id()));
  if (ssh) ssh_at_ = ssh->bound.text;
  if (http) http_at_ = http->bound.text;
  if (ssh) {
    Fd key = TRY(load_or_make_host_key(orders_.paths.state, programs, orders_.privilege));
    host_key_ = TRY(public_key_of(TRY(read_whole(key, kMostHostKeyBytes)))).fingerprint;
    front_ends_.push_back(TRY(ssh_front_end(settings, programs, orders_.privilege, sockets_.lease_path,
                                            self_pidfd_.get(), std::move(ssh->socket), std::move(key))));
  }
  if (http) {
    examination_ = Fd(::memfd_create("mayfly-examination", MFD_CLOEXEC));
    if (!examination_) return failure("make memory file", errno, "mayfly-examination");
    front_ends_.push_back(TRY(api_front_end(settings, http->bound, programs, orders_.privilege, sockets_.lease_path,
                                            self_pidfd_.get(), std::move(http->socket), examination_)));
    front_ends_.push_back(TRY(examiner(programs, sockets_.lease_path, self_pidfd_.get(), examination_)));
  }
  front_end_processes_.resize(front_ends_.size());
  log_line(Severity::Info, "keeper.listening",
           {{"ssh", ssh_at_},
            {"http", http_at_},
            {"state", orders_.paths.state},
            {"instance", instance_.id()},
            {"as", orders_.privilege == Privilege::Root ? "root" : "rootless"}});
  return {};
}

Expected<void> Keeper::watch_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  // HUP: reload; from the kernel: the terminal that a service was started on by hand is gone.
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, number);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return failure("block signals", errno);
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return failure("watch signals", errno);
  ::signal(SIGPIPE, SIG_IGN);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return failure("adopt orphans", errno);
  return {};
}

CoreDescriptors Keeper::descriptors() const {
  return {self_pidfd_.get(),    bind_table_.get(),      config_.get(),
          sockets_.lease.get(), sockets_.monitor.get(), block_ ? block_->lock().get() : -1};
}

Expected<int> Keeper::run() {
  TRY(loop_.watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { take_signals(); }));
  TRY(start_everything());
  TRY(loop_.run());
  if (failure_) return tl::make_unexpected(*failure_);
  log_line(Severity::Info, "keeper.ended", {{"instance", instance_.id()}});
  return status_;
}

void Keeper::take_signals() {
  signalfd_siginfo info{};
  bool children = false;
  // One kind of signal is pending once at most, so this ends.
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGCHLD) {
      children = true;
      continue;
    }
    if (info.ssi_signo == SIGHUP && info.ssi_code != SI_KERNEL) {
      begin_reload();
      continue;
    }
    if (mode_ != Mode::Stopping) {
      stop_asked_ = monotonic_now();
      begin_stop();
    } else if (monotonic_now() - stop_asked_ > kSameRequest) {
      hurry();
    }
  }
  if (children) reap();
}

}  // namespace mayfly
