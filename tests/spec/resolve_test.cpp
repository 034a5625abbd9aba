#include "jail/spec/resolve.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace mayfly {

namespace {

Request code_request() {
  Request request;
  request.origin = OriginKind::Api;
  request.profile = "python";
  request.payload = {PayloadPart{PayloadKind::Code, "", 0, 8, false}};
  request.payload_bytes = 8;
  return request;
}

Expected<Spec> resolved(const Request& request) { return resolve(request, Policy{}, JailId{}, "print(1)"); }

std::string field_refused(const Request& request) {
  const auto spec = resolved(request);
  return spec ? "accepted" : spec.error().subject;
}

PayloadPart file_part(std::string file_name, std::uint64_t length = 0) {
  return PayloadPart{PayloadKind::File, std::move(file_name), 0, length, false};
}

}  // namespace

TEST_CASE("code of a language becomes a file in the home directory and its interpreter's argument") {
  const auto spec = resolved(code_request());
  REQUIRE(spec);
  CHECK(spec->door == Door::Api);
  REQUIRE(spec->files.size() == 1);
  CHECK(spec->files[0].name == "main.py");
  REQUIRE(spec->argv.size() == 2);
  CHECK(spec->argv[0].own == "/usr/bin/python3");
  CHECK(spec->argv[1].own == "main.py");
  CHECK(spec->limits == kApiLimits.defaults);
  CHECK(spec->environment ==
        std::vector<std::string>{"HOME=/home/run", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"});
}

TEST_CASE("a jail knows the folders of its profile, and which of its files is the code") {
  Policy policy;
  policy.catalogue = Catalogue(
      {Profile{"python", "python", {}, "/srv/seed", "", 1}, Profile{"data", "python", {}, "", "/srv/data", 2}},
      Catalogue::built_in().languages());
  Request request = code_request();
  request.payload.push_back(file_part("data.csv"));
  const auto seeded = resolve(request, policy, JailId{}, "print(1)");
  REQUIRE(seeded);
  CHECK((seeded->has_seed && !seeded->has_data));
  REQUIRE(seeded->files.size() == 2);
  CHECK((!seeded->files[0].is_code && seeded->files[1].is_code));
  request.profile = "data";
  const auto with_data = resolve(request, policy, JailId{}, "print(1)");
  REQUIRE(with_data);
  CHECK((!with_data->has_seed && with_data->has_data));
}

TEST_CASE("a command goes to the shell whole, as one argument") {
  Request request;
  request.origin = OriginKind::Ssh;
  request.payload = {PayloadPart{PayloadKind::Command, "", 0, 5, false}};
  request.payload_bytes = 5;
  const auto spec = resolved(request);
  REQUIRE(spec);
  CHECK(spec->door == Door::Exec);
  REQUIRE(spec->argv.size() == 3);
  CHECK(spec->argv[1].own == "-c");
  CHECK(spec->argv[2].in_payload);
  CHECK(spec->argv[2].length == 5);
}

TEST_CASE("a terminal without a command is a shell, with its idle limit and TERM") {
  Request request;
  request.origin = OriginKind::Ssh;
  request.terminal = TerminalRequest{{100, 30}, "xterm-256color"};
  const auto spec = resolved(request);
  REQUIRE(spec);
  CHECK(spec->door == Door::Shell);
  CHECK(spec->limits.idle == 15_min);
  CHECK(spec->environment.back() == "TERM=xterm-256color");
  request.terminal->term = "../../etc/passwd";
  CHECK(resolved(request)->environment.back() == "TERM=dumb");
}

TEST_CASE("a limit outside its range is refused by name and never clamped", "[P06]") {
  const auto with = [](auto member, std::int64_t value) {
    Request request = code_request();
    request.limits.*member = value;
    return field_refused(request);
  };
  CHECK(with(&LimitRequest::wall_ms, 0) == "limits.wallMs");
  CHECK(with(&LimitRequest::wall_ms, 60'001) == "limits.wallMs");
  CHECK(with(&LimitRequest::wall_ms, 60'000) == "accepted");
  CHECK(with(&LimitRequest::cpu_ms, std::numeric_limits<std::int64_t>::max()) == "limits.cpuMs");
  CHECK(with(&LimitRequest::memory_bytes, 1) == "limits.memoryBytes");
  CHECK(with(&LimitRequest::memory_bytes, (1ll << 30) + 1) == "limits.memoryBytes");
  CHECK(with(&LimitRequest::memory_bytes, -1) == "limits.memoryBytes");
  CHECK(with(&LimitRequest::wall_ms, std::numeric_limits<std::int64_t>::min()) == "limits.wallMs");
  CHECK(with(&LimitRequest::processes, 257) == "limits.processes");
  CHECK(with(&LimitRequest::processes, 1) == "limits.processes");
  CHECK(with(&LimitRequest::open_files, 1025) == "limits.openFiles");
  CHECK(with(&LimitRequest::disk_bytes, 512ll << 20) == "limits.diskBytes");  // over half of the memory
  CHECK(with(&LimitRequest::output_bytes, (8ll << 20) + 1) == "limits.outputBytes");
  CHECK(with(&LimitRequest::output_bytes, 0) == "limits.outputBytes");
}

TEST_CASE("a refused limit comes with its range, in its unit and as people write it") {
  const auto words = [](auto member, std::int64_t value) {
    Request request = code_request();
    request.limits.*member = value;
    return resolved(request).error().why;
  };
  CHECK(words(&LimitRequest::wall_ms, -7) == "allowed 10..60000 (10 ms..1 min), got -7");
  CHECK(words(&LimitRequest::memory_bytes, 5) == "allowed 8388608..1073741824 (8 MiB..1 GiB), got 5");
  CHECK(words(&LimitRequest::processes, 0) == "allowed 2..256, got 0");
}

TEST_CASE("code and files that the jail has no room for are refused before anything is built") {
  Request request = code_request();
  request.limits.disk_bytes = 1 << 20;
  request.payload_bytes = 1 << 20;
  request.payload.push_back(file_part("data", (1 << 20) - 4096));
  CHECK(field_refused(request) == "accepted");  // one page for the eight bytes of code
  request.payload.back().length += 1;
  CHECK(field_refused(request) == "limits.diskBytes");
  request.limits.disk_bytes = 2 << 20;
  CHECK(field_refused(request) == "accepted");
}

TEST_CASE("no processor share can be talked into being unlimited") {
  for (const double share : {0.0, -1.0, 2.01, 1e300, std::nan(""), HUGE_VAL}) {
    Request request = code_request();
    request.limits.cpus = share;
    CHECK(field_refused(request) == "limits.cpus");
  }
  Request request = code_request();
  request.limits.cpus = 0.5;
  CHECK(resolved(request)->limits.cpus.count == 500);
}

TEST_CASE("an unnamed disk limit gives way to a small memory limit") {
  Request request = code_request();
  request.limits.memory_bytes = 32ull << 20;
  CHECK(resolved(request)->limits.disk == 16_mib);
}

TEST_CASE("a file name that could leave the home directory is refused") {
  for (const char* bad : {"", ".", "..", "../a", "/a", "a/../b", "a//b", "a/", ".hidden", "a/.b", "a/b/c/d/e", "a b",
                          "a\nb", "caf\xc3\xa9"})
    CHECK_FALSE(judge_file_name(bad));
  CHECK_FALSE(judge_file_name(std::string_view("a\0b", 3)));
  CHECK_FALSE(judge_file_name(std::string(201, 'a')));
  for (const char* good : {"a", "data.csv", "a/b/c/d.txt", "A-1_2.x"}) CHECK(judge_file_name(good));
}

TEST_CASE("files that collide with each other or with the code are refused") {
  Request request = code_request();
  request.payload.push_back(file_part("main.py"));
  CHECK(field_refused(request) == "files.main.py");
  request.payload.back() = file_part("a");
  request.payload.push_back(file_part("a/b"));
  CHECK(field_refused(request) == "files.a/b");
  request.payload.back() = file_part("a");
  CHECK(field_refused(request) == "files.a");
}

TEST_CASE("payload parts must lie within the payload") {
  Request request = code_request();
  request.payload[0].offset = 1;
  CHECK(field_refused(request) == "code");
  request.payload[0].offset = std::numeric_limits<std::uint64_t>::max();
  CHECK(field_refused(request) == "code");
}

TEST_CASE("too many files or arguments, and too much of them, are refused") {
  Request request = code_request();
  for (std::uint32_t i = 0; i <= kMaxFileCount; ++i) request.payload.push_back(file_part("f" + std::to_string(i)));
  CHECK(field_refused(request) == "files");
  request = code_request();
  for (std::uint32_t i = 0; i <= kMaxArguments; ++i)
    request.payload.push_back(PayloadPart{PayloadKind::Argument, "", 0, 0, false});
  CHECK(field_refused(request) == "args");
}

TEST_CASE("an unknown profile or language is named, with those that are known") {
  Request request = code_request();
  request.language = "cobol";
  CHECK(field_refused(request) == "language");
  CHECK(resolved(request).error().why == "unknown: cobol; known here: python");
  request.profile = "root";
  CHECK(field_refused(request) == "profile");
  CHECK(resolved(request).error().why == "unknown: root; known here: run, python");
}

TEST_CASE("a reproducible run gets the constants of its language and lists them") {
  Request request = code_request();
  request.reproducible = true;
  CHECK(resolved(request)->environment.back() == "PYTHONHASHSEED=0");
}

}  // namespace mayfly
