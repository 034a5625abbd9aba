#include "jail/cli/run_command.h"

#include <unistd.h>

#include <cerrno>

#include "jail/cli/config.h"
#include "jail/cli/exit_status.h"
#include "jail/cli/private_engine.h"
#include "jail/cli/terminal_mode.h"

namespace mayfly {

namespace {

// Fields of a request as the command line names them.
constexpr std::pair<std::string_view, std::string_view> kOptionNames[] = {{"limits.wallMs", "--time"},
                                                                          {"limits.cpuMs", "--cpu-time"},
                                                                          {"limits.memoryBytes", "--memory"},
                                                                          {"limits.processes", "--processes"},
                                                                          {"limits.cpus", "--cpus"},
                                                                          {"limits.diskBytes", "--disk"},
                                                                          {"profile", "--profile"},
                                                                          {"language", "--language"},
                                                                          {"code", "--code"},
                                                                          {"args", "what stands after --"}};

std::string option_name(const std::string& field) {
  for (const auto& [known, option] : kOptionNames)
    if (known == field) return std::string(option);
  return field;
}

Result result_of(const Refused& refused, const Request& request) {
  Result result;
  result.id = refused.id.empty() ? "-" : refused.id;  // refused before it had a name
  result.ending = Ending::Refused;
  result.text = refused.field.empty() ? refused.text : option_name(refused.field) + ": " + refused.text;
  result.profile = request.profile;
  result.language = request.language;
  return result;
}

Expected<void> print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write the result", errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// What is said beside the program's own output: nobody may be there to read it.
void say(std::string_view text) { (void)print(STDERR_FILENO, text); }

// The relay writes the reason line behind the program's output; in JSON the ending has a place of its own.
void drop_reason(std::string& text, const std::string& line) {
  if (text.ends_with(line + "\n")) text.resize(text.size() - line.size() - 1);
}

// No jail came in time: a switch of the kernel that may be why, which the engine, confined, cannot read.
void print_likely_cause(const std::variant<Ended, Refused>& last) {
  const auto* refused = std::get_if<Refused>(&last);
  if (refused == nullptr || refused->kind != RefusalKind::WaitedTooLong) return;
  if (const auto refusal = namespaces_refused(NamespaceSwitches::read(), engine_user(current_privilege())))
    say("mayfly: " + refusal->text() + "\n");
}

// A limit that was asked for in so many words and is held by nothing here. In JSON the controls say so.
void warn_unlimited(const Result& result, const LimitRequest& asked) {
  const auto warn = [&](bool is_asked, Control control, const char* option) {
    if (is_asked && result.controls.at(control) == Measured::Unlimited)
      say(std::string("mayfly: ") + option +
          " had no effect: this host gives us no control group; see \"mayfly doctor\", or refuse to run "
          "without with --require " +
          std::string(name(control)) + "\n");
  };
  if (result.ending == Ending::Refused) return;
  warn(asked.memory_bytes.has_value(), Control::Memory, "--memory");
  warn(asked.cpus.has_value(), Control::Cpu, "--cpus");
}

Expected<int> report(RunOutcome outcome, const Request& request, Streams streams) {
  const auto* ended = std::get_if<Ended>(&outcome.last);
  const Result result = ended != nullptr ? ended->result : result_of(std::get<Refused>(outcome.last), request);
  const std::string line = reason_line(result);
  if (streams == Streams::Captured) {
    drop_reason(outcome.captured.err, line);
    const std::string text = result_public(result, outcome.captured, "");
    const Expected<Json> tree = parse_json(text, kMaxFrameDepth);
    TRY(print(STDOUT_FILENO, (tree ? tree->dump(2) : text) + "\n"));
    return exit_status(result);
  }
  warn_unlimited(result, request.limits);
  print_likely_cause(outcome.last);
  if (outcome.quiet) {
    drop_reason(outcome.captured.err, line);
    say(outcome.captured.err);
  } else if ((result.ending != Ending::Exited || result.output_incomplete) && !outcome.reason_seen) {
    say(line + "\n");
  }
  return exit_status(result);
}

}  // namespace

Expected<int> run_privately(const RunOptions& options) {
  const Settings settings = TRY(load_settings(current_privilege(), options.config));
  RunRequest run = TRY(make_run_request(options, settings.policy));
  EngineOptions engine_options;
  engine_options.policy = settings.policy;
  engine_options.usr_local = settings.usr_local;
  PrivateEngine engine = TRY(PrivateEngine::start(engine_options));
  const Request asked = run.request;
  RunOutcome outcome = TRY(run_session(engine.client, std::move(run.request), std::move(run.payload), run.streams));
  TRY(engine.stop());
  if (outcome.gave_up) return failure("run", 0, {}, "given up at the third signal; the jail is gone");
  return report(std::move(outcome), asked, run.streams);
}

}  // namespace mayfly
