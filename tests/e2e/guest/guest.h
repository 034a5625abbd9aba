// Guest: one connection of a test's to the SSH port, with libssh as a client. It costs a tenth of what a process of
// ssh(1) costs, so that a soak spends its time in the service. Every call waits, at most kPatience.
//
//   auto guest = TRY(Guest::connect(place));
//   if (TRY(guest.log_in("run", code))) TRY(guest.run("echo hello"));
//
// The host key is not checked. A Guest belongs to one thread at a time.
#pragma once

#include <libssh/libssh.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly::test {

inline constexpr int kPatienceSeconds = 60;

struct Place {
  std::uint16_t port = 0;
  std::string source = "127.0.0.1";  // each address of 127/8 is a source of its own for the listener
};

enum class On : unsigned char { Pipes, Terminal };

struct Outcome {
  std::string output;
  int status = -1;
};

Expected<Fd> connect_from(const Place& place);
// Until the service's greeting has come, or the end of the connection: then what came is not one.
std::string first_bytes(const Fd& connection);

class Guest {
 public:
  static Expected<Guest> connect(const Place& place, const std::string& user);
  Expected<bool> log_in(const std::string& code);  // "": with the method none
  // A program, or with "" the shell, in a new channel, which is then the one of this guest.
  Expected<void> start(On on, const std::string& command);
  Expected<void> type(std::string_view text);
  Expected<std::string> read_until(std::string_view wanted);
  Expected<Outcome> finish();  // reads to the end, and the exit status
  void vanish();               // by RST, whatever is going on

  [[nodiscard]] int descriptor() const { return ssh_get_fd(session_.get()); }
  [[nodiscard]] ssh_session session() const { return session_.get(); }
  [[nodiscard]] ssh_channel channel() const { return channel_; }

 private:
  struct Leave {
    void operator()(ssh_session session) const;
  };
  Guest(Fd connection, ssh_session session) : connection_(std::move(connection)), session_(session) {}
  [[nodiscard]] tl::unexpected<Failure> refused(const char* doing) const;
  std::string complaint();

  Fd connection_;  // ssh_disconnect leaves a descriptor open that it did not make
  std::unique_ptr<ssh_session_struct, Leave> session_;
  ssh_channel channel_ = nullptr;  // the session's: ssh_free frees it
};

}  // namespace mayfly::test
