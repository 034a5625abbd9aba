// Packed: a row of numbers and words in one JSON text, "5 0 - cgroup-v1". For the parts of a message that are sent with
// every run and have many members: a tree of sixty nodes costs the sender and the receiver more than the run's own
// gate. As strict as JsonReader: a missing, surplus or ill-formed entry is a Failure that names the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jail/expected.h"

namespace mayfly {

class PackedWriter {
 public:
  PackedWriter& put(std::uint64_t number);
  PackedWriter& put(std::optional<std::uint64_t> number);  // nothing: "-"
  PackedWriter& put_word(std::string_view word);           // neither empty nor with a space in it
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class PackedReader {
 public:
  PackedReader(std::string_view text, std::string_view where) : left_(text), where_(where) {}

  Expected<std::uint64_t> number(std::uint64_t most);
  Expected<std::optional<std::uint64_t>> optional_number(std::uint64_t most);
  Expected<std::string_view> word();
  Expected<void> finish() const;  // nothing is left

 private:
  std::string_view left_;
  std::string_view where_;
  bool begun_ = false;
};

}  // namespace mayfly
