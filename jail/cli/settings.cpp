// mayfly settings: not for people. The keeper starts it to read the configuration anew, since it parses nothing itself
// after its start: what the supervisor is to be told goes to descriptor 4, mistakes go to stderr, and the exit status
// says which of the two it was.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/config.h"
#include "jail/wire/startup.h"
#include "jail/wire/supervisor_config.h"

namespace mayfly {

namespace {

Expected<int> write_settings(const std::string& named) {
  // A service may have been started on a pipe; it has been read, and nothing comes any more.
  struct stat found {};
  if (!named.empty() && ::stat(named.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
    return failure("read configuration", 0, named, "is not a regular file");
  const Settings settings = TRY(load_settings(current_privilege(), named));
  SupervisorConfig config;
  config.access = settings.ssh_access;
  config.log_level = settings.log_level;
  config.policy = settings.policy;
  const std::string text = encode(config).dump();
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t count = ::write(kSettingsOut, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write settings", errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

void add_settings(CLI::App& app, Command& command) {
  CLI::App* settings = app.add_subcommand("settings", "Used by the service itself")->group("");  // not in --help
  const auto named = std::make_shared<std::string>();
  settings->add_option("--config", *named);
  settings->callback([named, &command] { command.run = [named] { return write_settings(*named); }; });
}

}  // namespace mayfly
