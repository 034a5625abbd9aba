// Control group files: small kernel text behind a directory descriptor. One open, one read or write, one close.
// Side: outside. A Failure names the file; its errno is the kernel's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/result.h"

namespace mayfly {

// "<group>/<file>" without an allocation. Too long a name becomes a path that does not exist.
class GroupPath {
 public:
  GroupPath(std::string_view group, std::string_view file);
  [[nodiscard]] const char* text() const { return text_.data(); }

 private:
  std::array<char, 160> text_{};
};

Expected<void> write_group_file(int directory, const char* path, std::string_view text);
// The first 4 KiB, which is more than any file that we read has; a longer one is cut.
Expected<std::string> read_group_file(int directory, const char* path);
// One decimal number; "max" is kNoLimit. Nothing when the file is absent or says something else.
inline constexpr std::uint64_t kNoLimit = UINT64_MAX;
std::optional<std::uint64_t> read_group_number(int directory, const char* path);
std::optional<std::uint64_t> parse_group_number(std::string_view text);
// The number after `key` in lines of "key number".
std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key);

// A counter that is read at the end of a jail, when a path walk costs ten times the read. Opened with its group.
class GroupFile {
 public:
  GroupFile() = default;  // nothing can be read
  // A kernel that has no such file gives an empty one. Anything else (EMFILE, ...) is a Failure: a limit would be lost.
  static Expected<GroupFile> open(int directory, const char* path);

  [[nodiscard]] std::optional<std::uint64_t> number() const;
  [[nodiscard]] std::optional<std::uint64_t> keyed(std::string_view key) const;
  [[nodiscard]] int fd() const { return file_.get(); }

 private:
  explicit GroupFile(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

// Numbers of kernel files as measurements; `otherwise` is why there is none.
Measurement<Bytes> measured_bytes(std::optional<std::uint64_t> bytes, const char* otherwise);
Measurement<std::uint32_t> measured_count(std::optional<std::uint64_t> count, const char* otherwise);
Measurement<Microseconds> measured_time(std::optional<std::uint64_t> microseconds, const char* otherwise);

Expected<Fd> open_group_directory(int directory, const char* path);  // O_RDONLY, so that it can be listed

}  // namespace mayfly
