// Profile: a named kind of jail (an SSH user name). Language: how code in it becomes a running program.
// Both are rows of tables (built in, later etc/languages.jsonc); nothing in here knows about paths of the host
// other than below /usr, which every jail has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"

namespace mayfly {

struct Language {
  std::string name;                      // "python"
  std::string file;                      // "main.py": where the code is put, in the home directory
  std::vector<std::string> run;          // argv; the file and the request's args are appended: {"/usr/bin/python3"}
  std::vector<std::string> interactive;  // argv of an interactive shell of the language, or of a script on stdin
  std::vector<std::string> version;      // argv that prints the version: {"/usr/bin/python3", "--version"}
  std::vector<std::string> reproducible_environment;  // {"PYTHONHASHSEED=0"}
};

struct Profile {
  std::string name;                // "run", "python"
  std::string language;            // "" for run: commands go to the shell
  std::vector<std::string> shell;  // argv of an interactive session when there is no language: {"/bin/sh"}
  std::string seed;                // directory of the host that is copied into the home of each jail; "" for none
  std::string readonly;            // directory of the host that jails see at /data; "" for none
  std::uint32_t bind_row = 0;      // of the builder's bind table (wire/bind_table.h); above 0 exactly with folders
  std::string seed_is{};           // device and inode of the directory that `seed` was when the configuration was
  std::string readonly_is{};       // read, "254:0 17", and of `readonly`: a path may lead to another one since

  [[nodiscard]] bool has_folders() const { return !seed.empty() || !readonly.empty(); }
};

// What a profile or a language may be called: a-z, 0-9 and -, a letter first, 1..32 bytes. It is a user name of SSH,
// and one word wherever words stand in a row.
bool is_catalogue_name(std::string_view name);

// The tables of one configuration. Immutable once made.
class Catalogue {
 public:
  Catalogue(std::vector<Profile> profiles, std::vector<Language> languages)
      : profiles_(std::move(profiles)), languages_(std::move(languages)) {}
  static Catalogue built_in();  // run, python

  [[nodiscard]] const Profile* profile(std::string_view name) const;
  [[nodiscard]] const Language* language(std::string_view name) const;
  [[nodiscard]] const std::vector<Profile>& profiles() const { return profiles_; }
  [[nodiscard]] const std::vector<Language>& languages() const { return languages_; }

 private:
  std::vector<Profile> profiles_;
  std::vector<Language> languages_;
};

}  // namespace mayfly
