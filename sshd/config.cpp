#include "sshd/config.h"

#include <algorithm>

#include "jail/os/memfd.h"
#include "jail/spec/limits.h"
#include "jail/wire/frame.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kMostConfigBytes = 64 * 1024;
constexpr std::size_t kMostProfiles = 64;
constexpr std::size_t kMostNameBytes = 64;

Expected<std::vector<Access>> access_from(const Json& words) {
  std::vector<Access> access;
  for (const Json& word : words) {
    if (!word.is_string() || word.get_ref<const std::string&>() != "open")
      return failure("read sshd configuration", 0, "access", "this version knows \"open\" and nothing else");
    access.push_back(Access::Open);
  }
  if (access.empty()) return failure("read sshd configuration", 0, "access", "nobody could log in");
  return access;
}

Expected<std::vector<std::string>> profiles_from(const Json& words) {
  std::vector<std::string> profiles;
  for (const Json& word : words) {
    if (!word.is_string()) return failure("read sshd configuration", 0, "profiles", "names only");
    const std::string& name = word.get_ref<const std::string&>();
    if (name.empty() || name.size() > kMostNameBytes)
      return failure("read sshd configuration", 0, "profiles", "a name has 1..64 bytes");
    profiles.push_back(name);
  }
  return profiles;
}

}  // namespace

bool SshdConfig::allows(Access way) const { return std::find(access.begin(), access.end(), way) != access.end(); }

bool SshdConfig::knows_profile(std::string_view name) const {
  return std::find(profiles.begin(), profiles.end(), name) != profiles.end();
}

Expected<SshdConfig> decode_sshd_config(std::string_view text) {
  const Json body = TRY(parse_json(text, kMaxFrameDepth));
  if (!body.is_object()) return failure("read sshd configuration", 0, {}, "it is not an object");
  JsonReader in(body, "");
  SshdConfig config;
  config.lease = TRY(in.text("lease", 107));  // sun_path, unix(7)
  if (const Json* access = TRY(in.optional_array("access", 8))) config.access = TRY(access_from(*access));
  if (const Json* names = TRY(in.optional_array("profiles", kMostProfiles)))
    config.profiles = TRY(profiles_from(*names));
  config.open_on_network = TRY(in.boolean("openOnNetwork", false));
  config.penalise_loopback = TRY(in.boolean("penaliseLoopback", false));
  const auto level = severity_named(TRY(in.optional_text("logLevel", 8)).value_or("info"));
  if (!level) return failure("read sshd configuration", 0, "logLevel", "debug, info, warning or error is needed");
  config.log_level = *level;
  TRY(in.finish());
  return config;
}

Expected<SshdConfig> read_sshd_config(const Fd& memfd) {
  TRY(sealed_size(memfd, kMostConfigBytes));
  return decode_sshd_config(TRY(read_whole(memfd, kMostConfigBytes)));
}

}  // namespace mayfly
