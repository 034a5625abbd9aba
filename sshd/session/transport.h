// Transport: the one SSH connection of this process, as libssh runs it: never blocking, one event with nothing in it
// but the connection's own socket. Everything else is polled by Connection, so that no callback of libssh ever runs
// inside another descriptor's (poll.c runs callbacks recursively when a write flushes).
//
// Owner: Connection. libssh closes its descriptor by itself; the connection lives here, too, for the orderly end.
// When turn() says false the connection is of no more use and no function of libssh may be called for it again.
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/access.h"
#include "jail/spec/units.h"
#include "sshd/session/host_key.h"
#include "sshd/session/server_callbacks.h"

namespace mayfly {

// Packets and payload bytes that came in between two looks.
struct Arrived {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

// What is seen of key exchanges from outside libssh.
struct KeyProgress {
  const ssh_counter_struct* arrived = nullptr;
  std::uint64_t exchanges = 0;
  bool intruded = false;
};

// False when bytes are there already and cannot begin an identification (RFC 4253, 4.2): a client sends nothing before
// it. Looks without taking. Only before the transport exists: it reads, too.
bool may_begin_ssh(const Fd& connection);

class Transport {
 public:
  // Everything that needs no peer, so that it may be done before there is one.
  static Expected<std::unique_ptr<Transport>> prepare(HostKey key);
  // Once. `callbacks` must live as long as the process. A failure here means that the process must end: libssh leaves
  // dangling pointers behind when accepting fails.
  Expected<void> accept(Fd connection, ssh_server_callbacks callbacks);
  ~Transport() = default;

  [[nodiscard]] ssh_session session() const { return session_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] short interest() const;  // POLLIN, and POLLOUT while bytes wait

  // Which methods a refusal names, and who answers what libssh's callbacks do not know. Once, before the first turn.
  void offer(const SshAccess& access, Interactive& interactive);

  bool turn();  // lets libssh read, write and call back; false: the connection is gone
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] bool peer_has_left() const;  // all that it sent was read, and it sends no more; asks the kernel only
  [[nodiscard]] bool clogged() const;        // bytes wait for the peer: take no more from any jail
  void rearm_quick_acks() const;             // before each wait: the kernel forgets it (tcp(7), TCP_QUICKACK)

  [[nodiscard]] std::uint64_t packets() const { return arrived_.in_packets; }
  Arrived since_last_look();  // and looks
  [[nodiscard]] std::uint64_t payload_bytes() const { return arrived_.in_bytes + arrived_.out_bytes; }
  [[nodiscard]] std::uint64_t key_exchanges() const { return keys_.exchanges; }  // that have been completed
  // Before the first keys there was more than an exchange of keys has. libssh does not mind, though strict key exchange
  // wants the end of the connection then.
  [[nodiscard]] bool was_intruded() const { return keys_.intruded; }
  void send_keepalive();

  // Every callback says so: a write may let libssh read, so that wishes arrive after they were looked for.
  void note_callback() { called_back_ = true; }
  bool take_called_back() { return std::exchange(called_back_, false); }

  // Says why, hands out what libssh still holds, and waits `most` for the peer to have taken it (a socket that is
  // closed with unread input is reset, and the peer loses what it had not read). The connection is gone afterwards.
  void leave(const char* reason, Milliseconds most);

 private:
  Transport() = default;
  Expected<void> start(HostKey key);
  void flush_until(std::int64_t deadline_us);
  void settle_until(std::int64_t deadline_us);
  void await_peer_close(std::int64_t deadline_us) const;

  // Never freed: the process ends with its connection, and freeing after an error is where libssh crashes.
  ssh_bind bind_ = nullptr;
  ssh_session session_ = nullptr;
  ssh_event event_ = nullptr;
  ssh_counter_struct arrived_{};
  ssh_counter_struct sent_{};
  ssh_server_callbacks_struct deaf_{};  // of a session that is being left
  ssh_callbacks_struct progress_{};     // fills in keys_
  KeyProgress keys_;
  Arrived looked_;
  int libssh_number_ = -1;  // of the descriptor that libssh owns; the connection is there from accept() on
  Fd socket_;
  bool called_back_ = false;
  bool gone_ = false;
};

}  // namespace mayfly
