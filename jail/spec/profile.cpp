#include "jail/spec/profile.h"

#include <algorithm>

namespace mayfly {

Catalogue Catalogue::built_in() {
  Language python;
  python.name = "python";
  python.file = "main.py";
  python.run = {"/usr/bin/python3"};
  python.interactive = {"/usr/bin/python3"};
  python.version = {"/usr/bin/python3", "--version"};
  python.reproducible_environment = {"PYTHONHASHSEED=0"};
  return Catalogue({Profile{"run", "", {"/bin/sh"}}, Profile{"python", "python", {}}}, {std::move(python)});
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
