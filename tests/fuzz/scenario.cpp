#include "tests/fuzz/scenario.h"

#include <algorithm>

namespace mayfly::fuzz {

namespace {

constexpr std::uint8_t kWithNext = 0x80;
constexpr std::uint8_t kForcedCommand = 0x10;
constexpr std::uint8_t kNextPlay = 0x08;
constexpr std::size_t kHead = 3;  // of a record
constexpr std::size_t kMostBytes = 0xffff;

Act act_of(std::uint8_t kind) {
  const auto number = static_cast<std::uint8_t>(kind & 0x0f);
  return number < static_cast<std::uint8_t>(Act::Count) ? static_cast<Act>(number) : Act::Packet;
}

}  // namespace

Play Scenario::play_of(std::uint32_t run) const {
  const std::uint32_t step = (play & kNextPlay) != 0 ? run - 1 : 0;
  return static_cast<Play>((play + step) % static_cast<std::uint32_t>(Play::Count));
}

Scenario read_scenario(std::span<const std::uint8_t> input) {
  Scenario scenario;
  if (input.size() < 2) return scenario;
  scenario.prelude = static_cast<Prelude>(input[0] & 3);
  scenario.ways = static_cast<Ways>(input[0] >> 2 & 3);
  scenario.forced_command = (input[0] & kForcedCommand) != 0;
  scenario.play = input[1];
  auto rest = input.subspan(2);
  while (rest.size() >= kHead && scenario.records.size() < kMostRecords) {
    const std::size_t wanted = static_cast<std::size_t>(rest[1]) << 8 | rest[2];
    const auto bytes = rest.subspan(kHead, std::min(wanted, rest.size() - kHead));
    scenario.records.push_back({act_of(rest[0]), (rest[0] & kWithNext) != 0, std::string(bytes.begin(), bytes.end())});
    rest = rest.subspan(kHead + bytes.size());
  }
  return scenario;
}

std::string written(const Scenario& scenario) {
  std::string out;
  out += static_cast<char>(static_cast<unsigned>(scenario.prelude) | static_cast<unsigned>(scenario.ways) << 2 |
                           (scenario.forced_command ? kForcedCommand : 0u));
  out += static_cast<char>(scenario.play);
  for (const Record& record : scenario.records) {
    const std::size_t length = std::min(record.bytes.size(), kMostBytes);
    out += static_cast<char>(static_cast<unsigned>(record.act) | (record.with_next ? kWithNext : 0u));
    out += static_cast<char>(length >> 8);
    out += static_cast<char>(length & 0xff);
    out.append(record.bytes, 0, length);
  }
  return out;
}

}  // namespace mayfly::fuzz
