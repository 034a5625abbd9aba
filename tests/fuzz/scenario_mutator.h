// ScenarioMutator: changes an input record by record, so that a change in one packet does not break all behind it.
// Deterministic: the same seed makes the same changes everywhere (std::mt19937_64 is defined to the bit).
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "tests/fuzz/scenario.h"

namespace mayfly::fuzz {

class ScenarioMutator {
 public:
  explicit ScenarioMutator(std::uint64_t seed) : random_(seed) {}

  // `other`: a second input, from which records are borrowed; may be empty.
  std::string mutate(std::span<const std::uint8_t> input, std::span<const std::uint8_t> other);

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  void change(Scenario& scenario, const Scenario& other);
  void change_order(Scenario& scenario);
  void change_bytes(std::string& bytes);
  Record any_record();
  Record& some(Scenario& scenario) { return scenario.records[below(scenario.records.size())]; }

  std::mt19937_64 random_;
};

}  // namespace mayfly::fuzz
