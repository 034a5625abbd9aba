// Listening sockets that whoever started the service made for it: sd_listen_fds(3). LISTEN_FDS of them begin at
// descriptor 3, LISTEN_PID says for which process they are, and LISTEN_FDNAMES what each is for: "ssh" or "http".
// Owner: the keeper, once, at its start. A socket that is not what its name says refuses the start.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "jail/cli/listeners.h"

namespace mayfly {

struct HandedListeners {
  std::optional<TcpListener> ssh, http;
};

// From the environment of this process, which forgets the three variables. Nothing when they are for another process.
Expected<HandedListeners> take_handed_listeners();

// The three variables as they came; null: not there.
struct ListenEnvironment {
  const char* pid = nullptr;
  const char* fds = nullptr;
  const char* names = nullptr;
};
// A name for each descriptor, in their order.
Expected<std::vector<std::string>> handed_names(const ListenEnvironment& environment, pid_t self);
// Fails for anything but a TCP socket that listens.
Expected<TcpListener> adopt_listener(Fd socket, const std::string& what);

}  // namespace mayfly
