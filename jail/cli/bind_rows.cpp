#include "jail/cli/bind_rows.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "jail/os/memfd.h"

namespace mayfly {

namespace {

template <std::size_t N>
Expected<void> put(char (&field)[N], const std::string& text) {
  if (text.size() >= N) return failure("write bind table", ENAMETOOLONG, text);
  std::memcpy(field, text.c_str(), text.size() + 1);
  return {};
}

Expected<void> add_bind(BindRow& row, const std::string& source, const std::string& target) {
  if (row.count == row.entries.size()) return failure("add to bind table", ENOSPC, source);
  BindEntry& entry = row.entries[row.count++];
  TRY(put(entry.source, source));
  return put(entry.target, target);
}

// `path` is relative to the jail's root: "usr/local".
Expected<void> hide(BindRow& row, const std::string& path) {
  if (row.hide_count == row.hide.size()) return failure("hide in bind table", ENOSPC, path);
  auto& field = row.hide[row.hide_count++];
  if (path.size() >= field.size()) return failure("hide in bind table", ENAMETOOLONG, path);
  std::memcpy(field.data(), path.c_str(), path.size() + 1);
  return {};
}

bool exists(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

Expected<void> hide_programs(BindRow& row, const Programs& programs, UsrLocal usr_local) {
  const std::string& folder = programs.directory();
  const bool own_folder = begins_with(folder, "/usr/") && folder.ends_with("/libexec/mayfly");
  const auto is_covered = [&](std::string_view path) {
    return (own_folder && begins_with(path, folder + "/")) ||
           (usr_local == UsrLocal::Hidden && begins_with(path, "/usr/local/"));
  };
  if (own_folder && !(usr_local == UsrLocal::Hidden && begins_with(folder, "/usr/local/")))
    TRY(hide(row, folder.substr(1)));
  for (const std::string& path : programs.all())
    if (begins_with(path, "/usr/") && !is_covered(path)) TRY(hide(row, path.substr(1)));
  return {};
}

Expected<void> add_row_of(const Profile& profile, BindTable& table) {
  if (profile.bind_row != table.row_count) return failure("number rows of bind table", EINVAL, profile.name);
  if (table.row_count == table.rows.size()) return failure("add row to bind table", ENOSPC, profile.name);
  BindRow& row = table.rows[table.row_count++];
  row = table.rows[0];
  if (!profile.readonly.empty()) TRY(add_bind(row, profile.readonly, kDataTree));
  if (!profile.seed.empty()) TRY(add_bind(row, profile.seed, kSeedTree));
  return {};
}

}  // namespace

Expected<BindTable> make_bind_table(const BindChoices& choices, const Programs& programs, const Catalogue& catalogue) {
  BindTable table;
  table.rootless = choices.privilege == Privilege::Rootless ? 1 : 0;
  table.uid_base = choices.uid_base;
  table.made_ahead = choices.made_ahead == MadeAhead::Yes ? 1 : 0;
  table.row_count = 1;
  BindRow& row = table.rows[0];
  TRY(add_bind(row, "/usr", "usr"));
  if (choices.usr_local == UsrLocal::Hidden && exists("/usr/local")) TRY(hide(row, "usr/local"));
  TRY(hide_programs(row, programs, choices.usr_local));
  for (const Profile& profile : catalogue.profiles())
    if (profile.has_folders()) TRY(add_row_of(profile, table));
  return table;
}

Expected<Fd> seal_bind_table(const BindTable& table) {
  return make_sealed_memfd("mayfly-bind-table", std::string_view(reinterpret_cast<const char*>(&table), sizeof table));
}

}  // namespace mayfly
