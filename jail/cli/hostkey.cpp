// mayfly hostkey: the public half of the service's SSH host key, its fingerprint, and how others write it down.
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
  std::string host = "127.0.0.1";
  std::uint16_t port = 2222;
  bool json = false;
  bool only_known_hosts = false;
  bool only_sshfp = false;
};

Expected<PublicKey> read_public_key(const std::string& state) {
  const Paths paths = TRY(find_paths(current_privilege(), state));
  const std::string path = paths.state + "/host_key";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT)
    return failure("read host key", ENOENT, path, "it is made when \"mayfly serve\" starts for the first time");
  if (!file) return failure("read host key", errno, path);
  return public_key_of(TRY(read_whole(file, 16 * 1024)));
}

Expected<int> show(const HostKeyOptions& options) {
  const HostPlace place = TRY(make_host_place(options.host, options.port));
  const PublicKey key = TRY(read_public_key(options.state));
  const std::string known_hosts = known_hosts_line(key, place);
  const std::string sshfp = sshfp_line(key, place);
  if (options.json) {
    const Json all{
        {"publicKey", key.line}, {"fingerprint", key.fingerprint}, {"knownHosts", known_hosts}, {"sshfp", sshfp}};
    std::printf("%s\n", all.dump(2).c_str());
  } else if (options.only_known_hosts || options.only_sshfp) {
    std::printf("%s\n", (options.only_sshfp ? sshfp : known_hosts).c_str());
  } else {
    std::printf("%s\n%s\n%s\n%s\n", key.line.c_str(), key.fingerprint.c_str(), known_hosts.c_str(), sshfp.c_str());
  }
  return 0;
}

}  // namespace

void add_hostkey(CLI::App& app, Command& command) {
  CLI::App* hostkey =
      app.add_subcommand("hostkey", "The SSH host key of a service, and its known_hosts and SSHFP lines");
  const auto options = std::make_shared<HostKeyOptions>();
  add_state_option(hostkey, options->state);
  hostkey->add_option("--host", options->host, "Name or address by which it is reached (127.0.0.1)");
  hostkey->add_option("--port", options->port, "Port of it (2222)")->check(CLI::Range(1, 65535));
  CLI::Option* json = hostkey->add_flag("--json", options->json, "As a JSON object");
  CLI::Option* known_hosts =
      hostkey->add_flag("--known-hosts", options->only_known_hosts, "Only the line for a known_hosts file");
  CLI::Option* sshfp = hostkey->add_flag("--sshfp", options->only_sshfp, "Only the SSHFP record for the DNS");
  known_hosts->excludes(json, sshfp);
  sshfp->excludes(json);
  hostkey->footer(
      "Examples:\n"
      "  mayfly hostkey\n"
      "  mayfly hostkey --known-hosts >> ~/.ssh/known_hosts\n"
      "  mayfly hostkey --sshfp --host jail.example.org");
  hostkey->callback([options, &command] { command.run = [options] { return show(*options); }; });
}

}  // namespace mayfly
