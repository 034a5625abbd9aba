// How the keeper reloads: another process reads the configuration, and the supervisor takes what can be changed.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "jail/cli/keeper.h"
#include "jail/os/log.h"
#include "jail/os/memfd.h"
#include "jail/wire/startup.h"

namespace mayfly {

namespace {
constexpr std::uint64_t kMostSettingsBytes = 4u << 20;
constexpr Milliseconds kReadLimit = 5_s;
}  // namespace

void Keeper::begin_reload() {
  if (mode_ != Mode::Running) return;  // what is started anew, or ends, reads nothing
  reload_again_ = reader_.has_value();
  if (reload_again_) return;
  if (auto started = read_settings_anew(); !started) {
    log_failure("keeper.reload_failed", started.error());
    tell(KeeperSays::NoSettings, nullptr, 0, -1);
  }
}

Expected<void> Keeper::read_settings_anew() {
  read_settings_ = Fd(::memfd_create("mayfly-settings", MFD_CLOEXEC));
  if (!read_settings_) return failure("make memory file", errno, "mayfly-settings");
  ChildProgram program;
  program.path = own_program_;
  program.argv = {"mayfly", "settings"};
  // Without one at the start there may be one now, and the other way round: both are the defaults' business.
  const bool is_there = ::access(orders_.settings_file.c_str(), F_OK) == 0;
  if (is_there || !orders_.settings.source.empty())
    program.argv.insert(program.argv.end(), {"--config", orders_.settings_file});
  program.fds = {{read_settings_.get(), kSettingsOut}};
  reader_.emplace(TRY(Child::start(program)));
  loop_.after(kReadLimit, [this, pid = reader_->pid()] {
    if (!reader_ || reader_->pid() != pid) return;
    log_line(Severity::Error, "keeper.reload_too_slow", {{"file", orders_.settings_file}},
             "it could not be read in time; the old settings go on");
    (void)reader_->signal(SIGKILL);
  });
  return {};
}

// Its mistakes it has told itself, on the stderr that we share.
void Keeper::settings_read(int status) {
  reader_.reset();
  const Fd file = std::exchange(read_settings_, Fd());
  Expected<Fd> sealed = failure("reload", 0, {}, "the configuration was refused");
  if (status == 0) {
    if (auto text = read_whole(file, kMostSettingsBytes)) sealed = make_sealed_memfd("mayfly-settings", *text);
  }
  if (sealed) {
    settings_ = std::move(*sealed);
    tell(KeeperSays::NewSettings, nullptr, 0, settings_.get());
  } else {
    tell(KeeperSays::NoSettings, nullptr, 0, -1);
  }
  if (std::exchange(reload_again_, false)) begin_reload();
}

}  // namespace mayfly
