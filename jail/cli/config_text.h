// The configuration file as text: JSON with comments, every member with the line that it stands on, so that a mistake
// can be pointed at. Duplicate keys, more than 8 levels and more than 1 MiB are refused.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "jail/wire/frame.h"

namespace mayfly {

struct ConfigText {
  Json root;                         // an object
  std::map<std::string, int> lines;  // "limits.api.defaults.wallMs" -> 14; members of lists count as "require[2]"
  std::string name;                  // of the file, for messages
};

// Fails with `name:line: what is wrong`.
Expected<ConfigText> parse_config(std::string_view text, std::string name);

// Reads the members of one object of it, each at most once; finish() refuses what was not read.
class ConfigReader {
 public:
  ConfigReader(const ConfigText& text, const Json& object, std::string where)
      : text_(text), object_(object), where_(std::move(where)) {}

  // Absent: `otherwise`, or nullptr.
  Expected<std::uint64_t> number(const char* key, std::uint64_t least, std::uint64_t most, std::uint64_t otherwise);
  // The word "auto" stands for 0: what the host has.
  Expected<std::uint64_t> number_or_auto(const char* key, std::uint64_t least, std::uint64_t most,
                                         std::uint64_t otherwise);
  Expected<double> real(const char* key, double least, double most, double otherwise);
  Expected<double> real_or_auto(const char* key, double least, double most);
  Expected<bool> boolean(const char* key, bool otherwise);
  Expected<std::string> text(const char* key, std::string otherwise);
  Expected<const Json*> object(const char* key);
  Expected<const Json*> list(const char* key);  // of strings
  // A key that a later version knows: refused in so many words, rather than as a spelling mistake.
  Expected<void> refuse_later(const char* key, const char* what);
  Expected<void> finish() const;

  [[nodiscard]] std::string path(std::string_view key) const;
  // A failure that names the file, the line of `key` and `key` itself.
  [[nodiscard]] tl::unexpected<Failure> wrong(std::string_view key, std::string why) const;
  [[nodiscard]] ConfigReader below(const Json& child, const char* key) const { return {text_, child, path(key)}; }

 private:
  const Json* find(const char* key);
  const ConfigText& text_;
  const Json& object_;
  std::string where_;
  std::vector<std::string> seen_;
};

}  // namespace mayfly
