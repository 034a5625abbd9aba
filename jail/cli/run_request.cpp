#include "jail/cli/run_request.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <utility>

#include "jail/cli/terminal_mode.h"
#include "jail/cli/units_text.h"
#include "jail/spec/escape.h"
#include "jail/spec/limits.h"
#include "jail/spec/resolve.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kKeptForJson = (1_mib).count;  // as the API keeps by default

auto refuse(std::string option, std::string why) { return failure("use option", 0, std::move(option), std::move(why)); }

// The whole of a file, a pipe or, for "-", standard input.
Expected<std::string> read_code(const std::string& path) {
  Fd opened;
  if (path != "-") {
    opened = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return failure("open file of --file", errno, escape(path));
  }
  const int from = path == "-" ? STDIN_FILENO : opened.get();
  std::string code;
  std::array<char, 65536> piece{};
  for (;;) {
    const ssize_t count = ::read(from, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read file of --file", errno, escape(path));
    if (count == 0) return code;
    code.append(piece.data(), static_cast<std::size_t>(count));
    if (code.size() > kMaxCode.count) return refuse("--file", "code is at most 1 MiB");
  }
}

Expected<ControlSet> parse_controls(const std::string& list) {
  ControlSet set;
  std::size_t at = 0;
  while (at <= list.size() && !list.empty()) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, comma - at);
    const std::optional<Control> control = control_named(word);
    if (!control)
      return refuse("--require", "\"" + escape(word, 60) + "\" is no control; see mayfly doctor for their names");
    set.add(*control);
    at = comma + 1;
  }
  return set;
}

// The parsers stop below 2^63 where a unit follows; a bare count may be larger, and is too large for every limit.
std::int64_t as_asked(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, std::numeric_limits<std::int64_t>::max()));
}

Expected<LimitRequest> parse_limits(const RunOptions& options) {
  LimitRequest limits;
  if (!options.memory.empty()) limits.memory_bytes = as_asked(TRY(parse_size(options.memory)));
  if (!options.disk.empty()) limits.disk_bytes = as_asked(TRY(parse_size(options.disk)));
  if (!options.time.empty()) limits.wall_ms = as_asked(TRY(parse_duration_ms(options.time)));
  if (!options.cpu_time.empty()) limits.cpu_ms = as_asked(TRY(parse_duration_ms(options.cpu_time)));
  if (!options.cpus.empty()) limits.cpus = TRY(parse_cpus(options.cpus));
  if (!options.processes.empty()) limits.processes = as_asked(TRY(parse_count(options.processes)));
  if (options.json) limits.output_bytes = as_asked(kKeptForJson);
  return limits;
}

// Which language the code is in: as asked, as the profile says, as the file's ending says, else python as in the API.
std::string language_of_code(const RunOptions& options, const Policy& policy) {
  if (!options.language.empty()) return options.language;
  const Profile* profile = policy.catalogue.profile(options.profile);
  if (profile != nullptr && !profile->language.empty()) return profile->language;
  const std::size_t dot = options.file.rfind('.');
  if (dot != std::string::npos)
    for (const Language& language : policy.catalogue.languages())
      if (language.file.ends_with(options.file.substr(dot))) return language.name;
  return "python";
}

// Longer ones would not fit a message to the supervisor, whose own words name fields, not options.
Expected<void> judge_lengths(const RunOptions& options) {
  constexpr std::size_t most = 64;
  for (const auto& [option, value] :
       {std::pair("--profile", &options.profile), std::pair("--language", &options.language)})
    if (value->size() > most) return refuse(option, "at most 64 bytes");
  if (options.words.size() > kMaxArguments)
    return refuse(
        "--", "allowed 1.." + std::to_string(kMaxArguments) + " words, got " + std::to_string(options.words.size()));
  return {};
}

Expected<void> add_work(RunRequest& run, const RunOptions& options, const Policy& policy) {
  const bool has_code = options.code_given || !options.file.empty();
  if (options.code_given && !options.file.empty()) return refuse("--file", "--code and --file exclude each other");
  if (!options.language.empty() && !has_code && !options.words.empty())
    return refuse("--language", "needs --code or --file: what stands after -- is a command");
  if (options.has_words && !has_code && options.words.empty()) return refuse("--", "no command stands after it");
  if (has_code) {
    run.request.language = language_of_code(options, policy);
    const std::string code = options.file.empty() ? options.code : TRY(read_code(options.file));
    run.payload.add(PayloadKind::Code, code);
  }
  for (const std::string& word : options.words) run.payload.add(PayloadKind::Argument, word);
  return {};
}

Expected<Streams> choose_streams(const RunOptions& options) {
  const bool nothing_to_run = options.words.empty() && !options.code_given && options.file.empty();
  const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  if (options.json && options.tty) return refuse("--tty", "not together with --json");
  if (options.tty && !terminal) return refuse("--tty", "standard input and output are not a terminal");
  if (options.json) return Streams::Captured;
  return options.tty || (nothing_to_run && terminal) ? Streams::Terminal : Streams::Through;
}

}  // namespace

Expected<RunRequest> make_run_request(const RunOptions& options, const Policy& policy) {
  TRY(judge_lengths(options));
  RunRequest run;
  run.request.origin = OriginKind::Cli;
  run.request.principal = "uid " + std::to_string(::getuid());
  run.request.profile = !options.profile.empty() ? options.profile : "run";
  run.request.language = options.language;
  run.request.reproducible = options.reproducible;
  run.request.limits = TRY(parse_limits(options));
  if (options.require_given && options.require.empty())
    return refuse("--require", "names no control; see mayfly doctor for their names");
  run.request.require = TRY(parse_controls(options.require));
  run.streams = TRY(choose_streams(options));
  if (run.streams == Streams::Terminal) {
    const char* term = std::getenv("TERM");
    run.request.terminal =
        TerminalRequest{terminal_size(STDIN_FILENO), term != nullptr && is_terminfo_name(term) ? term : "dumb"};
  }
  TRY(add_work(run, options, policy));
  return run;
}

}  // namespace mayfly
