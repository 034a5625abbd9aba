// What libFuzzer asks of the harness beside the target itself: changes that know the format. Its own changes, which
// know what the code compares with, are made inside one record's bytes, and now and then to the whole.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/scenario_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

namespace {

std::size_t give(const std::string& made, std::uint8_t* bytes, std::size_t most) {
  const std::size_t size = std::min(made.size(), most);
  std::memcpy(bytes, made.data(), size);
  return size;
}

// One record's bytes as libFuzzer would have them.
std::string mutate_within(std::span<const std::uint8_t> input, std::size_t seed) {
  using namespace mayfly::fuzz;
  Scenario scenario = read_scenario(input);
  if (scenario.records.empty()) return written(scenario);
  std::string& bytes = scenario.records[seed % scenario.records.size()].bytes;
  const std::size_t size = bytes.size();
  bytes.resize(size + 64);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, size + 64));
  return written(scenario);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  switch (seed % 8) {
    case 0:
      return LLVMFuzzerMutate(bytes, size, most);
    case 1:
    case 2:
    case 3:
      return give(mutate_within({bytes, size}, seed / 8), bytes, most);
    default:
      return give(mayfly::fuzz::ScenarioMutator(seed).mutate({bytes, size}, {}), bytes, most);
  }
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
  return give(mayfly::fuzz::ScenarioMutator(seed).mutate({first, first_size}, {second, second_size}), out, most);
}
