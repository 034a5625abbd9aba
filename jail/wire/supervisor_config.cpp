#include "jail/wire/supervisor_config.h"

#include "jail/os/memfd.h"

#include <limits>
#include <tuple>

#include "jail/wire/request_json.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();

Expected<std::uint32_t> small(JsonReader& in, const char* key) {
  return static_cast<std::uint32_t>(TRY(in.number(key, 0, UINT32_MAX)));
}

Json range_json(const LimitRange& range) {
  return {{"defaults", limits_json(range.defaults)}, {"ceilings", limits_json(range.ceilings)}};
}

Expected<LimitRange> range_from(JsonReader& policy, const char* key) {
  const Json* object = TRY(policy.object(key));
  JsonReader in(*object, key);
  LimitRange range;
  range.defaults = TRY(limits_from(*TRY(in.object("defaults"))));
  range.ceilings = TRY(limits_from(*TRY(in.object("ceilings"))));
  TRY(in.finish());
  return range;
}

Json language_json(const Language& language) {
  return {{"name", language.name},       {"file", language.file},
          {"run", language.run},         {"interactive", language.interactive},
          {"version", language.version}, {"reproducibleEnvironment", language.reproducible_environment}};
}

Expected<std::vector<std::string>> words_from(JsonReader& in, const char* key) {
  std::vector<std::string> words;
  if (const Json* list = TRY(in.optional_array(key, 64)))
    for (const Json& word : *list) {
      if (!word.is_string()) return failure("read field", 0, in.path(key), "a list of strings is needed");
      words.push_back(word.get<std::string>());
    }
  return words;
}

// Without it a word of every result could not be read again (result_wire.cpp).
Expected<std::string> name_from(JsonReader& in) {
  std::string name = TRY(in.text("name", 64));
  if (!is_catalogue_name(name))
    return failure("read field", 0, in.path("name"), "a name has a-z, 0-9 and -, begins with a letter, 32 at most");
  return name;
}

Expected<Language> language_from(const Json& object) {
  JsonReader in(object, "languages");
  Language language;
  language.name = TRY(name_from(in));
  language.file = TRY(in.text("file", 64));
  language.run = TRY(words_from(in, "run"));
  language.interactive = TRY(words_from(in, "interactive"));
  language.version = TRY(words_from(in, "version"));
  language.reproducible_environment = TRY(words_from(in, "reproducibleEnvironment"));
  TRY(in.finish());
  return language;
}

Expected<Profile> profile_from(const Json& object) {
  JsonReader in(object, "profiles");
  Profile profile;
  profile.name = TRY(name_from(in));
  profile.language = TRY(in.text("language", 64));
  profile.shell = TRY(words_from(in, "shell"));
  profile.seed = TRY(in.text("seed", 4096));
  profile.readonly = TRY(in.text("readonly", 4096));
  profile.bind_row = TRY(small(in, "bindRow"));
  profile.seed_is = TRY(in.text("seedIs", 64));
  profile.readonly_is = TRY(in.text("readonlyIs", 64));
  TRY(in.finish());
  return profile;
}

Json catalogue_json(const Catalogue& catalogue) {
  Json profiles = Json::array();
  for (const Profile& profile : catalogue.profiles())
    profiles.push_back({{"name", profile.name},
                        {"language", profile.language},
                        {"shell", profile.shell},
                        {"seed", profile.seed},
                        {"readonly", profile.readonly},
                        {"bindRow", profile.bind_row},
                        {"seedIs", profile.seed_is},
                        {"readonlyIs", profile.readonly_is}});
  Json languages = Json::array();
  for (const Language& language : catalogue.languages()) languages.push_back(language_json(language));
  return {{"profiles", std::move(profiles)}, {"languages", std::move(languages)}};
}

Expected<Catalogue> catalogue_from(const Json& object) {
  JsonReader in(object, "catalogue");
  std::vector<Profile> profiles;
  if (const Json* list = TRY(in.optional_array("profiles", 64)))
    for (const Json& item : *list) profiles.push_back(TRY(profile_from(item)));
  std::vector<Language> languages;
  if (const Json* list = TRY(in.optional_array("languages", 64)))
    for (const Json& item : *list) languages.push_back(TRY(language_from(item)));
  TRY(in.finish());
  return Catalogue(std::move(profiles), std::move(languages));
}

Json host_json(const HostLimits& host) {
  return {{"memoryBytes", host.memory.count},
          {"processes", host.processes},
          {"milliCpus", host.cpus.count},
          {"apiRuns", host.api_runs},
          {"jails", host.jails}};
}

Expected<HostLimits> host_from(const Json& object) {
  JsonReader in(object, "host");
  HostLimits host;
  host.memory.count = TRY(in.number("memoryBytes", 0, kAny));
  host.processes = TRY(small(in, "processes"));
  host.cpus.count = TRY(small(in, "milliCpus"));
  host.api_runs = TRY(small(in, "apiRuns"));
  host.jails = TRY(small(in, "jails"));
  TRY(in.finish());
  return host;
}

Json principals_json(const PrincipalLimits& limits) {
  return {{"live", limits.live},
          {"queued", limits.queued},
          {"requestsPerSecond", limits.requests_per_second},
          {"burst", limits.burst},
          {"cpuSecondsPerHour", limits.cpu_seconds_per_hour}};
}

Expected<PrincipalLimits> principals_from(const Json& object) {
  JsonReader in(object, "principals");
  PrincipalLimits limits;
  limits.live = TRY(small(in, "live"));
  limits.queued = TRY(small(in, "queued"));
  limits.requests_per_second = TRY(small(in, "requestsPerSecond"));
  limits.burst = TRY(small(in, "burst"));
  limits.cpu_seconds_per_hour = TRY(small(in, "cpuSecondsPerHour"));
  TRY(in.finish());
  return limits;
}

Json access_json(const SshAccess& access) {
  return {{"open", access.open},
          {"keys", access.keys},
          {"invites", access.invites},
          {"authorizedKeys", access.authorized_keys}};
}

Expected<SshAccess> access_from(const Json& object) {
  JsonReader in(object, "access");
  SshAccess access;
  access.open = TRY(in.boolean("open", false));
  access.keys = TRY(in.boolean("keys", false));
  access.invites = TRY(in.boolean("invites", false));
  access.authorized_keys = TRY(in.text("authorizedKeys", 4096));
  TRY(in.finish());
  return access;
}

Json policy_json(const Policy& policy) {
  return {{"api", range_json(policy.api)},
          {"exec", range_json(policy.exec)},
          {"shell", range_json(policy.shell)},
          {"runCommand", range_json(policy.run)},
          {"host", host_json(policy.host)},
          {"principals", principals_json(policy.principals)},
          {"require", control_set_json(policy.require)},
          {"queueTotal", policy.queue_total},
          {"madeAhead", policy.made_ahead},
          {"catalogue", catalogue_json(policy.catalogue)},
          {"processors", policy.processors}};
}

Expected<Policy> policy_from(const Json& object) {
  JsonReader in(object, "policy");
  Policy policy;
  policy.api = TRY(range_from(in, "api"));
  policy.exec = TRY(range_from(in, "exec"));
  policy.shell = TRY(range_from(in, "shell"));
  policy.run = TRY(range_from(in, "runCommand"));
  policy.host = TRY(host_from(*TRY(in.object("host"))));
  policy.principals = TRY(principals_from(*TRY(in.object("principals"))));
  const Json* require = TRY(in.optional_array("require", kControlCount));
  if (!require) return failure("read field", 0, "policy.require", "is missing");
  policy.require = TRY(control_set_from(*require, "policy.require"));
  policy.queue_total = TRY(small(in, "queueTotal"));
  policy.made_ahead = TRY(in.boolean("madeAhead", true));
  policy.catalogue = TRY(catalogue_from(*TRY(in.object("catalogue"))));
  policy.processors = TRY(small(in, "processors"));
  TRY(in.finish());
  return policy;
}

// The builder has opened them when it started.
bool has_same_folders(const Catalogue& one, const Catalogue& other) {
  const auto folders = [](const Catalogue& catalogue) {
    using Row = std::tuple<std::string, std::string, std::string, std::uint32_t, std::string, std::string>;
    std::vector<Row> rows;
    for (const Profile& profile : catalogue.profiles())
      if (profile.has_folders())
        rows.emplace_back(profile.name, profile.seed, profile.readonly, profile.bind_row, profile.seed_is,
                          profile.readonly_is);
    return rows;
  };
  return folders(one) == folders(other);
}

constexpr std::uint64_t kMostConfigBytes = 4u << 20;

}  // namespace

std::string take_settings(SupervisorConfig& running, SupervisorConfig fresh) {
  std::string others;
  const auto compare = [&others](const char* key, bool differs) {
    if (differs) others += (others.empty() ? "" : ", ") + std::string(key);
  };
  Policy& policy = running.policy;
  compare("access", fresh.access != running.access);
  compare("host", host_json(fresh.policy.host) != host_json(policy.host));
  compare("require", fresh.policy.require != policy.require);
  compare("madeAhead", fresh.policy.made_ahead != policy.made_ahead);
  compare("log", fresh.log_level != running.log_level);
  policy.api = fresh.policy.api;
  policy.exec = fresh.policy.exec;
  policy.shell = fresh.policy.shell;
  policy.run = fresh.policy.run;
  policy.principals = fresh.policy.principals;
  policy.queue_total = fresh.policy.queue_total;
  const bool same_folders = has_same_folders(policy.catalogue, fresh.policy.catalogue);
  compare("profiles (seed and readonly)", !same_folders);
  if (same_folders) policy.catalogue = std::move(fresh.policy.catalogue);
  return others;
}

Expected<SupervisorConfig> read_supervisor_config(const Fd& memfd) {
  TRY(sealed_size(memfd, kMostConfigBytes));
  return decode_supervisor_config(TRY(parse_json(TRY(read_whole(memfd, kMostConfigBytes)), 16)));
}

Json encode(const SupervisorConfig& config) {
  return {{"instance", config.instance},
          {"runDirectory", config.run_directory},
          {"rootless", config.rootless},
          {"privateEngine", config.private_engine},
          {"uidBase", config.uid_base},
          {"useCgroups", config.use_cgroups},
          {"version", config.version},
          {"logLevel", name(config.log_level)},
          {"stateDirectory", config.state_directory},
          {"ssh", config.ssh},
          {"http", config.http},
          {"hostKey", config.host_key},
          {"access", access_json(config.access)},
          {"policy", policy_json(config.policy)}};
}

Expected<SupervisorConfig> decode_supervisor_config(const Json& body) {
  JsonReader in(body, "");
  SupervisorConfig config;
  config.instance = TRY(in.text("instance", 40));
  config.run_directory = TRY(in.text("runDirectory", 4096));
  config.rootless = TRY(in.boolean("rootless", false));
  config.private_engine = TRY(in.boolean("privateEngine", false));
  config.uid_base = TRY(small(in, "uidBase"));
  config.use_cgroups = TRY(in.boolean("useCgroups", true));
  config.version = TRY(in.text("version", 40));
  const auto level = severity_named(TRY(in.text("logLevel", 8)));
  if (!level) return failure("read field", 0, "logLevel", "debug, info, warning or error is needed");
  config.log_level = *level;
  config.state_directory = TRY(in.text("stateDirectory", 4096));
  config.ssh = TRY(in.text("ssh", 64));
  config.http = TRY(in.text("http", 64));
  config.host_key = TRY(in.text("hostKey", 64));
  config.access = TRY(access_from(*TRY(in.object("access"))));
  config.policy = TRY(policy_from(*TRY(in.object("policy"))));
  TRY(in.finish());
  return config;
}

}  // namespace mayfly
