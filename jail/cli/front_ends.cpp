#include "jail/cli/front_ends.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jail/os/memfd.h"
#include "jail/spec/limits.h"
#include "jail/wire/startup.h"

namespace mayfly {

namespace {

// As root a front end runs under a uid that owns nothing: it can be executed only where everybody may go.
Expected<void> judge_reachable(const std::string& path, Privilege privilege) {
  if (privilege == Privilege::Rootless) return {};
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    struct stat found {};
    if (::stat(part.c_str(), &found) != 0) return failure("look at program", errno, part);
    if ((found.st_mode & 01) == 0)
      return failure("start program", 0, path,
                     "it runs under a uid of its own, which may not go through " + part +
                         "; install mayfly below /usr, or run \"chmod o+x " + part + "\"");
    if (at == std::string::npos) return {};
  }
}

Expected<FrontEnd> front_end(const char* name, Role role, uid_t own_uid, const Programs& programs,
                             Privilege privilege) {
  FrontEnd made;
  made.name = name;
  made.role = role;
  made.uid = privilege == Privilege::Root ? own_uid : ::geteuid();
  made.program.path = TRY(programs.path(name));
  TRY(judge_reachable(made.program.path, privilege));
  made.program.argv = {name};
  if (privilege == Privilege::Root) made.program.uid = own_uid;
  return made;
}

Expected<std::optional<TcpAddress>> judge_address(const std::string& text, const std::string& what,
                                                  const Settings& settings) {
  if (text == "off") return std::optional<TcpAddress>();
  TcpAddress address = TRY(parse_address(text));
  TRY(judge_exposure(what, address, settings));
  return std::optional<TcpAddress>(std::move(address));
}

void give(FrontEnd& to, Fd fd, int theirs) {
  to.program.fds.push_back({fd.get(), theirs});
  to.held.push_back(std::move(fd));
}

}  // namespace

Expected<void> judge_exposure(const std::string& what, const TcpAddress& address, const Settings& settings) {
  const bool is_open = what != "ssh" || settings.ssh_access.open;
  if (!is_open || address.is_loopback || settings.open_on_network) return {};
  return failure("listen for " + what + " on", 0, address.text,
                 "everybody who reaches this address could run programs here; take a loopback address, or say "
                 "\"access\": {\"openOnNetwork\": true} in the configuration");
}

Expected<FrontEndAddresses> front_end_addresses(const Settings& settings) {
  FrontEndAddresses addresses;
  addresses.ssh = TRY(judge_address(settings.ssh, "ssh", settings));
  addresses.http = TRY(judge_address(settings.http, "http", settings));
  return addresses;
}

Json ssh_config(const Settings& settings, const std::string& lease_path) {
  Json ways = Json::array();
  for (std::size_t way = 0; way < std::size(kAccessWords); ++way)
    if (is_allowed(settings.ssh_access, way)) ways.push_back(kAccessWords[way]);
  return {{"lease", lease_path},
          {"access", std::move(ways)},
          {"openOnNetwork", settings.open_on_network},
          {"madeAhead", settings.policy.made_ahead},
          {"logLevel", name(settings.log_level)}};
}

Json api_config(const Settings& settings, const TcpAddress& bound, const std::string& lease_path) {
  Json hosts = {"localhost", "127.0.0.1", "[::1]"};
  const std::string host = bound.text.substr(0, bound.text.rfind(':'));
  if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  return {{"lease", lease_path}, {"hosts", std::move(hosts)}, {"logLevel", name(settings.log_level)}};
}

Expected<FrontEnd> ssh_front_end(const Settings& settings, const Programs& programs, Privilege privilege,
                                 const std::string& lease_path, int keeper_pidfd, Fd listener, Fd host_key) {
  FrontEnd made = TRY(front_end("mayfly-sshd", Role::Ssh, kSshdUid, programs, privilege));
  made.program.fds.push_back({keeper_pidfd, kKeeperPidfd});
  give(made, std::move(listener), kSshdListener);
  give(made, std::move(host_key), kSshdHostKey);
  give(made, TRY(make_sealed_memfd("mayfly-sshd-config", ssh_config(settings, lease_path).dump())), kSshdConfig);
  return made;
}

Expected<FrontEnd> api_front_end(const Settings& settings, const TcpAddress& bound, const Programs& programs,
                                 Privilege privilege, const std::string& lease_path, int keeper_pidfd, Fd listener,
                                 const Fd& examination) {
  FrontEnd made = TRY(front_end("mayfly-api", Role::Api, kApiUid, programs, privilege));
  made.program.fds.push_back({keeper_pidfd, kKeeperPidfd});
  give(made, std::move(listener), kApiListener);
  give(made, TRY(make_sealed_memfd("mayfly-api-config", api_config(settings, bound, lease_path).dump())), kApiConfig);
  made.program.fds.push_back({examination.get(), kApiExamination});
  return made;
}

Expected<FrontEnd> examiner(const Programs& programs, const std::string& lease_path, int keeper_pidfd,
                            const Fd& examination) {
  FrontEnd made;
  made.kind = FrontEndKind::Task;
  made.name = "mayfly-examiner";
  made.role = Role::Cli;
  made.uid = ::geteuid();
  made.program.path = TRY(programs.path(made.name.c_str()));
  made.program.argv = {made.name};
  made.program.fds.push_back({keeper_pidfd, kKeeperPidfd});
  const Json config = {{"lease", lease_path}, {"probe", TRY(programs.path("mayfly-probe"))}};
  give(made, TRY(make_sealed_memfd("mayfly-examiner-config", config.dump())), kExaminerConfig);
  made.program.fds.push_back({examination.get(), kExaminerReport});
  return made;
}

}  // namespace mayfly
