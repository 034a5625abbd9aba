// ServerJudge: reads what the server sends, in clear text, counts it, and holds it to the protocol (RFC 4253, 4254):
// whole packets, no more data on a channel than the peer has made room for, none after EOF, nothing after CLOSE, one
// exit status at most and in its place.
//
// Strict only while the peer is one that the harness understands: after a key exchange of the input's own making the
// framing may be another, and after raw bytes nobody knows what was asked. Then it counts what it can and is silent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/fuzz/reached.h"

namespace mayfly::fuzz {

inline constexpr std::uint32_t kMacBytes = 32;  // hmac-sha2-256-etm

class ServerJudge {
 public:
  explicit ServerJudge(Reached& reached) : reached_(reached) {}

  void expect_clear_text() { strict_ = true; }  // the keys were exchanged by the harness itself
  void stop_judging_channels() { channels_known_ = false; }
  void peer_sends(std::string_view payload);  // channel opens and window adjusts of the peer
  void feed(std::string_view bytes);

 private:
  struct ChannelBook {
    std::uint32_t server_number = 0;
    std::uint64_t window = 0, used = 0;
    std::uint32_t most_packet = 0;
    bool open = false, eof = false, closed = false, status = false;
  };

  bool take_identification();
  bool take_packet();
  void judge(std::string_view payload);
  void judge_channel(std::uint8_t type, std::string_view payload);
  void judge_data(ChannelBook& book, std::size_t count);
  void judge_request(ChannelBook& book, std::string_view name);
  void confirm(std::uint32_t number, std::uint32_t server_number);
  void note_adjust(std::uint32_t server_number, std::uint32_t more);
  void require(bool holds, const char* rule, std::uint8_t type) const;

  Reached& reached_;
  std::string held_;
  bool identified_ = false;
  bool has_mac_ = false;
  bool opaque_ = false;
  bool strict_ = false;
  bool channels_known_ = true;
  std::uint8_t last_type_ = 0;
  std::map<std::uint32_t, ChannelBook> channels_;  // by the peer's number
  std::map<std::uint32_t, ChannelBook> asked_;     // opened by the peer, not answered yet
};

}  // namespace mayfly::fuzz
