#include "tests/fuzz/server_judge.h"

#include <array>

#include "tests/fuzz/ssh_bytes.h"
#include "tests/fuzz/ssh_numbers.h"
#include "tests/fuzz/violation.h"

namespace mayfly::fuzz {

namespace {

constexpr std::uint32_t kMostPacket = 300'000;  // a peer that takes long packets gets what was read at once
constexpr std::uint32_t kLeastPacketHeld = 10;
constexpr std::size_t kMostIdentification = 255;

// libssh is not instrumented, so what it answers is shown to libFuzzer by hand: each pair of messages in a row is a
// place of its own (libFuzzer reads every counter of this section; elsewhere it is an array like any other).
__attribute__((section("__libfuzzer_extra_counters"))) std::array<std::uint8_t, 4096> answer_pairs;

void show_answer(std::uint8_t before, std::uint8_t now) {
  auto& counter = answer_pairs[(before * 67u + now) % answer_pairs.size()];
  if (counter < 255) ++counter;
}

}  // namespace

void ServerJudge::require(bool holds, const char* rule, std::uint8_t type) const {
  if (!holds && strict_) violated(rule, "message " + std::to_string(type));
}

void ServerJudge::feed(std::string_view bytes) {
  if (opaque_) return;
  held_ += bytes;
  if (!identified_ && !take_identification()) return;
  while (!opaque_ && take_packet()) {
  }
}

bool ServerJudge::take_identification() {
  const std::size_t end = held_.find('\n');
  if (end == std::string::npos) {
    require(held_.size() < kMostIdentification, "the server's identification is too long", 0);
    return false;
  }
  require(held_.starts_with("SSH-2.0-"), "the server's identification is none", 0);
  held_.erase(0, end + 1);
  identified_ = true;
  return true;
}

bool ServerJudge::take_packet() {
  Bytes in(held_);
  const std::uint32_t length = in.word();
  if (!in.whole()) return false;
  const std::uint8_t padding = in.byte();
  if (!in.whole()) return false;
  if (length > kMostPacket || length < 2u + padding || padding < 4) {
    require(false, "the server's packet is not well-formed", last_type_);
    opaque_ = true;
    return false;
  }
  const std::size_t whole = 4 + length + (has_mac_ ? kMacBytes : 0);
  if (held_.size() < whole) return false;
  const std::string payload = held_.substr(5, length - 1 - padding);
  if (has_mac_ && held_.compare(4 + length, kMacBytes, std::string(kMacBytes, '\0')) != 0) {
    require(false, "a MAC of the server is not that of clear text", last_type_);
    opaque_ = true;
    return false;
  }
  held_.erase(0, whole);
  judge(payload);
  return true;
}

void ServerJudge::judge(std::string_view payload) {
  Bytes in(payload);
  const std::uint8_t type = in.byte();
  show_answer(last_type_, type);
  last_type_ = type;
  if (type == kNewKeys) {
    if (reached_.keys++ != 0) strict_ = false;  // keys of the input's own making
    has_mac_ = true;
  }
  if (type == kDisconnect) ++reached_.disconnects;
  if (type == kUnimplemented) ++reached_.unimplemented;
  if (type == kAuthFailure) ++reached_.refusals;
  if (type == kAuthSuccess) ++reached_.logins;
  if (type == kRequestFailure || type == kChannelFailure) ++reached_.no_requests;
  if (type == kGlobalRequest && in.text() == "keepalive@openssh.com") ++reached_.keepalives;
  if (type > kChannelOpen) judge_channel(type, payload);
}

void ServerJudge::judge_channel(std::uint8_t type, std::string_view payload) {
  Bytes in(payload);
  (void)in.byte();
  const std::uint32_t number = in.word();
  if (type == kChannelConfirmed) return confirm(number, in.word());
  if (type == kChannelRefused) {
    asked_.erase(number);
    ++reached_.no_channels;
    return;
  }
  ChannelBook unknown;
  const auto known = channels_.find(number);
  ChannelBook& book = known == channels_.end() ? unknown : known->second;
  const bool judged = channels_known_ && strict_;
  if (judged && !book.open) violated("the server speaks on a channel that is not open", std::to_string(type));
  // Answers excepted: libssh gives them to requests that crossed its CLOSE.
  if (judged && book.closed && type < kChannelSuccess && type != kWindowAdjust)
    violated("the server speaks on a channel that it has closed", std::to_string(type));
  if (type == kChannelData) judge_data(book, in.text().size());
  if (type == kExtendedData) {
    (void)in.word();
    judge_data(book, in.text().size());
  }
  if (type == kChannelRequest) judge_request(book, in.text());
  if (type == kChannelEof) book.eof = true;
  if (type == kChannelClose) {
    book.closed = true;
    ++reached_.closes;
  }
}

void ServerJudge::judge_data(ChannelBook& book, std::size_t count) {
  reached_.output += count;
  book.used += count;
  if (!channels_known_ || !strict_) return;
  if (book.eof) violated("the server sends data after its EOF");
  if (book.used > book.window)
    violated("the server sends more than the window", std::to_string(book.used) + " of " + std::to_string(book.window));
  // libssh takes 10 from the peer's number without looking: one up to that bounds nothing.
  if (book.most_packet > kLeastPacketHeld && count > book.most_packet)
    violated("the server's data is longer than the peer takes", std::to_string(count));
}

void ServerJudge::judge_request(ChannelBook& book, std::string_view name) {
  if (name != "exit-status" && name != "exit-signal") return;
  ++reached_.statuses;
  if (channels_known_ && strict_ && book.status) violated("the server says twice how a jail ended");
  if (channels_known_ && strict_ && !book.eof) violated("the server says how a jail ended before its EOF");
  book.status = true;
}

void ServerJudge::confirm(std::uint32_t number, std::uint32_t server_number) {
  ++reached_.channels;
  ChannelBook& book = channels_[number];
  const auto asked = asked_.find(number);
  if (asked == asked_.end() || (book.open && !book.closed)) return stop_judging_channels();
  book = asked->second;
  book.server_number = server_number;
  book.open = true;
  asked_.erase(asked);
}

void ServerJudge::peer_sends(std::string_view payload) {
  Bytes in(payload);
  const std::uint8_t type = in.byte();
  if (type == kChannelOpen) {
    (void)in.text();
    const std::uint32_t number = in.word();
    ChannelBook book;
    book.window = in.word();
    book.most_packet = in.word();
    // One number for two channels: the answers cannot be told apart.
    if (!in.whole() || !asked_.emplace(number, book).second) stop_judging_channels();
  }
  if (type == kWindowAdjust) {
    const std::uint32_t number = in.word();
    note_adjust(number, in.word());
  }
}

void ServerJudge::note_adjust(std::uint32_t server_number, std::uint32_t more) {
  for (auto& [number, book] : channels_)
    if (book.open && book.server_number == server_number) book.window += more;
}

}  // namespace mayfly::fuzz
