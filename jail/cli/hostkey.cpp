// mayfly hostkey: the public half of the service's SSH host key, and its fingerprint.
#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/host_key.h"
#include "jail/cli/state_option.h"
#include "jail/os/memfd.h"
#include "jail/wire/frame.h"

namespace mayfly {

namespace {

struct HostKeyOptions {
  std::string state;
  bool json = false;
};

Expected<int> show(const HostKeyOptions& options) {
  const Paths paths = TRY(find_paths(current_privilege(), options.state));
  const std::string path = paths.state + "/host_key";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT)
    return failure("read host key", ENOENT, path, "it is made when \"mayfly serve\" starts for the first time");
  if (!file) return failure("read host key", errno, path);
  const PublicKey key = TRY(public_key_of(TRY(read_whole(file, 16 * 1024))));
  if (options.json)
    std::printf("%s\n", Json{{"publicKey", key.line}, {"fingerprint", key.fingerprint}}.dump(2).c_str());
  else
    std::printf("%s\n%s\n", key.line.c_str(), key.fingerprint.c_str());
  return 0;
}

}  // namespace

void add_hostkey(CLI::App& app, Command& command) {
  CLI::App* hostkey = app.add_subcommand("hostkey", "The SSH host key of a service: public key and fingerprint");
  const auto options = std::make_shared<HostKeyOptions>();
  add_state_option(hostkey, options->state);
  hostkey->add_flag("--json", options->json, "As a JSON object");
  hostkey->footer(
      "Examples:\n"
      "  mayfly hostkey\n"
      "  echo \"[127.0.0.1]:2222 $(mayfly hostkey | head -1)\" >> ~/.ssh/known_hosts");
  hostkey->callback([options, &command] { command.run = [options] { return show(*options); }; });
}

}  // namespace mayfly
