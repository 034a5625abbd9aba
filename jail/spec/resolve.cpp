#include "jail/spec/resolve.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <set>
#include <utility>

#include "jail/spec/escape.h"
#include "jail/spec/show.h"

namespace mayfly {

namespace {

constexpr std::string_view kHome = "/home/run";
constexpr std::size_t kMaxLabel = 200;
constexpr std::size_t kMaxShownCommand = 200;
constexpr std::size_t kMaxFileName = 200;

auto refuse(std::string field, std::string why) {
  return failure("accept request", 0, std::move(field), std::move(why));
}

template <std::integral N>
std::string range_text(std::uint64_t least, std::uint64_t most, N got) {
  return "allowed " + std::to_string(least) + ".." + std::to_string(most) + ", got " + std::to_string(got);
}

// The range once more as people write it: "allowed 1048576..1073741824 (1 MiB..1 GiB), got 5".
enum class Unit : std::uint8_t { None, Time, Size };
std::string range_in(Unit unit, std::uint64_t least, std::uint64_t most) {
  const auto shown = [unit](std::uint64_t n) {
    return unit == Unit::Time ? show(Milliseconds{static_cast<std::int64_t>(n)}) : show(Bytes{n});
  };
  return unit == Unit::None ? "" : " (" + shown(least) + ".." + shown(most) + ")";
}

struct Range {
  std::string_view field;
  Unit unit;
  std::uint64_t least, most;
};

Expected<std::uint64_t> within(const Range& range, const std::optional<std::int64_t>& asked, std::uint64_t otherwise) {
  if (!asked) return otherwise;
  if (std::cmp_less(*asked, range.least) || std::cmp_greater(*asked, range.most))
    return refuse("limits." + std::string(range.field),
                  "allowed " + std::to_string(range.least) + ".." + std::to_string(range.most) +
                      range_in(range.unit, range.least, range.most) + ", got " + std::to_string(*asked));
  return static_cast<std::uint64_t>(*asked);
}

Expected<MilliCpus> resolve_cpus(const LimitRequest& asked, const LimitRange& range) {
  if (!asked.cpus) return range.defaults.cpus;
  const double least = kMinCpus.count / 1000.0;
  const double most = range.ceilings.cpus.count / 1000.0;
  // Written so that NaN fails too.
  if (!(*asked.cpus >= least && *asked.cpus <= most)) {
    char text[96];
    std::snprintf(text, sizeof text, "allowed %.2f..%.2f, got %g", least, most, *asked.cpus);
    return refuse("limits.cpus", text);
  }
  return MilliCpus{static_cast<std::uint32_t>(std::lround(*asked.cpus * 1000))};
}

// Disk is part of memory: unnamed it gives way to a small memory limit, named over half of it it is refused.
Expected<Bytes> resolve_disk(const LimitRequest& asked, const LimitRange& range, Bytes memory) {
  const std::uint64_t half = memory.count / 2;
  if (!asked.disk_bytes) return Bytes{std::min(range.defaults.disk.count, half)};
  const auto disk =
      TRY(within({"diskBytes", Unit::Size, kMinDisk.count, range.ceilings.disk.count}, asked.disk_bytes, 0));
  if (disk > half)
    return refuse("limits.diskBytes",
                  "at most half of memoryBytes, " + show(Bytes{half}) + ": " + range_text(kMinDisk.count, half, disk));
  return Bytes{disk};
}

Expected<Limits> resolve_limits(const LimitRequest& asked, const LimitRange& range) {
  Limits limits = range.defaults;
  const Limits& top = range.ceilings;
  const auto ms = [](std::uint64_t n) { return Milliseconds{static_cast<std::int64_t>(n)}; };
  const auto count = [](Milliseconds t) { return static_cast<std::uint64_t>(t.count()); };
  const Range wall{"wallMs", Unit::Time, kMinWallMs, count(top.wall)};
  const Range cpu_time{"cpuMs", Unit::Time, kMinWallMs, count(top.cpu_time)};
  const Range memory{"memoryBytes", Unit::Size, kMinMemory.count, top.memory.count};
  const Range processes{"processes", Unit::None, kMinProcesses, top.processes};
  const Range open_files{"openFiles", Unit::None, kMinOpenFiles, top.open_files};
  const Range output{"outputBytes", Unit::Size, kMinOutput, top.output_kept.count};
  limits.wall = ms(TRY(within(wall, asked.wall_ms, count(limits.wall))));
  limits.cpu_time = ms(TRY(within(cpu_time, asked.cpu_ms, count(limits.cpu_time))));
  limits.memory.count = TRY(within(memory, asked.memory_bytes, limits.memory.count));
  limits.processes = static_cast<std::uint32_t>(TRY(within(processes, asked.processes, limits.processes)));
  limits.open_files = static_cast<std::uint32_t>(TRY(within(open_files, asked.open_files, limits.open_files)));
  if (asked.output_bytes && top.output_kept.count == 0)
    return refuse("limits.outputBytes", "output is streamed here, nothing is kept");
  limits.output_kept.count = TRY(within(output, asked.output_bytes, limits.output_kept.count));
  limits.cpus = TRY(resolve_cpus(asked, range));
  limits.disk = TRY(resolve_disk(asked, range, limits.memory));
  return limits;
}

struct Parts {
  const PayloadPart* code = nullptr;
  const PayloadPart* command = nullptr;
  std::vector<const PayloadPart*> arguments;
  std::vector<const PayloadPart*> files;
};

Expected<void> judge_place(const PayloadPart& part, std::string_view field, const Request& request, Bytes most) {
  if (part.length > most.count) return refuse(std::string(field), range_text(0, most.count, part.length) + " bytes");
  if (part.offset > request.payload_bytes || part.length > request.payload_bytes - part.offset)
    return refuse(std::string(field), "lies outside the payload");
  return {};
}

Expected<void> judge_files(const std::vector<const PayloadPart*>& files) {
  if (files.size() > kMaxFileCount) return refuse("files", range_text(0, kMaxFileCount, files.size()) + " files");
  std::uint64_t total = 0;
  std::set<std::string> names;
  for (const PayloadPart* file : files) {
    TRY(judge_file_name(file->name));
    if (!names.insert(file->name).second) return refuse("files." + file->name, "named twice");
    total += file->length;
  }
  if (total > kMaxFiles.count) return refuse("files", range_text(0, kMaxFiles.count, total) + " bytes in all");
  for (const std::string& one : names)
    for (auto slash = one.find('/'); slash != std::string::npos; slash = one.find('/', slash + 1))
      if (names.contains(one.substr(0, slash)))
        return refuse("files." + one, "\"" + one.substr(0, slash) + "\" is a file and a directory at once");
  return {};
}

Expected<Parts> sort_parts(const Request& request) {
  Parts parts;
  for (const PayloadPart& part : request.payload) {
    switch (part.kind) {
      case PayloadKind::Code:
        if (parts.code) return refuse("code", "given twice");
        TRY(judge_place(part, "code", request, kMaxCode));
        parts.code = &part;
        break;
      case PayloadKind::Command:
        if (parts.command) return refuse("command", "given twice");
        TRY(judge_place(part, "command", request, Bytes{kMaxCommand.count - 1}));
        parts.command = &part;
        break;
      case PayloadKind::Argument:
        TRY(judge_place(part, "args", request, Bytes{kMaxCommand.count - 1}));
        parts.arguments.push_back(&part);
        break;
      case PayloadKind::File:
        TRY(judge_place(part, "files", request, kMaxFiles));
        parts.files.push_back(&part);
        break;
    }
  }
  if (parts.code && parts.command) return refuse("command", "code and a command exclude each other");
  if (parts.command && !parts.arguments.empty()) return refuse("args", "a command text has no arguments");
  if (parts.arguments.size() > kMaxArguments)
    return refuse("args", range_text(0, kMaxArguments, parts.arguments.size()) + " arguments");
  TRY(judge_files(parts.files));
  return parts;
}

Text own(std::string text) { return Text{false, std::move(text), 0, 0}; }
Text in_payload(const PayloadPart& part) { return Text{true, {}, part.offset, part.length}; }

void append(std::vector<Text>& argv, const std::vector<std::string>& words) {
  for (const std::string& word : words) argv.push_back(own(word));
}

// The language's file holds `source`; its argv follows, then the request's arguments.
Expected<void> run_source(Spec& spec, const Language& language, const PayloadPart& source, const Parts& parts) {
  for (const PayloadPart* file : parts.files)
    if (file->name == language.file) return refuse("files." + file->name, "this name is taken by the code itself");
  spec.files.push_back(SpecFile{language.file, source.offset, source.length, false, true});
  append(spec.argv, language.run);
  spec.argv.push_back(own(language.file));
  for (const PayloadPart* argument : parts.arguments) spec.argv.push_back(in_payload(*argument));
  return {};
}

Expected<void> resolve_argv(Spec& spec, const Profile& profile, const Language* language, const Parts& parts) {
  if (parts.code) {
    if (!language) return refuse("language", "code needs a language; profile \"" + profile.name + "\" has none");
    return run_source(spec, *language, *parts.code, parts);
  }
  if (parts.command) {
    if (language) return run_source(spec, *language, *parts.command, parts);
    append(spec.argv, profile.shell);
    spec.argv.push_back(own("-c"));
    spec.argv.push_back(in_payload(*parts.command));
    return {};
  }
  if (!parts.arguments.empty()) {
    for (const PayloadPart* argument : parts.arguments) spec.argv.push_back(in_payload(*argument));
    return {};
  }
  append(spec.argv, language ? language->interactive : profile.shell);
  return {};
}

// What is put into a jail lies in its disk bytes, in whole pages of tmpfs. Found now, before anything is built.
Expected<void> judge_room(const Spec& spec) {
  constexpr std::uint64_t kPage = 4096;
  std::uint64_t needed = 0;
  for (const SpecFile& file : spec.files) needed += (file.length + kPage - 1) / kPage * kPage;
  if (needed <= spec.limits.disk.count) return {};
  return refuse("limits.diskBytes", "code and files need " + std::to_string(needed) +
                                        " bytes in whole pages, and this run may have " +
                                        std::to_string(spec.limits.disk.count));
}

Door door_of(const Request& request, const Parts& parts) {
  if (request.origin == OriginKind::Api) return Door::Api;
  const bool interactive = request.terminal && !parts.code && !parts.command && parts.arguments.empty();
  if (request.origin == OriginKind::Cli) return interactive ? Door::Shell : Door::Run;
  return interactive ? Door::Shell : Door::Exec;
}

Expected<void> resolve_terminal(Spec& spec, const Request& request) {
  spec.environment = {"HOME=" + std::string(kHome), "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  if (!request.terminal) return {};
  const auto [size, term] = *request.terminal;
  if (size.columns < 1 || size.columns > 1000 || size.rows < 1 || size.rows > 1000)
    return refuse("terminal", "columns and rows are 1..1000");
  spec.terminal = Terminal::Wanted;
  spec.size = size;
  // An odd name is not worth a refusal: programs then meet a terminal that can do nothing special.
  spec.environment.push_back("TERM=" + (is_terminfo_name(term) ? term : std::string("dumb")));
  return {};
}

template <typename Named>
std::string names_of(const std::vector<Named>& all) {
  std::string names;
  for (const Named& one : all) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

Expected<const Language*> language_of(const Request& request, const Policy& policy, const Profile& profile) {
  const std::string& wanted = request.language.empty() ? profile.language : request.language;
  if (wanted.empty()) return nullptr;
  const Language* language = policy.catalogue.language(wanted);
  if (!language)
    return refuse("language",
                  "unknown: " + escape(wanted, 60) + "; known here: " + names_of(policy.catalogue.languages()));
  return language;
}

}  // namespace

Expected<void> judge_file_name(std::string_view name) {
  const std::string field = "files." + escape(name, 60);
  if (name.empty() || name.size() > kMaxFileName) return refuse(field, "a name has 1..200 characters");
  std::uint32_t levels = 1;
  char before = '/';
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '_' || c == '-' || c == '/';
    if (!plain) return refuse(field, "only A-Z a-z 0-9 . _ - and / are allowed");
    if (before == '/' && (c == '.' || c == '/'))
      return refuse(field, "a relative name without empty parts or leading dots is needed");
    if (c == '/') ++levels;
    before = c;
  }
  if (before == '/') return refuse(field, "ends in a slash");
  if (levels > kMaxFileLevels) return refuse(field, range_text(1, kMaxFileLevels, levels) + " levels");
  return {};
}

bool is_terminfo_name(std::string_view term) {
  if (term.empty() || term.size() > 64) return false;
  return std::ranges::all_of(term,
                             [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                      c == '-' || c == '_' || c == '+' || c == '.';
                             }) &&
         term[0] != '.' && term[0] != '-';
}

Expected<Spec> resolve(const Request& request, const Policy& policy, JailId id, std::string_view command_text) {
  const Profile* profile = policy.catalogue.profile(request.profile);
  if (!profile)
    return refuse("profile",
                  "unknown: " + escape(request.profile, 60) + "; known here: " + names_of(policy.catalogue.profiles()));
  if (request.label.size() > kMaxLabel)
    return refuse("label", range_text(0, kMaxLabel, request.label.size()) + " bytes");
  const Parts parts = TRY(sort_parts(request));
  const Language* language = TRY(language_of(request, policy, *profile));

  Spec spec;
  spec.id = id;
  spec.origin = request.origin;
  spec.door = door_of(request, parts);
  spec.peer = request.peer;
  spec.principal = request.principal;
  spec.profile = profile->name;
  spec.bind_row = profile->bind_row;
  spec.has_seed = !profile->seed.empty();
  spec.has_data = !profile->readonly.empty();
  spec.language = language ? language->name : "";
  spec.label = request.label;
  spec.command = std::string(command_text.substr(0, utf8_cut(command_text, kMaxShownCommand)));
  spec.limits = TRY(resolve_limits(request.limits, policy.range(spec.door)));
  spec.require = policy.require;
  spec.require |= request.require;
  spec.reproducible = request.reproducible;
  TRY(resolve_terminal(spec, request));
  if (spec.reproducible && language)
    for (const std::string& entry : language->reproducible_environment) spec.environment.push_back(entry);
  for (const PayloadPart* file : parts.files)
    spec.files.push_back(SpecFile{file->name, file->offset, file->length, file->executable, false});
  TRY(resolve_argv(spec, *profile, language, parts));
  TRY(judge_room(spec));

  if (request.queue_ms && *request.queue_ms > kMaxQueueMs)
    return refuse("queueMs", range_text(0, kMaxQueueMs, *request.queue_ms));
  const Milliseconds otherwise = spec.origin == OriginKind::Ssh ? kExecQueueWait : kQueueWait;
  spec.queue_wait = request.queue_ms ? Milliseconds{static_cast<std::int64_t>(*request.queue_ms)} : otherwise;
  return spec;
}

}  // namespace mayfly
