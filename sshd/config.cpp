#include "sshd/config.h"

#include <algorithm>

#include "jail/os/memfd.h"
#include "jail/spec/limits.h"
#include "jail/wire/frame.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kMostConfigBytes = 64 * 1024;

Expected<SshAccess> access_from(const Json& words) {
  SshAccess access;
  access.open = false;
  for (const Json& word : words)
    if (!word.is_string() || !allow(access, word.get_ref<const std::string&>()))
      return failure("read sshd configuration", 0, "access", "open, keys and invites are known");
  if (words.empty()) return failure("read sshd configuration", 0, "access", "nobody could log in");
  return access;
}

}  // namespace

Expected<SshdConfig> decode_sshd_config(std::string_view text) {
  const Json body = TRY(parse_json(text, kMaxFrameDepth));
  if (!body.is_object()) return failure("read sshd configuration", 0, {}, "it is not an object");
  JsonReader in(body, "");
  SshdConfig config;
  config.lease = TRY(in.text("lease", 107));  // sun_path, unix(7)
  if (const Json* access = TRY(in.optional_array("access", 8))) config.access = TRY(access_from(*access));
  config.open_on_network = TRY(in.boolean("openOnNetwork", false));
  config.penalise_loopback = TRY(in.boolean("penaliseLoopback", false));
  config.made_ahead = TRY(in.boolean("madeAhead", true));
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
