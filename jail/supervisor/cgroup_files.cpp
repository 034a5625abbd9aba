#include "jail/supervisor/cgroup_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace mayfly {

GroupPath::GroupPath(std::string_view group, std::string_view file) {
  if (group.size() + file.size() + 2 > text_.size()) {
    text_[0] = '?';
    return;
  }
  std::memcpy(text_.data(), group.data(), group.size());
  text_[group.size()] = '/';
  std::memcpy(text_.data() + group.size() + 1, file.data(), file.size());
}

Expected<void> write_group_file(int directory, const char* path, std::string_view text) {
  const Fd file{::openat(directory, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return failure("open group file for writing", errno, path);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return failure("write \"" + std::string(text) + "\" to group file", errno, path);
  if (static_cast<std::size_t>(written) != text.size())
    return failure("write group file", 0, path, "the kernel took only a part of \"" + std::string(text) + "\"");
  return {};
}

namespace {

// Bytes read into `into`, or -1 with errno.
ssize_t read_start(int directory, const char* path, char* into, std::size_t most) {
  const Fd file{::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return -1;
  return ::read(file.get(), into, most);
}

}  // namespace

Expected<std::string> read_group_file(int directory, const char* path) {
  std::array<char, 4096> text;
  const ssize_t count = read_start(directory, path, text.data(), text.size());
  if (count < 0) return failure("read group file", errno, path);
  return std::string(text.data(), static_cast<std::size_t>(count));
}

std::optional<std::uint64_t> parse_group_number(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text == "max") return kNoLimit;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_group_number(int directory, const char* path) {
  std::array<char, 64> text;
  const ssize_t count = read_start(directory, path, text.data(), text.size());
  if (count <= 0) return std::nullopt;
  return parse_group_number({text.data(), static_cast<std::size_t>(count)});
}

std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
      return parse_group_number(line.substr(key.size() + 1));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

Expected<GroupFile> GroupFile::open(int directory, const char* path) {
  Fd file(::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno != ENOENT) return failure("open group counter", errno, path);
  return GroupFile(std::move(file));
}

std::optional<std::uint64_t> GroupFile::number() const {
  std::array<char, 64> text;
  const ssize_t count = file_ ? ::pread(file_.get(), text.data(), text.size(), 0) : 0;
  if (count <= 0) return std::nullopt;
  return parse_group_number({text.data(), static_cast<std::size_t>(count)});
}

std::optional<std::uint64_t> GroupFile::keyed(std::string_view key) const {
  std::array<char, 1024> text;
  const ssize_t count = file_ ? ::pread(file_.get(), text.data(), text.size(), 0) : 0;
  if (count <= 0) return std::nullopt;
  return keyed_number({text.data(), static_cast<std::size_t>(count)}, key);
}

Measurement<Bytes> measured_bytes(std::optional<std::uint64_t> bytes, const char* otherwise) {
  if (!bytes) return {std::nullopt, otherwise};
  return {Bytes{*bytes}, ""};
}

Measurement<std::uint32_t> measured_count(std::optional<std::uint64_t> count, const char* otherwise) {
  if (!count) return {std::nullopt, otherwise};
  return {static_cast<std::uint32_t>(*count), ""};
}

Measurement<Microseconds> measured_time(std::optional<std::uint64_t> microseconds, const char* otherwise) {
  if (!microseconds) return {std::nullopt, otherwise};
  return {Microseconds{static_cast<std::int64_t>(*microseconds)}, ""};
}

Expected<Fd> open_group_directory(int directory, const char* path) {
  Fd opened{::openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
  if (!opened) return failure("open group directory", errno, path);
  return opened;
}

}  // namespace mayfly
