#include "tests/fuzz/scenario_mutator.h"

#include <array>
#include <utility>

#include "tests/fuzz/ssh_bytes.h"
#include "tests/fuzz/ssh_numbers.h"

namespace mayfly::fuzz {

namespace {

constexpr std::size_t kMostChanges = 5;
constexpr std::uint32_t kFirstChannel = 43;  // libssh counts from here
// Numbers at which lengths, windows and sizes change their mind.
constexpr std::array<std::uint32_t, 12> kEdges = {0,        1,       9,       10,         255,        32768,
                                                  1u << 20, 1280000, 2560001, 0x7fffffff, 0x80000000, 0xffffffff};
constexpr std::array<const char*, 14> kRequests = {"exec",
                                                   "shell",
                                                   "pty-req",
                                                   "env",
                                                   "window-change",
                                                   "signal",
                                                   "break",
                                                   "x11-req",
                                                   "subsystem",
                                                   "eow@openssh.com",
                                                   "auth-agent-req@openssh.com",
                                                   "exit-status",
                                                   "xon-xoff",
                                                   ""};

std::string byte(std::uint8_t value) { return std::string(1, static_cast<char>(value)); }

}  // namespace

// A packet or an event that means something at many a place.
Record ScenarioMutator::any_record() {
  const std::uint32_t channel = kFirstChannel + static_cast<std::uint32_t>(below(3));
  const std::uint32_t edge = kEdges[below(kEdges.size())];
  const std::string run = byte(static_cast<std::uint8_t>(1 + below(3)));
  switch (below(12)) {
    case 0:
      return {Act::Packet, false,
              byte(kChannelOpen) + text("session") + word(channel - kFirstChannel) + word(edge) + word(32768)};
    case 1:
      return {Act::Packet, false,
              byte(kChannelRequest) + word(channel) + text(kRequests[below(kRequests.size())]) + byte(1) + text("x") +
                  word(edge) + word(edge) + word(0) + word(0) + text("")};
    case 2:
      return {Act::Packet, false, byte(kChannelRequest) + word(channel) + text("exec") + byte(1) + text("true")};
    case 3:
      return {Act::Packet, false, byte(kWindowAdjust) + word(channel) + word(edge)};
    case 4:
      return {Act::Packet, false, byte(kChannelData) + word(channel) + text(std::string(below(600), 'd'))};
    case 5:
      return {Act::Packet, false, byte(static_cast<std::uint8_t>(kChannelEof + below(2))) + word(channel)};
    case 6:
      return {Act::Packet, false, byte(static_cast<std::uint8_t>(below(256))) + word(channel) + word(edge)};
    case 7:
      return {Act::Wait, false, byte(static_cast<std::uint8_t>(below(70)))};
    case 8:
      return {Act::JailWrites, false, run + byte(static_cast<std::uint8_t>(below(2))) + byte(255)};
    case 9:
      return {Act::JailEnds, false, run + byte(static_cast<std::uint8_t>(below(6))) + byte(3)};
    case 10:
      return {static_cast<Act>(static_cast<std::size_t>(Act::PeerHalts) + below(5)), false, ""};
    default:
      return {Act::Raw, false, word(edge) + std::string(below(40), '\7')};
  }
}

void ScenarioMutator::change_bytes(std::string& bytes) {
  const std::size_t at = below(bytes.size() + 1);
  switch (below(5)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
      return;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(static_cast<std::uint8_t>(bytes[at]) ^ 1u << below(8));
      return;
    case 2:
      bytes.erase(at, 1 + below(8));
      return;
    case 3:
      bytes.insert(at, 1 + below(8), static_cast<char>(below(256)));
      return;
    default:
      bytes.replace(at, 4, word(kEdges[below(kEdges.size())]));
  }
}

void ScenarioMutator::change_order(Scenario& scenario) {
  auto& records = scenario.records;
  const std::size_t at = below(records.size());
  switch (below(3)) {
    case 0:
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      std::swap(records[at], some(scenario));
      return;
    default: {
      const Record copy = records[at];
      records.insert(records.begin() + static_cast<std::ptrdiff_t>(below(records.size() + 1)), copy);
    }
  }
}

void ScenarioMutator::change(Scenario& scenario, const Scenario& other) {
  auto& records = scenario.records;
  const auto place = [&] { return records.begin() + static_cast<std::ptrdiff_t>(below(records.size() + 1)); };
  const std::size_t kind = below(12);
  if (kind == 0) scenario.play = static_cast<std::uint8_t>(below(16));
  if (kind == 1 && below(4) == 0) scenario.ways = static_cast<Ways>(below(4));
  if (kind == 1 && below(4) == 0) scenario.forced_command = !scenario.forced_command;
  if (kind == 1 && below(8) == 0) scenario.prelude = static_cast<Prelude>(below(4));
  if (kind == 2 || kind == 3) records.insert(place(), any_record());
  if (kind == 4 && !other.records.empty()) records.insert(place(), other.records[below(other.records.size())]);
  if (kind == 5 && !other.records.empty()) records.insert(records.end(), other.records.begin(), other.records.end());
  if (records.empty()) return;
  if (kind == 6 || kind == 7) change_order(scenario);
  if (kind == 8) some(scenario).with_next = below(2) == 0;
  if (kind == 9 && below(4) == 0) some(scenario).act = static_cast<Act>(below(static_cast<std::size_t>(Act::Count)));
  if (kind > 9) change_bytes(some(scenario).bytes);
}

std::string ScenarioMutator::mutate(std::span<const std::uint8_t> input, std::span<const std::uint8_t> other) {
  Scenario scenario = read_scenario(input);
  const Scenario lender = read_scenario(other);
  for (std::size_t left = 1 + below(kMostChanges); left > 0; --left) change(scenario, lender);
  if (scenario.records.size() > kMostRecords) scenario.records.resize(kMostRecords);
  return written(scenario);
}

}  // namespace mayfly::fuzz
