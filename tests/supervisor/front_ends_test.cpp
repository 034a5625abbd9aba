// Front ends and the supervisor: who may say what, and what becomes of who does not keep to it.
#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "jail/os/memfd.h"
#include "jail/supervisor/intake.h"
#include "jail/wire/monitor.h"
#include "tests/fakes/played_service.h"

using namespace mayfly;
using namespace mayfly::played;

namespace {

std::string open_frame(const std::string& more = "") {
  Open open;
  open.run = 1;
  open.request = exec_request();
  open.request.payload = {PayloadPart{PayloadKind::Command, "", 0, 4, false}};
  open.request.payload_bytes = 4;
  Json frame = Json::parse(encode(FromFrontEnd{open}));
  if (!more.empty()) frame[more] = 1;
  return frame.dump();
}

}  // namespace

TEST_CASE("two numbered runs on one connection end apart, each with its own jail") {
  PlayedEngine engine;
  CHECK(engine.open(engine.client(), exec_request()) == 1);
  PlayedJail first = engine.take_jail();
  CHECK(engine.open(engine.client(), exec_request()) == 2);
  PlayedJail second = engine.take_jail();
  CHECK(first.plan.slot != second.plan.slot);
  first.run();
  second.run();
  CHECK(engine.next_as<Running>(engine.client()).run == 1);
  CHECK(engine.next_as<Running>(engine.client()).run == 2);
  second.exit_with(2);
  second.drain();
  CHECK(engine.next_as<Ended>(engine.client()).result.exit_code == 2);
  CHECK_FALSE(first.init.is_dead());
  end_well(first);
  CHECK(engine.next_as<Ended>(engine.client()).run == 1);
}

TEST_CASE("a slot is used again only after it was released and its relay is gone") {
  PlayedEngine engine;
  const auto one = [&](bool release) {
    engine.open(engine.client(), exec_request());
    PlayedJail jail = engine.take_jail();
    jail.run();
    jail.exit_with(0);
    jail.drain();
    jail.finish();
    engine.next_as<Running>(engine.client());
    engine.next_as<Ended>(engine.client());
    if (release) jail.say_released();
    jail.relay_exits();
    engine.client().ask_host();  // an answer means that what came before was taken
    engine.next_as<Host>(engine.client());
    return jail.plan.slot;
  };
  const std::uint32_t first = one(false);
  const std::uint32_t second = one(true);
  CHECK(second != first);
  CHECK(one(true) == second);
}

TEST_CASE("an unknown field is named, and the connection is closed") {
  PlayedEngine engine;
  RawPeer peer{std::move(engine.private_lease)};
  peer.send(open_frame("surprise"));
  const Json fault = peer.next();
  CHECK(fault.dump().find("surprise") != std::string::npos);
  peer.await_close();
}

TEST_CASE("frames that nobody may send close the connection: nonsense, wrong descriptors, unsealed payloads") {
  const Fd sealed = std::move(*make_sealed_memfd("test", "true"));
  const Fd longer = std::move(*make_sealed_memfd("test", "true and more"));
  const Fd unsealed(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::write(unsealed.get(), "true", 4) == 4);
  const RunStreams streams = std::move(*make_run_streams(WithStderr::Yes, WithStdin::No));
  const int out = streams.peer.out.get(), err = streams.peer.err.get();
  const std::pair<std::string, std::vector<int>> rows[] = {
      {"{", {}},
      {"[]", {}},
      {R"({"say":"cancel","run":1,"run":1})", {}},
      {open_frame(), {}},
      {open_frame(), {out, err}},
      {open_frame(), {out, err, unsealed.get()}},
      {open_frame(), {out, err, longer.get()}},
      {open_frame(), {out, err, sealed.get(), sealed.get()}},
      {encode(FromFrontEnd{Cancel{7, Ending::Cancelled}}), {}},  // a run that never was
      {encode(FromMonitor{AskStatus{}}), {}},
  };
  for (const auto& [text, fds] : rows) {
    CAPTURE(text, fds.size());
    PlayedEngine engine;
    RawPeer peer{std::move(engine.private_lease)};
    peer.send(text, fds);
    peer.await_close();
    CHECK_FALSE(engine.has_plan());
  }
}

TEST_CASE("a front end speaks for its own kind alone") {
  Service service;
  SupervisorClient api = service.client(Role::Api);
  service.engine.open(api, exec_request(OriginKind::Ssh));
  CHECK(service.engine.next_as<Fault>(api).text.find("origin") != std::string::npos);
  CHECK_FALSE(service.engine.has_plan());
}

TEST_CASE("who was not announced, or has another uid than announced, is not served") {
  Service service;
  RawPeer stranger{*connect_to(std::string(service.directory) + "/lease.sock")};
  stranger.await_close();
  service.engine.announce(Role::Api, ::geteuid() + 1);
  RawPeer other{*connect_to(std::string(service.directory) + "/lease.sock")};
  other.await_close();
}

TEST_CASE("SSH speaks for nobody before its login, and afterwards for him alone", "[P41]") {
  const LogIn login{LoginWay::None, "run", "", "192.0.2.1", "192.0.2.1"};
  Service service;
  const auto opens = [&](Request request, bool logs_in) {
    SupervisorClient ssh = service.client(Role::Ssh);
    if (logs_in) REQUIRE(ssh.log_in(login, 5_s));
    service.engine.open(ssh, std::move(request));
    try {
      for (;;)
        if (const auto fault = service.engine.next_as<Fault>(ssh); !fault.text.empty()) return fault.text;
    } catch (const std::exception&) {
      return std::string("taken");
    }
  };
  Request good = exec_request(OriginKind::Ssh);
  good.principal = "anonymous@192.0.2.1";
  CHECK(opens(good, false).find("not permitted") != std::string::npos);
  Request other = good;
  other.principal = "invite:ana";
  CHECK(opens(other, true).find("principal") != std::string::npos);
  other = good;
  other.profile = "python";
  CHECK(opens(other, true).find("profile") != std::string::npos);
}

TEST_CASE("a key's command is all that its connection may run", "[P41]") {
  const Identity identity{"run", "key:SHA256:x", "uptime", {}};
  using Part = std::pair<PayloadKind, const char*>;
  const auto is_taken = [&](const std::vector<Part>& parts) {
    Open open;
    open.run = 1;
    open.request.origin = OriginKind::Ssh;
    open.request.principal = identity.principal;
    PayloadBuilder payload;
    for (const auto& [kind, text] : parts) payload.add(kind, text);
    Fd sealed = *payload.seal_into(open.request);
    RunStreams streams = *make_run_streams(WithStderr::Yes, WithStdin::No);
    std::vector<Fd> fds;
    fds.push_back(std::move(streams.peer.out));
    fds.push_back(std::move(streams.peer.err));
    if (sealed) fds.push_back(std::move(sealed));
    return take_in(std::move(open), std::move(fds), Role::Ssh, &identity, Policy{}).has_value();
  };
  CHECK(is_taken({{PayloadKind::Command, "uptime"}}));
  CHECK_FALSE(is_taken({}));  // a shell
  for (const char* other : {"", "uptim", "uptime ", "uptime; id", "id"})
    CHECK_FALSE(is_taken({{PayloadKind::Command, other}}));
  CHECK_FALSE(is_taken({{PayloadKind::Code, "uptime"}}));
  CHECK_FALSE(is_taken({{PayloadKind::Argument, "uptime"}}));
  CHECK_FALSE(is_taken({{PayloadKind::Command, "uptime"}, {PayloadKind::File, "uptime"}}));
}

TEST_CASE("one login to a connection, and only SSH has any", "[P41]") {
  const LogIn login{LoginWay::None, "run", "", "192.0.2.1", "192.0.2.1"};
  Service service;
  SupervisorClient ssh = service.client(Role::Ssh);
  const auto nobody = ssh.log_in({LoginWay::None, "nobody", "", "192.0.2.1", "192.0.2.1"}, 5_s);
  REQUIRE(nobody);
  CHECK_FALSE(nobody->good);
  const auto offer = ssh.log_in({LoginWay::KeyOffer, "run", "AAAA", "192.0.2.1", "192.0.2.1"}, 5_s);
  REQUIRE(offer);
  CHECK(offer->good);
  CHECK(offer->principal.empty());  // a question lets nobody in
  const auto run = ssh.log_in(login, 5_s);
  REQUIRE(run);
  CHECK(run->principal == "anonymous@192.0.2.1");
  CHECK_FALSE(ssh.log_in(login, 5_s));
  SupervisorClient api = service.client(Role::Api);
  CHECK_FALSE(api.log_in(login, 5_s));
}

TEST_CASE("a late word about a run that has just ended is dropped in silence") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail jail = engine.take_jail();
  jail.run();
  end_well(jail);
  engine.next_as<Running>(engine.client());
  engine.next_as<Ended>(engine.client());
  REQUIRE(engine.client().cancel(1, Ending::Cancelled));
  REQUIRE(engine.client().ask_host());
  CHECK(engine.next_as<Host>(engine.client()).kernel == "played 5");
}

TEST_CASE("a limit over its ceiling is refused with the field and the range") {
  PlayedEngine engine;
  Request request = exec_request();
  request.limits.wall_ms = 100'000'000'000;
  engine.open(engine.client(), std::move(request));
  const Refused refused = engine.next_as<Refused>(engine.client());
  CHECK(refused.kind == RefusalKind::BadRequest);
  CHECK(refused.field == "limits.wallMs");
  CHECK(refused.text.find("600000") != std::string::npos);
}

TEST_CASE("an unknown profile is refused as such") {
  PlayedEngine engine;
  Request request = exec_request();
  request.profile = "nobody";
  engine.open(engine.client(), std::move(request));
  CHECK(engine.next_as<Refused>(engine.client()).kind == RefusalKind::UnknownProfile);
}

TEST_CASE("a front end that disconnects takes its jails with it, and no others") {
  Service service;
  auto leaving = std::make_unique<SupervisorClient>(service.client());
  SupervisorClient staying = service.client();
  service.engine.open(*leaving, api_request());
  PlayedJail gone = service.engine.take_jail();
  service.engine.open(staying, api_request("ben"));
  PlayedJail kept = service.engine.take_jail();
  gone.run();
  kept.run();
  leaving.reset();
  gone.init.await_death();
  gone.drain();
  gone.finish();
  CHECK_FALSE(kept.init.is_dead());
  end_well(kept);
  service.engine.next_as<Running>(staying);
  CHECK(service.engine.next_as<Ended>(staying).result.ending == Ending::Exited);
}

TEST_CASE("a jail whose front end goes before its gate is opened never runs") {
  Service service;
  auto leaving = std::make_unique<SupervisorClient>(service.client());
  Request request = api_request();
  request.terminal = TerminalRequest{};
  service.engine.open(*leaving, std::move(request));
  PlayedJail jail = service.engine.take_jail();
  jail.say_cloned();
  jail.next_command(RelayCommand::Attach);
  jail.say_attached();
  leaving.reset();
  jail.init.await_death();
  jail.drain();
  jail.finish();
  CHECK_THROWS_AS(jail.next_gate_command(), PlayedOut);  // closed, and no word before
}

TEST_CASE("a front end that the keeper saw die ends with all its connections") {
  Service service;
  SupervisorClient one = service.client(), two = service.client();
  service.engine.open(one, api_request());
  PlayedJail first = service.engine.take_jail();
  service.engine.open(two, api_request());
  PlayedJail second = service.engine.take_jail();
  first.run();
  second.run();
  service.engine.forget_front_end();
  first.init.await_death();
  second.init.await_death();
}

TEST_CASE("a peer that does not read is cut, and its jails end") {
  Service service;
  service.engine.announce(Role::Api, ::geteuid());
  RawPeer silent{*connect_to(std::string(service.directory) + "/lease.sock")};
  Open open;
  open.run = 1;
  open.request = api_request("anonymous@127.0.0.1");
  open.request.limits.wall_ms = 5;  // refused each time: one answer per frame
  const RunStreams streams = std::move(*make_run_streams(WithStderr::Yes, WithStdin::No));
  const Fd payload = std::move(*make_sealed_memfd("test", "true"));
  open.request.payload = {PayloadPart{PayloadKind::Command, "", 0, 4, false}};
  open.request.payload_bytes = 4;
  const std::string frame = encode(FromFrontEnd{open});
  const std::vector<int> fds{streams.peer.out.get(), streams.peer.err.get(), payload.get()};
  bool cut = false;
  int sent_before = 0;
  for (; sent_before < 400'000 && !cut; ++sent_before) {
    const auto sent = send_message(silent.socket.get(), std::as_bytes(std::span(frame)), fds);
    cut = !sent && (sent.error().error == EPIPE || sent.error().error == ECONNRESET);
  }
  CHECK(cut);
  CHECK(sent_before > 1000);  // it was served as long as it could be
  SupervisorClient other = service.client();
  service.engine.open(other, api_request());
  service.engine.take_jail();
}
