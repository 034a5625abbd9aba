// WitnessTemplate: a clean, small process that becomes a relay by fork, without exec: nothing is loaded, linked or
// allocated for a jail. It never sees a byte of a jail or a peer; it holds descriptors of them only between an order
// and the fork.
//
// Where orders ask for it, one relay is forked ahead, when there has been no order for a moment: the spare. It reads
// the next order from the control socket itself. The template reads orders only while there is no spare.
//
// Ends when the keeper or the supervisor is gone. Relays go on without it (each holds its own descriptors).
#pragma once

#include "jail/wire/startup.h"
#include "jail/witness/order.h"
#include "jail/witness/relay.h"

namespace mayfly {

// Descriptors that the keeper has given, by number. -1: not there.
struct TemplateFds {
  int keeper = kKeeperPidfd;
  int control = kWitnessControl;
  int supervisor = kWitnessSupervisorPidfd;
  int uid_lock = kWitnessUidLock;
};

class WitnessTemplate {
 public:
  explicit WitnessTemplate(const TemplateFds& fds) : fds_(fds) {}
  // Until its end. In a forked relay this never returns.
  void run();

 private:
  enum class Taken { Job, Nothing, Closed };
  Taken take_order(RelayJob& job) const;
  [[nodiscard]] int patience() const;
  void start_relay(RelayJob job);
  void make_spare();
  [[noreturn]] void be_relay(RelayJob job);
  [[noreturn]] void be_spare(Fd untaken);
  [[noreturn]] void carry(RelayJob job, RelayMemory& memory) const;

  TemplateFds fds_;
  Fd spare_;  // its end: the spare has an order, or is dead
  bool makes_ahead_ = false;
};

// Children are reaped by the kernel; a closed pipe is an errno, not a death; the keys of the terminal on which the
// keeper may run (and a service manager's TERM to everyone) are the keeper's business: it tells the supervisor.
void ignore_signals();

// Limits that fit this process and its relays, with little to spare; every relay inherits them. 0 or errno.
int bound_resources();

}  // namespace mayfly
