#include "tests/fuzz/played_peer.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "tests/fuzz/ssh_bytes.h"
#include "tests/fuzz/ssh_numbers.h"

namespace mayfly::fuzz {

namespace {

constexpr std::string_view kIdentification = "SSH-2.0-fuzz\r\n";
constexpr std::uint32_t kEndlessPacketSize = 10;
constexpr std::size_t kBlock = 16;  // of aes128-ctr; a multiple of the 8 that count before there is a cipher

std::string name_lists() {
  std::string lists;
  for (const char* list : {"curve25519-sha256,kex-strict-c-v00@openssh.com", "ssh-ed25519", "aes128-ctr", "aes128-ctr",
                           "hmac-sha2-256-etm@openssh.com", "hmac-sha2-256-etm@openssh.com", "none", "none", "", ""})
    lists += text(list);
  return lists;
}

std::string message(std::uint8_t number, std::string_view rest = {}) {
  return static_cast<char>(number) + std::string(rest);
}

std::string kex_init() { return message(kKexInit, std::string(16, 'c') + name_lists() + '\0' + word(0)); }

// Any point of the curve does: nobody computes the secret. This is its base point.
std::string kex_ecdh_init() { return message(kKexEcdhInit, text('\x09' + std::string(31, '\0'))); }

std::string log_in(Ways ways) {
  const std::string head = text("run") + text("ssh-connection");
  if (ways == Ways::Open) return message(kAuthRequest, head + text("none"));
  return message(kAuthRequest, head + text("password") + '\0' + text("code"));
}

}  // namespace

PlayedPeer::PlayedPeer(Fd socket, const Scenario& scenario, Reached& reached)
    : socket_(std::move(socket)), prelude_(scenario.prelude), ways_(scenario.ways), judge_(reached) {
  if (prelude_ <= Prelude::KeysExchanged) judge_.expect_clear_text();
}

bool PlayedPeer::advance_prelude() {
  const int steps = prelude_ == Prelude::LoggedIn        ? 6
                    : prelude_ == Prelude::KeysExchanged ? 4
                    : prelude_ == Prelude::Identified    ? 1
                                                         : 0;
  if (step_ >= steps) return false;
  switch (step_++) {
    case 0:
      unsent_ += kIdentification;
      break;
    case 1:
      send_packet(kex_init());
      break;
    case 2:
      send_packet(kex_ecdh_init());
      break;
    case 3:
      send_packet(message(kNewKeys));
      break;
    case 4:
      send_packet(message(kServiceRequest, text("ssh-userauth")));
      break;
    default:
      send_packet(log_in(ways_));
  }
  return true;
}

void PlayedPeer::frame(std::string_view payload) {
  // RFC 4253, 6: with encrypt-then-MAC the length is not part of what is padded to whole blocks.
  const std::size_t before = has_mac_ ? 1 : 5;
  const std::size_t padding = kBlock - (before + payload.size()) % kBlock;
  const std::size_t enough = padding < 4 ? padding + kBlock : padding;
  unsent_ += word(static_cast<std::uint32_t>(1 + payload.size() + enough));
  unsent_ += static_cast<char>(enough);
  unsent_ += payload;
  unsent_.append(enough, 'p');
  if (has_mac_) unsent_.append(kMacBytes, '\0');
}

// A channel whose packets may have ten bytes makes libssh loop without end when it writes: it takes ten from the number
// and sends packets of nothing. The kernel ends such a session (sshd/session/turn_watch.h); here it would end the
// fuzzer.
std::string PlayedPeer::without_endless_loop(std::string_view payload) {
  std::string bytes(payload);
  Bytes in(payload);
  if (in.byte() != kChannelOpen) return bytes;
  (void)in.text();
  (void)in.take(8);
  const std::size_t at = payload.size() - in.rest().size();
  if (in.word() == kEndlessPacketSize && in.whole()) bytes.replace(at, 4, word(kEndlessPacketSize + 1));
  return bytes;
}

void PlayedPeer::send_packet(std::string_view wanted) {
  const std::string payload = without_endless_loop(wanted);
  judge_.peer_sends(payload);
  frame(payload);
  if (!payload.empty() && static_cast<std::uint8_t>(payload[0]) == kNewKeys) has_mac_ = true;
}

void PlayedPeer::send_raw(std::string_view bytes) {
  judge_.stop_judging_channels();
  unsent_ += bytes;
}

bool PlayedPeer::flush() {
  while (!unsent_.empty()) {
    const ssize_t count = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return false;
    if (count < 0) unsent_.clear();  // it has gone
    if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

bool PlayedPeer::drain() {
  bool came = false;
  std::array<char, 65536> bytes;  // NOLINT: filled by recv
  while (!halted_) {
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) break;
    came = true;
    judge_.feed({bytes.data(), static_cast<std::size_t>(count)});
  }
  return came;
}

void PlayedPeer::end_input() { (void)::shutdown(socket_.get(), SHUT_WR); }

void PlayedPeer::vanish() {
  unsent_.clear();
  (void)::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace mayfly::fuzz
