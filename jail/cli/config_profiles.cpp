// Settings from `profiles`: {"bash": {"shell": ["/bin/bash"]}, "class": {"language": "python", "seed": "/srv/class"}}.
#include "jail/cli/config.h"
#include "jail/cli/folder_judge.h"
#include "jail/wire/bind_table.h"

namespace mayfly {

namespace {

constexpr std::size_t kMostProfiles = 64;
constexpr std::size_t kMostWithFolders = std::tuple_size_v<decltype(BindTable::rows)> - 1;  // row 0 has none

Expected<std::string> read_folder(ConfigReader& row, const char* key) {
  std::string path = TRY(row.text(key, ""));
  if (path.empty()) return path;
  if (const auto judged = judge_folder(path); !judged) return row.wrong(key, judged.error().text());
  return path;
}

Expected<void> read_kind(ConfigReader& row, const ConfigReader& in, const Catalogue& catalogue, Profile& profile) {
  profile.language = TRY(row.text("language", ""));
  if (const Json* shell = TRY(row.list("shell")))
    for (const Json& word : *shell) profile.shell.push_back(word.get<std::string>());
  if (profile.language.empty() == profile.shell.empty())
    return in.wrong(profile.name, "name either \"language\" or \"shell\"");
  if (!profile.language.empty() && catalogue.language(profile.language) == nullptr)
    return row.wrong("language", "unknown language");
  if (!profile.shell.empty() && !profile.shell[0].starts_with("/"))
    return row.wrong("shell", "the first word is an absolute path, like /bin/bash");
  return {};
}

Profile* find(std::vector<Profile>& profiles, std::string_view name) {
  for (Profile& profile : profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

}  // namespace

Expected<void> read_profiles(const ConfigReader& in, const Json& object, Catalogue& catalogue) {
  std::vector<Profile> profiles = catalogue.profiles();
  std::uint32_t rows = 0;
  for (const auto& [name, value] : object.items()) {
    if (!is_catalogue_name(name)) return in.wrong(name, "a name has a-z, 0-9 and -, begins with a letter, 32 at most");
    if (!value.is_object()) return in.wrong(name, "an object is needed: { ... }");
    ConfigReader row = in.below(value, name.c_str());
    Profile* profile = find(profiles, name);
    if (profile == nullptr) {
      profile = &profiles.emplace_back(Profile{name, "", {}, "", ""});
      TRY(read_kind(row, in, catalogue, *profile));
    } else if (profile->language.empty()) {  // the host is examined with it, as it is
      return in.wrong(name, "is built in and cannot be changed");
    } else if (value.contains("language") || value.contains("shell")) {
      return in.wrong(name, "is built in and stays what it is; it takes \"seed\" and \"readonly\"");
    }
    profile->seed = TRY(read_folder(row, "seed"));
    profile->readonly = TRY(read_folder(row, "readonly"));
    if (!profile->seed.empty()) profile->seed_is = identity_of_folder(profile->seed);
    if (!profile->readonly.empty()) profile->readonly_is = identity_of_folder(profile->readonly);
    TRY(row.finish());
    if (profile->has_folders()) ++rows;
  }
  if (profiles.size() > kMostProfiles) return in.wrong("", "allowed are 64 profiles in all");
  if (rows > kMostWithFolders)
    return in.wrong("", "allowed are " + std::to_string(kMostWithFolders) + " profiles with \"seed\" or \"readonly\"");
  std::uint32_t next = 1;
  for (Profile& profile : profiles)
    if (profile.has_folders()) profile.bind_row = next++;
  catalogue = Catalogue(std::move(profiles), catalogue.languages());
  return {};
}

}  // namespace mayfly
