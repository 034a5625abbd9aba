// Parsers of the kernel texts that measuring reads, proc_pid_status(5) and its neighbours. Pure; views into the text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mayfly {

// Of /proc/<pid>/status. A line that is missing or malformed leaves the whole text unparsed (nothing).
struct StatusText {
  std::array<std::uint32_t, 4> uid{}, gid{};  // real, effective, saved, file system
  std::uint32_t groups = 0;                   // how many supplementary ones
  std::uint64_t cap_inheritable = 0, cap_permitted = 0, cap_effective = 0, cap_bounding = 0, cap_ambient = 0;
  std::uint32_t no_new_privs = 0, seccomp = 0;
};
std::optional<StatusText> parse_status(std::string_view text);

// One row of uid_map or gid_map.
struct IdRow {
  std::uint32_t inside = 0, outside = 0, count = 0;
  friend bool operator==(const IdRow&, const IdRow&) = default;
};
// At most four rows; nothing when there are more or one is malformed.
struct IdMap {
  std::array<IdRow, 4> rows{};
  std::size_t count = 0;
  friend bool operator==(const IdMap&, const IdMap&) = default;
};
std::optional<IdMap> parse_id_map(std::string_view text);

// Soft and hard value of a row of /proc/<pid>/limits; "unlimited" is UINT64_MAX.
struct LimitRow {
  std::uint64_t soft = 0, hard = 0;
};
std::optional<LimitRow> find_limit(std::string_view text, std::string_view name);

// Whether /proc/<pid>/net/dev lists exactly one interface and that is lo.
bool has_only_loopback(std::string_view net_dev);

// "size=65536k" among the options of a tmpfs, in bytes; "nr_inodes=8192".
std::optional<std::uint64_t> option_number(std::string_view options, std::string_view name);

}  // namespace mayfly
