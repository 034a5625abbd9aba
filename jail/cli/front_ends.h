// The fixed table of front ends: which program, which role and uid, which descriptors (wire/startup.h).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "jail/cli/config.h"
#include "jail/cli/listeners.h"
#include "jail/cli/programs.h"
#include "jail/expected.h"
#include "jail/os/child.h"
#include "jail/wire/keeper.h"

namespace mayfly {

// A service is started anew when it ends; a task has to succeed once in the life of a supervisor, and is tried a few
// times.
enum class FrontEndKind : unsigned char { Service, Task };

struct FrontEnd {
  FrontEndKind kind = FrontEndKind::Service;
  std::string name;  // of the program: "mayfly-sshd"
  Role role = Role::Ssh;
  uid_t uid = 0;  // that the supervisor will see
  ChildProgram program;
  std::vector<Fd> held;  // what program.fds points to
};

// `what`: "ssh" or "http". Where everybody may come in, a network address needs the word openOnNetwork.
Expected<void> judge_exposure(const std::string& what, const TcpAddress& address, const Settings& settings);

// Where they listen; absent: off. Loopback only, unless the configuration says openOnNetwork.
struct FrontEndAddresses {
  std::optional<TcpAddress> ssh, http;
};
Expected<FrontEndAddresses> front_end_addresses(const Settings& settings);

// The SSH front end: `listener` and `host_key` become its own.
Expected<FrontEnd> ssh_front_end(const Settings& settings, const Programs& programs, Privilege privilege,
                                 const std::string& lease_path, int keeper_pidfd, Fd listener, Fd host_key);
Expected<FrontEnd> api_front_end(const Settings& settings, const TcpAddress& bound, const Programs& programs,
                                 Privilege privilege, const std::string& lease_path, int keeper_pidfd, Fd listener,
                                 const Fd& examination);
// Attacks jails once and writes what it found into `examination` (a memfd, not sealed) for the api.
Expected<FrontEnd> examiner(const Programs& programs, const std::string& lease_path, int keeper_pidfd,
                            const Fd& examination);

// What they are told (sshd/config.h, api/config.h).
Json ssh_config(const Settings& settings, const std::string& lease_path);
Json api_config(const Settings& settings, const TcpAddress& bound, const std::string& lease_path);

}  // namespace mayfly
