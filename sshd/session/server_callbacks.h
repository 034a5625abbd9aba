// What libssh tells about the connection as a whole, turned into calls of ServerEvents. Callbacks note and answer;
// they never free, close or disconnect anything (libssh is in the middle of a packet when it calls).
#pragma once

#include <libssh/callbacks.h>
#include <libssh/server.h>

#include <string>
#include <string_view>

#include "sshd/session/admission.h"

namespace mayfly {

class ServerEvents {
 public:
  virtual LoginVerdict on_login(std::string_view user, Proof proof, std::string_view credential) = 0;
  virtual ssh_channel on_channel_open() = 0;  // null: refused
  virtual void on_service(std::string_view name) = 0;

 protected:
  ~ServerEvents() = default;
};

// keyboard-interactive (RFC 4256), which libssh's callbacks do not know: one question, for the code. It goes through
// the message callback (Transport), which refuses everything else that no callback has taken. 0: answered.
class Interactive {
 public:
  explicit Interactive(ServerEvents& events) : events_(events) {}
  int take(ssh_session session, ssh_message message);

 private:
  ServerEvents& events_;
  std::string user_;  // whose question is open; "": nobody's
};

// The struct keeps a pointer to `events`; both live as long as the process.
ssh_server_callbacks_struct server_callbacks(ServerEvents& events);

}  // namespace mayfly
