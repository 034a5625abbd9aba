#include "jail/cli/run_request.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "jail/cli/private_engine.h"
#include "tests/cli/temporary_directory.h"

using namespace mayfly;

namespace {

Expected<RunRequest> request_of(const RunOptions& options) { return make_run_request(options, policy_of_this_host()); }

std::string refusal(const RunOptions& options) {
  const auto made = request_of(options);
  return made ? std::string("accepted") : made.error().text();
}

RunOptions with_command() {
  RunOptions options;
  options.has_words = true;
  options.words = {"ls", "-l", "--", ""};
  return options;
}

}  // namespace

TEST_CASE("limits of the command line are those of the request") {
  RunOptions options = with_command();
  options.memory = "128M";
  options.time = "1.5";
  options.cpu_time = "500ms";
  options.cpus = "0.5";
  options.processes = "32";
  options.disk = "1M";
  options.require = "memory,cpu";
  const auto made = request_of(options);
  REQUIRE(made);
  CHECK(made->request.limits.memory_bytes == 128ull << 20);
  CHECK(made->request.limits.wall_ms == 1500u);
  CHECK(made->request.limits.cpu_ms == 500u);
  CHECK(made->request.limits.cpus == 0.5);
  CHECK(made->request.limits.processes == 32u);
  CHECK(made->request.limits.disk_bytes == 1ull << 20);
  CHECK(made->request.require.has(Control::Memory));
  CHECK(made->request.require.has(Control::Cpu));
  CHECK(made->request.origin == OriginKind::Cli);
}

TEST_CASE("an option that could have no effect is refused") {
  RunOptions options = with_command();
  options.require_given = true;  // --require "$UNSET"
  CHECK(refusal(options).find("--require: names no control") != std::string::npos);
  options = with_command();
  options.language = "python";
  CHECK(refusal(options).find("--language: needs --code or --file") != std::string::npos);
}

TEST_CASE("every word of the command is one argument, empty ones and dashes included") {
  auto made = request_of(with_command());
  REQUIRE(made);
  Request request = made->request;
  REQUIRE(made->payload.seal_into(request));
  CHECK(request.payload.size() == 4);
  for (const PayloadPart& part : request.payload) CHECK(part.kind == PayloadKind::Argument);
}

TEST_CASE("code is Python unless an option, a profile or the file's name says otherwise") {
  RunOptions options;
  options.code_given = true;
  options.code = "print(1)";
  CHECK(request_of(options)->request.language == "python");
  options.language = "python";
  CHECK(request_of(options)->request.language == "python");
  test::TemporaryDirectory directory;
  RunOptions file;
  file.file = directory.path() + "/job.py";
  std::ofstream(file.file) << "print(2)";
  CHECK(request_of(file)->request.language == "python");
}

TEST_CASE("options that exclude each other or make no sense are refused by name") {
  RunOptions both;
  both.code_given = true;
  both.file = "x.py";
  CHECK(refusal(both).find("--file") != std::string::npos);
  RunOptions nothing;
  nothing.has_words = true;
  CHECK(refusal(nothing).find("no command") != std::string::npos);
  RunOptions json = with_command();
  json.json = json.tty = true;
  CHECK(refusal(json).find("--tty") != std::string::npos);
  RunOptions require = with_command();
  require.require = "memory,,cpu";
  CHECK(refusal(require).find("--require") != std::string::npos);
  RunOptions missing;
  missing.file = "/nonexistent/file.py";
  CHECK(refusal(missing).find("--file") != std::string::npos);
}

TEST_CASE("with --json output is kept within the API's default") {
  RunOptions options = with_command();
  options.json = true;
  const auto made = request_of(options);
  REQUIRE(made);
  CHECK(made->streams == Streams::Captured);
  CHECK(made->request.limits.output_bytes == 1ull << 20);
}

TEST_CASE("what would not fit a message is refused by its option") {
  RunOptions options = with_command();
  options.words.assign(257, "x");
  CHECK(refusal(options).find("--: allowed 1..256 words, got 257") != std::string::npos);
  options.words.resize(256);
  CHECK(refusal(options) == "accepted");
  options.profile.assign(65, 'p');
  CHECK(refusal(options).find("--profile") != std::string::npos);
}
