// What libssh tells about the connection as a whole, turned into calls of ServerEvents. Callbacks note and answer;
// they never free, close or disconnect anything (libssh is in the middle of a packet when it calls).
#pragma once

#include <libssh/callbacks.h>

#include <string_view>

#include "sshd/session/admission.h"

namespace mayfly {

class ServerEvents {
 public:
  virtual LoginVerdict on_login(std::string_view user, Proof proof) = 0;
  virtual ssh_channel on_channel_open() = 0;  // null: refused
  virtual void on_service(std::string_view name) = 0;

 protected:
  ~ServerEvents() = default;
};

// The struct keeps a pointer to `events`; both live as long as the process.
ssh_server_callbacks_struct server_callbacks(ServerEvents& events);

}  // namespace mayfly
