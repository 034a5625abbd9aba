// mayfly-bench-engine: the engine alone, without ssh or HTTP before it.
//   mayfly-bench-engine serve [--no-ahead] [--send FILE] CMD...   each line on stdin: one new jail, `MICROSECONDS RC`
//   mayfly-bench-engine hold N [--send FILE] CMD...               N live jails, `ready`, demolished at end of input
// --send FILE puts FILE into each jail as /home/run/program (an executable that the host has outside /usr).
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>

#include "jail/cli/private_engine.h"
#include "tests/bench/resident_run.h"

namespace {

using namespace mayfly;

struct Options {
  std::string mode;
  std::size_t count = 0;
  bool made_ahead = true;
  bool profile = false;
  bench::Order order;
};

int usage() {
  std::cerr << "usage: mayfly-bench-engine serve [--no-ahead] [--steps] [--send FILE] CMD...\n"
               "       mayfly-bench-engine hold N [--send FILE] CMD...\n";
  return 125;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  int at = 1;
  if (at < argc) options.mode = argv[at++];
  if (options.mode == "hold") {
    if (at == argc) return std::nullopt;
    const std::string_view text = argv[at++];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.count);
    if (error != std::errc() || end != text.data() + text.size() || options.count == 0) return std::nullopt;
  } else if (options.mode != "serve") {
    return std::nullopt;
  }
  for (; at < argc && std::string_view(argv[at]).starts_with("--"); ++at) {
    const std::string_view flag = argv[at];
    if (flag == "--no-ahead")
      options.made_ahead = false;
    else if (flag == "--steps")
      options.profile = true;
    else if (flag == "--send" && at + 1 < argc) {
      std::ifstream file(argv[++at], std::ios::binary);
      options.order.program.assign(std::istreambuf_iterator<char>(file), {});
      if (options.order.program.empty()) return std::nullopt;
    } else
      return std::nullopt;
  }
  for (; at < argc; ++at) options.order.argv.emplace_back(argv[at]);
  if (options.order.argv.empty()) return std::nullopt;
  return options;
}

void print_steps(const Result& result) {
  std::cerr << "build=" << result.metrics.build.count() << " wall=" << result.metrics.wall.count()
            << " closed=" << result.metrics.closed.count();
  for (std::size_t step = 1; step < kStepCount; ++step)
    std::cerr << ' ' << name(static_cast<Step>(step)) << '=' << result.metrics.step_us[step];
  std::cerr << '\n';
}

Expected<void> serve(PrivateEngine& engine, const Options& options) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto timed = TRY(bench::run_once(engine.client, options.order));
    std::cout << timed.time.count() << ' ' << timed.status << std::endl;
    if (options.profile) print_steps(timed.result);
  }
  return {};
}

Expected<void> hold(PrivateEngine& engine, const Options& options) {
  std::vector<bench::Held> held;
  for (std::size_t i = 0; i < options.count; ++i) held.push_back(TRY(bench::hold_one(engine.client, options.order)));
  std::cout << "ready" << std::endl;
  std::string line;
  // Each line times one more jail beside those that are held (P84).
  while (std::getline(std::cin, line)) {
    const auto timed = TRY(bench::run_once(engine.client, {{"/bin/true"}, {}}));
    std::cout << timed.time.count() << ' ' << timed.status << std::endl;
  }
  return {};
}

Expected<void> run(const Options& options) {
  EngineOptions engine_options;
  engine_options.made_ahead = options.made_ahead;
  engine_options.policy.made_ahead = options.made_ahead;
  PrivateEngine engine = TRY(PrivateEngine::start(engine_options));
  if (options.mode == "serve")
    TRY(serve(engine, options));
  else
    TRY(hold(engine, options));
  return engine.stop();
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) return usage();
  if (const auto done = run(*options); !done) {
    std::cerr << "mayfly-bench-engine: " << done.error().text() << '\n';
    return 125;
  }
  return 0;
}
