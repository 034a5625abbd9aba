// What the keeper tells the supervisor: which pids are front ends of ours, and when they are gone; when a builder
// or a witness template was started anew. Fixed struct on a SEQPACKET socket; descriptors as said.
#pragma once

#include <cstdint>

namespace mayfly {

enum class KeeperSays : std::uint32_t {
  FrontEnd,      // role, pid, uid: connections of this pid to lease.sock are served as `role`
  FrontEndGone,  // pid: every jail of its connections ends as disconnected
  NewBuilder,    // fds: control socket of the new builder
  NewWitness,    // fds: control socket of the new witness template
  NewSettings,   // fds: sealed memfd as kSupervisorConfig, of which what can be changed while we run is taken
  NoSettings,    // asked to reload, and the configuration was refused
  Stop,          // SIGTERM: end every jail as `shutdown`, then exit 0
};

enum class Role : std::uint32_t { Ssh, Api, Cli, MonitorReader, MonitorOperator };

struct KeeperMessage {
  static constexpr std::uint32_t kMagic = 0x6d61'7905;
  std::uint32_t magic = kMagic;
  KeeperSays says = KeeperSays::FrontEnd;
  Role role = Role::Cli;
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
};

}  // namespace mayfly
