#include "jail/cli/config.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "jail/cli/listeners.h"
#include "jail/cli/private_engine.h"
#include "jail/spec/escape.h"

namespace mayfly {

namespace {

Expected<void> read_listen(ConfigReader in, Settings& settings) {
  settings.ssh = TRY(in.text("ssh", settings.ssh));
  settings.http = TRY(in.text("http", settings.http));
  for (const auto& [key, value] : {std::pair("ssh", settings.ssh), std::pair("http", settings.http)})
    if (value != "off" && !parse_address(value))
      return in.wrong(key, "allowed is an address and port like 127.0.0.1:2222 or [::1]:2222, or \"off\"");
  TRY(in.refuse_later("httpSocket", "a Unix socket for HTTP"));
  return in.finish();
}

Expected<void> read_access(ConfigReader in, Settings& settings) {
  if (const Json* methods = TRY(in.list("ssh"))) {
    settings.ssh_access.open = false;
    for (const Json& method : *methods) {
      const auto word = method.get<std::string>();
      if (!allow(settings.ssh_access, word))
        return in.wrong("ssh", "allowed are \"open\", \"keys\" and \"invites\", got \"" + escape(word, 40) + "\"");
    }
    if (methods->empty()) return in.wrong("ssh", "nobody could come in; turn ssh off with listen.ssh \"off\"");
  }
  settings.ssh_access.authorized_keys = TRY(in.text("authorizedKeys", ""));
  if (settings.ssh_access.keys && !settings.ssh_access.authorized_keys.starts_with("/"))
    return in.wrong("authorizedKeys", "\"keys\" needs the absolute path of a file here");
  const std::string http = TRY(in.text("http", "open"));
  if (http == "tokens") return in.wrong("http", "\"tokens\" is not available in this version");
  if (http != "open") return in.wrong("http", "allowed is \"open\", got \"" + escape(http, 40) + "\"");
  settings.open_on_network = TRY(in.boolean("openOnNetwork", settings.open_on_network));
  return in.finish();
}

Expected<void> read_host(ConfigReader in, Settings& settings) {
  HostLimits& host = settings.policy.host;
  host.memory.count = TRY(in.number_or_auto("memoryBytes", (64_mib).count, 1ull << 50, 0));
  host.processes = static_cast<std::uint32_t>(TRY(in.number_or_auto("processes", 16, 4'194'304, 0)));
  host.cpus.count = static_cast<std::uint32_t>(TRY(in.real_or_auto("cpus", 0.1, 4096)) * 1000);
  host.api_runs = static_cast<std::uint32_t>(TRY(in.number_or_auto("apiRuns", 1, kSlotsPerInstance, 0)));
  host.jails = static_cast<std::uint32_t>(TRY(in.number_or_auto("jails", 1, kSlotsPerInstance, 0)));
  settings.policy.queue_total = static_cast<std::uint32_t>(TRY(in.number("queue", 1, 65'536, kQueueTotal)));
  settings.usr_local = TRY(in.boolean("usrLocal", settings.usr_local));
  return in.finish();
}

Expected<void> read_principals(ConfigReader in, PrincipalLimits& limits) {
  const auto count = [&in](const char* key, std::uint32_t most, std::uint32_t& value) -> Expected<void> {
    value = static_cast<std::uint32_t>(TRY(in.number(key, 1, most, value)));
    return {};
  };
  TRY(count("live", kSlotsPerInstance, limits.live));
  TRY(count("queued", 65'536, limits.queued));
  TRY(count("requestsPerSecond", 1'000'000, limits.requests_per_second));
  TRY(count("burst", 1'000'000, limits.burst));
  TRY(count("cpuSecondsPerHour", 3600 * 4096, limits.cpu_seconds_per_hour));
  return in.finish();
}

Expected<void> read_require(ConfigReader& in, Policy& policy) {
  const Json* list = TRY(in.list("require"));
  if (list == nullptr) return {};
  ControlSet required;
  for (const Json& item : *list) {
    const auto word = item.get<std::string>();
    const std::optional<Control> control = control_named(word);
    if (!control) {
      std::string names;
      for (const Control each : kAllControls) names += (names.empty() ? "" : " ") + std::string(name(each));
      return in.wrong("require", "\"" + escape(word, 40) + "\" is no control; allowed: " + names);
    }
    required.add(*control);
  }
  policy.require = required;
  return {};
}

constexpr const char* kOtherWays = ", or take \"open\" out of access.ssh, for \"keys\" or \"invites\"";

// An open door faces a network only when that was said in so many words.
Expected<void> judge_openness(const ConfigReader& in, const Settings& settings) {
  if (settings.open_on_network) return {};
  for (const auto& [key, value, is_open] : {std::tuple("listen.ssh", settings.ssh, settings.ssh_access.open),
                                            std::tuple("listen.http", settings.http, true)})
    if (const auto address = parse_address(value); is_open && address && !address->is_loopback)
      return in.wrong(key, value +
                               " can be reached from a network, and everybody there could run programs here; "
                               "listen on 127.0.0.1, or say \"access\": {\"openOnNetwork\": true}" +
                               (key == std::string_view("listen.ssh") ? kOtherWays : ""));
  return {};
}

Expected<void> read_log(ConfigReader in, Settings& settings) {
  const std::string level = TRY(in.text("level", "info"));
  const auto named = severity_named(level);
  if (!named) return in.wrong("level", "allowed debug, info, warning, error");
  settings.log_level = *named;
  return in.finish();
}

Expected<std::string> read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return failure("open configuration", errno, path);
  std::string text;
  std::array<char, 16384> piece{};
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read configuration", errno, path);
    if (count == 0 || text.size() > (1u << 20)) return text;  // parse_config refuses what is too long
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Expected<Settings> read_settings(const ConfigText& text) {
  Settings settings;
  settings.policy = policy_of_this_host();
  settings.source = text.name;
  ConfigReader in(text, text.root, "");
  if (const Json* part = TRY(in.object("listen"))) TRY(read_listen(in.below(*part, "listen"), settings));
  if (const Json* part = TRY(in.object("access"))) TRY(read_access(in.below(*part, "access"), settings));
  if (const Json* part = TRY(in.object("limits"))) TRY(read_limits(in.below(*part, "limits"), settings.policy));
  if (const Json* part = TRY(in.object("host"))) TRY(read_host(in.below(*part, "host"), settings));
  if (const Json* part = TRY(in.object("principals")))
    TRY(read_principals(in.below(*part, "principals"), settings.policy.principals));
  TRY(read_require(in, settings.policy));
  settings.policy.made_ahead = TRY(in.boolean("madeAhead", settings.policy.made_ahead));
  if (const Json* part = TRY(in.object("profiles")))
    TRY(read_profiles(in.below(*part, "profiles"), *part, settings.policy.catalogue));
  if (const Json* part = TRY(in.object("log"))) TRY(read_log(in.below(*part, "log"), settings));
  TRY(in.refuse_later("languages", "a table of languages of one's own"));
  TRY(in.refuse_later("records", "signed records"));
  TRY(in.refuse_later("recordings", "recording sessions"));
  TRY(in.finish());
  TRY(judge_openness(in, settings));
  raise_run_ceilings(settings.policy);
  return settings;
}

Expected<Settings> load_settings(Privilege privilege, const std::string& named) {
  std::string path = named;
  if (path.empty()) {
    auto paths = find_paths(privilege, "/");  // the state directory does not matter here
    if (paths) path = paths->config;
    if (path.empty() || (::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))) {
      Settings settings;
      settings.policy = policy_of_this_host();
      return settings;
    }
  }
  const std::string text = TRY(read_file(path));
  return read_settings(TRY(parse_config(text, path)));
}

}  // namespace mayfly
