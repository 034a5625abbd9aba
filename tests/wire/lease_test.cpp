#include "jail/wire/lease.h"

#include <catch2/catch.hpp>

#include "jail/wire/monitor.h"

namespace mayfly {

namespace {

Open full_open() {
  Open open;
  open.run = 7;
  open.has_stdin = true;
  Request& request = open.request;
  request.origin = OriginKind::Ssh;
  request.peer = "127.0.0.1:5";
  request.principal = "anonymous@127.0.0.1";
  request.profile = "python";
  request.payload = {PayloadPart{PayloadKind::Code, "", 0, 5, false},
                     PayloadPart{PayloadKind::File, "a/b", 5, 2, true}};
  request.payload_bytes = 7;
  request.terminal = TerminalRequest{{120, 40}, "xterm"};
  request.limits.wall_ms = 5;
  request.limits.cpus = 0.5;
  request.require.add(Control::Memory);
  request.reproducible = true;
  request.label = "step 3";
  request.queue_ms = 100;
  return open;
}

// As a receiver reads it: duplicate keys are refused.
Json read_back(const std::string& text) {
  auto read = parse_json(text, kMaxFrameDepth);
  REQUIRE(read);
  return std::move(*read);
}

}  // namespace

TEST_CASE("what goes over the lease socket is this text") {
  CHECK(encode(FromFrontEnd(full_open())) ==
        R"({"say":"open","run":7,"stdin":true,"request":{"origin":"ssh","peer":"127.0.0.1:5",)"
        R"("principal":"anonymous@127.0.0.1","profile":"python","payload":[{"kind":"code","offset":0,"length":5},)"
        R"({"kind":"file","offset":5,"length":2,"name":"a/b","executable":true}],"payloadBytes":7,)"
        R"("terminal":{"columns":120,"rows":40,"term":"xterm"},"limits":{"wallMs":5,"cpus":0.5},)"
        R"("require":["memory"],"reproducible":true,"label":"step 3","queueMs":100}})");
  LimitRequest all{1, 2, 3, 4, 5, 6, 7, 1.5};
  Open open;
  open.run = 1;
  open.request.limits = all;
  CHECK(encode(FromFrontEnd(open))
            .find(R"("limits":{"wallMs":1,"cpuMs":2,"memoryBytes":3,"processes":4,"cpus":1.5,"diskBytes":5,)"
                  R"("openFiles":6,"outputBytes":7})") != std::string::npos);
  Host host;
  host.kernel = "6.1";
  host.root = true;
  host.cgroups = "v2";
  host.controls = {HostControl{Control::Memory, Measured::Unlimited, "no cgroup", "run as root"}};
  host.required.add(Control::Cpu);
  CHECK(encode(FromSupervisor(host)) ==
        R"({"say":"host","kernel":"6.1","root":true,"cgroups":"v2","controls":[{"control":"memory",)"
        R"("expected":"unlimited","cause":"no cgroup","fix":"run as root"}],"required":["cpu"]})");
  Result result;
  result.id = "j_x";
  result.ending = Ending::Exited;
  result.exit_code = 3;
  result.text = "exited with status 3";
  result.profile = "run";
  result.environment = {"HOME=/home/run"};
  result.label = "a b";
  const std::string none(64, '0');
  CHECK(
      encode(FromSupervisor(Ended{2, result, true}))
          .starts_with(R"({"say":"ended","run":2,"afterRunning":true,"result":{"facts":"j_x exited 3 - 0 0 - 0 run -",)"
                       R"("text":"exited with status 3","out":"0 0 )" +
                       none + R"(","err":"0 0 )" + none + R"(","metrics":"0 0 0 0 - - - -)"));
}

TEST_CASE("every message of the lease socket survives the wire") {
  const std::string open = encode(FromFrontEnd(full_open()));
  const auto read = decode_from_front_end(read_back(open));
  REQUIRE(read);
  CHECK(encode(*read) == open);
  for (const FromFrontEnd& message :
       {FromFrontEnd(Cancel{1, Ending::Disconnected}), FromFrontEnd(SignalRun{2, 15}),
        FromFrontEnd(ResizeRun{3, {80, 24}}), FromFrontEnd(AskHost{}),
        FromFrontEnd(LogIn{LoginWay::Code, "python", "k3f\"", "2001:db8::/64", "2001:db8::1"}),
        FromFrontEnd(LogIn{LoginWay::KeyOffer, "", "AAAA", "192.0.2.1", "192.0.2.1"})}) {
    const auto again = decode_from_front_end(read_back(encode(message)));
    REQUIRE(again);
    CHECK(encode(*again) == encode(message));
  }
  Result result;
  result.id = "j_x";
  result.ending = Ending::Signalled;
  result.signal_number = 11;
  result.limits_reached = {LimitReached::Disk, LimitReached::Processes};
  result.out.tail = std::string("\0\xff tail", 7);
  result.metrics.cpu.why = "no control group";
  result.metrics.memory_peak.value = Bytes{5};
  result.metrics.step_us[3] = 17;
  result.folders = {"seed", "readonly"};
  Refused refused{4, "j_y", RefusalKind::Quota, "limits.cpus", "text", 1000};
  Host host;
  host.kernel = "6.1";
  host.controls = {HostControl{Control::Memory, Measured::Unlimited, "no cgroup", "run as root"}};
  host.with_folders = {"class", "python"};
  for (const FromSupervisor& message :
       {FromSupervisor(Queued{1, "j_a", 3}), FromSupervisor(Running{1, "j_a", {}, kApiLimits.defaults}),
        FromSupervisor(refused), FromSupervisor(Ended{2, result}), FromSupervisor(host), FromSupervisor(Fault{"no"}),
        FromSupervisor(LoginJudged{true, "key:SHA256:x", "uptime; \"x\""}), FromSupervisor(LoginJudged{})}) {
    const auto again = decode_from_supervisor(read_back(encode(message)));
    REQUIRE(again);
    CHECK(encode(*again) == encode(message));
  }
}

TEST_CASE("a malformed message is refused with the name of its field") {
  const auto field = [](const char* text) {
    const auto message = decode_from_front_end(Json::parse(text));
    return message ? std::string("accepted") : message.error().subject;
  };
  CHECK(field(R"({"say":"cancel","run":1,"why":"cancelled"})") == "accepted");
  CHECK(field(R"({"say":"cancel","run":1,"why":"killed"})") == "why");
  CHECK(field(R"({"say":"cancel","run":0,"why":"cancelled"})") == "run");
  CHECK(field(R"({"say":"cancel","run":4294967296,"why":"cancelled"})") == "run");
  CHECK(field(R"({"say":"cancel","run":1,"why":"cancelled","extra":1})") == "extra");
  CHECK(field(R"({"say":"signal","run":1,"signal":65})") == "signal");
  CHECK(field(R"({"say":"resize","run":1,"columns":0,"rows":5})") == "columns");
  CHECK(field(R"({"say":"open","run":1})") == "request");
  CHECK(field(R"({"say":"kill","target":"j_x"})") == "say");
  CHECK(field(R"({"run":1})") == "say");
  Json open = read_back(encode(FromFrontEnd(full_open())));
  open["request"]["payload"][0]["kind"] = "binary";
  CHECK(decode_from_front_end(open).error().subject == "payload.kind");
  open = read_back(encode(FromFrontEnd(full_open())));
  open["request"]["require"][0] = "walls";
  CHECK(decode_from_front_end(open).error().subject == "require");
  open = read_back(encode(FromFrontEnd(full_open())));
  open["request"]["limits"]["wallSeconds"] = 1;
  CHECK(decode_from_front_end(open).error().subject == "limits.wallSeconds");
}

TEST_CASE("every message of the monitor socket survives the wire") {
  JailRow row;
  row.id = "j_a";
  row.phase = Phase::Running;
  row.pid = 42;
  row.memory_bytes = 7;
  row.processes = 0;
  const auto rows = decode_to_monitor(read_back(encode(ToMonitor(Jails{{row}, false}))));
  REQUIRE(rows);
  const JailRow& read = std::get<Jails>(*rows).rows.at(0);
  CHECK(read.memory_bytes == 7u);
  CHECK(read.processes == 0u);  // none, which is not the same as unknown
  CHECK_FALSE(read.memory_limit);
  CHECK_FALSE(read.cpu_us);
  for (const ToMonitor& message : {ToMonitor(Status{}), ToMonitor(Jails{{row}, true}), ToMonitor(Killed{2}),
                                   ToMonitor(Done{}), ToMonitor(Denied{"no"}), ToMonitor(Revoked{3}),
                                   ToMonitor(Invites{{InviteRow{"ana", "run", "k3f", 1, 2, 5}}, true}),
                                   ToMonitor(Invites{{InviteRow{"ana", "run", "", 1, 2, {}}}, false})}) {
    const auto again = decode_to_monitor(read_back(encode(message)));
    REQUIRE(again);
    CHECK(encode(*again) == encode(message));
  }
  for (const FromMonitor& message :
       {FromMonitor(AskStatus{}), FromMonitor(AskJails{}), FromMonitor(KillJails{"j_a"}), FromMonitor(Drain{}),
        FromMonitor(AskInvites{}), FromMonitor(RevokeInvite{"ana"}), FromMonitor(NewInvites{"ana", "run", 1000, 30, 2}),
        FromMonitor(NewInvites{"ana", "run", kLongestInviteMs, 1, {}})}) {
    const auto again = decode_from_monitor(read_back(encode(message)));
    REQUIRE(again);
    CHECK(encode(*again) == encode(message));
  }
}

}  // namespace mayfly
