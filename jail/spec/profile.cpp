#include "jail/spec/profile.h"

#include <algorithm>

namespace mayfly {

bool is_catalogue_name(std::string_view name) {
  if (name.empty() || name.size() > 32 || name[0] < 'a' || name[0] > 'z') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

Catalogue Catalogue::built_in() {
  Language python;
  python.name = "python";
  python.file = "main.py";
  python.run = {"/usr/bin/python3"};
  python.interactive = {"/usr/bin/python3"};
  python.version = {"/usr/bin/python3", "--version"};
  python.reproducible_environment = {"PYTHONHASHSEED=0"};
  return Catalogue({Profile{"run", "", {"/bin/sh"}, "", ""}, Profile{"python", "python", {}, "", ""}},
                   {std::move(python)});
}

const Profile* Catalogue::profile(std::string_view name) const {
  const auto found = std::ranges::find(profiles_, name, &Profile::name);
  return found == profiles_.end() ? nullptr : &*found;
}

const Language* Catalogue::language(std::string_view name) const {
  const auto found = std::ranges::find(languages_, name, &Language::name);
  return found == languages_.end() ? nullptr : &*found;
}

}  // namespace mayfly
