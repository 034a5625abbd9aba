// Containment: what this host holds, found by building real jails and attacking them from inside (promise P22).
//
//   auto client = TRY(SupervisorClient::connect(lease_path));
//   auto found = TRY(examine(client, "/usr/libexec/mayfly/mayfly-probe"));
//   std::cout << containment_text(found);                   // or containment_json(found).dump(2)
//
// The probe program travels into jails as an ordinary payload file, tries one attack after the other, and says what
// the kernel answered. Every attack is also tried outside, as this user: one that fails there too proves nothing and
// is reported NotProvable, never Held. Owner: a front end (`mayfly doctor`, the API). Blocks, 60 s at most, some 2 s
// mostly; uses the client alone for that time: no other run may be open on it. Sends no packet to the network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jail/client/supervisor_client.h"

namespace mayfly {

enum class AttackVerdict : std::uint8_t {
  Held,         // failed inside, works outside
  Broken,       // worked inside
  NotProvable,  // failed inside and outside, or could not be tried
  Unlimited,    // not tried: the control is absent on this host, as controls say
};
std::string_view name(AttackVerdict verdict);  // "held", "broken", "not-provable", "unlimited"

struct Attack {
  std::string name;  // "network-out"
  AttackVerdict verdict = AttackVerdict::NotProvable;
  std::string inside;   // what happened in the jail: "ENETUNREACH", "ending memory-limit"
  std::string outside;  // in the control run: "works", "EPERM", "not tried: ..."
};

// A profile whose jails see directories of the host beyond the system's, by one of its jails.
struct ProfileFolders {
  std::string profile;
  std::vector<std::string> folders;  // as its result names them; none: no jail could be built, and a problem says why
};

struct Containment {
  Host host;          // expected, with causes and fixes
  Controls controls;  // measured on the jails that were attacked; all of them reported the same
  std::vector<Attack> attacks;
  std::vector<ProfileFolders> folders;
  std::vector<std::string> problems;  // what is not as promised, for people; empty = all is as it says

  [[nodiscard]] bool is_sound() const { return problems.empty(); }
};

// A Failure means that no jail could be examined at all (no supervisor, no probe program, a jail that cannot be built).
Expected<Containment> examine(SupervisorClient& client, const std::string& probe_path);

// {"sound":true,"kernel":"6.1.0","root":true,"cgroups":"v2",
//  "controls":{"network":"none",...},
//  "expected":{"memory":{"value":"unlimited","cause":"...","fix":"..."},...},
//  "required":["network",...],
//  "folders":{"class":["seed","readonly"]},
//  "attacks":[{"attack":"network-out","verdict":"held","inside":"ENETUNREACH","outside":"works"},...],
//  "problems":[]}
Json containment_json(const Containment& found);
std::string containment_text(const Containment& found);  // several lines, for a terminal; everything foreign escaped

}  // namespace mayfly
