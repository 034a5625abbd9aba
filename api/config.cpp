#include "api/config.h"

#include "jail/os/memfd.h"
#include "jail/wire/frame.h"

namespace mayfly::api {

Expected<ApiConfig> read_config(const Fd& memfd) {
  const std::string text = TRY(read_whole(memfd, kMaxFrame.count));
  const Json tree = TRY(parse_json(text, kMaxFrameDepth));
  JsonReader in(tree, "");
  ApiConfig config;
  config.lease = TRY(in.text("lease", 107));
  if (const Json* hosts = TRY(in.optional_array("hosts", 64)))
    for (const Json& host : *hosts) {
      if (!host.is_string()) return failure("read field", 0, "hosts", "a list of strings is needed");
      config.hosts.push_back(host.get<std::string>());
    }
  const auto level = severity_named(TRY(in.optional_text("logLevel", 8)).value_or("info"));
  if (!level) return failure("read field", 0, "logLevel", "debug, info, warning or error is needed");
  config.log_level = *level;
  TRY(in.finish());
  if (config.hosts.empty()) config.hosts = {"localhost", "127.0.0.1", "[::1]"};
  return config;
}

}  // namespace mayfly::api
