// MonitorClient: a connection to the monitor socket of a running service, for status, ps, kill and drain.
#pragma once

#include <string>
#include <vector>

#include "jail/cli/paths.h"
#include "jail/wire/monitor.h"

namespace mayfly {

class MonitorClient {
 public:
  static Expected<MonitorClient> connect(const Paths& paths);

  // One question, one answer of kind T; 5 s at most. What the service denies is a Failure with its words.
  template <typename T>
  Expected<T> ask(const FromMonitor& question) {
    TRY(send(question));
    ToMonitor answer = TRY(receive());
    if (T* wanted = std::get_if<T>(&answer)) return std::move(*wanted);
    return failure("understand the service", 0, {}, "it answered something else");
  }
  Expected<std::vector<JailRow>> jails();
  Expected<std::vector<InviteRow>> invites(const FromMonitor& question);  // NewInvites or AskInvites

 private:
  explicit MonitorClient(Fd socket) : socket_(std::move(socket)) {}
  Expected<void> send(const FromMonitor& question);
  Expected<ToMonitor> receive();
  Fd socket_;
};

// The service of --state, MAYFLY_STATE or the usual place.
Expected<MonitorClient> connect_to_service(const std::string& state);

}  // namespace mayfly
