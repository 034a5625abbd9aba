// Scenario: one input of the fuzzer, read as the story of one connection. Every sequence of bytes is a story: what
// does not fit is cut, never refused. make_corpus.py writes the same format.
//
//   input   = setting play record*
//   setting   bits 0-1  how far the peer has come before the first record (Prelude)
//             bits 2-3  the ways in that are open (Ways)
//             bit 4     a login brings a forced command
//   play      bits 0-2  how the first jail behaves (Play); bit 3: the next one behaves as the next row, and so on
//   record  = kind length(2, big endian) bytes      kind: bits 0-3 Act, bit 7: delivered together with the next one
//
// The session is given the next record only when it has nothing left to do, so that the same input is the same story
// every time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mayfly::fuzz {

enum class Prelude : std::uint8_t { LoggedIn, KeysExchanged, Identified, Nothing };
enum class Ways : std::uint8_t { Open, Keys, Invites, KeysAndInvites };

enum class Act : std::uint8_t {
  Packet,        // the bytes are the payload of a packet: framed, padded, with its MAC
  Raw,           // the bytes as they are
  Wait,          // byte: seconds that pass while nothing comes
  JailWrites,    // run, stream (0 stdout, else stderr), count / 16: what an Interactive jail writes
  JailEnds,      // run, what (JailEnding)
  PeerHalts,     // the peer reads nothing any more ...
  PeerReads,     // ... and again
  EngineStops,   // the supervisor closes the lease
  ServiceStops,  // the keeper is gone
  PeerVanishes,  // both directions are closed
  Count
};

enum class Play : std::uint8_t {
  HelloAndExit,  // running, a line on stdout and one on stderr, exit 0
  Interactive,   // running; writes and ends when a record says so, or when it is cancelled or signalled
  Echo,          // queued, then running; writes what it reads, exits 3 at the end of its input
  Refuse,        // refused at once
  FailToBuild,   // ended without having run
  MuchOutput,    // running, 300 000 bytes, ended by SIGKILL
  LateBytes,     // running, ended, and only then its last bytes
  Silent,        // never an answer, but to a cancel
  Count
};

struct Record {
  Act act = Act::Packet;
  bool with_next = false;
  std::string bytes;
};

struct Scenario {
  Prelude prelude = Prelude::LoggedIn;
  Ways ways = Ways::Open;
  bool forced_command = false;
  std::uint8_t play = 0;
  std::vector<Record> records;

  [[nodiscard]] Play play_of(std::uint32_t run) const;  // run: 1 is the first
};

inline constexpr std::size_t kMostRecords = 512;

Scenario read_scenario(std::span<const std::uint8_t> input);
std::string written(const Scenario& scenario);  // read_scenario() gives the same again

}  // namespace mayfly::fuzz
