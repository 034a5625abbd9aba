// The supervisor among builder, witness template, keeper and operators, each of which may die.
#include <catch2/catch.hpp>

#include "jail/wire/monitor.h"
#include "tests/fakes/played_service.h"

using namespace mayfly;
using namespace mayfly::played;

TEST_CASE("a builder that dies fails only what it was building, and the next one goes on") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail live = engine.take_jail();
  live.run();
  engine.next_as<Running>(engine.client());
  engine.open(engine.client(), exec_request());
  PlayedJail building = engine.take_jail();
  engine.builder_dies();
  building.gate.reset();
  building.stream.reset();
  building.drain();
  CHECK(engine.next_as<Ended>(engine.client()).result.ending == Ending::Failed);
  CHECK_FALSE(live.init.is_dead());
  engine.open(engine.client(), exec_request());
  engine.next_as<Queued>(engine.client());
  engine.builder_starts_anew();
  PlayedJail next = engine.take_jail();
  CHECK(next.plan.slot != live.plan.slot);
  CHECK(next.plan.slot != building.plan.slot);
  next.run();
  engine.next_as<Running>(engine.client());
  live.exit_with(0);
  live.drain();
  CHECK(engine.next_as<Ended>(engine.client()).result.ending == Ending::Exited);
}

TEST_CASE("a builder without parts made ahead is told before the plan comes, and the plan says so") {
  PlayedEngine engine;
  const auto next = [&](bool has_parts) {
    engine.open(engine.client(), exec_request());
    PlayedJail jail = engine.take_jail();
    CHECK((jail.plan.prepared == 1) == jail.was_prepared);
    jail.has_parts = has_parts;
    jail.run();
    engine.next_as<Running>(engine.client());
    jail.exit_with(0);
    jail.drain();
    engine.next_as<Ended>(engine.client());
    return jail.was_prepared;
  };
  CHECK(next(true));  // nothing is known of a new builder
  CHECK_FALSE(next(false));
  CHECK(next(true));
  CHECK_FALSE(next(true));
  engine.builder_dies();
  engine.open(engine.client(), exec_request());
  engine.next_as<Queued>(engine.client());
  engine.builder_starts_anew();
  CHECK(engine.take_jail().was_prepared);  // nor is anything of its successor
}

TEST_CASE("until the builder is ready everybody waits") {
  EngineOptions options;
  options.builder_ready = false;
  PlayedEngine engine(options);
  engine.open(engine.client(), exec_request());
  CHECK(engine.next_as<Queued>(engine.client()).position == 1);
  CHECK_FALSE(engine.has_plan());
  engine.builder_says_ready();
  engine.take_jail().run();
  engine.next_as<Running>(engine.client());
}

TEST_CASE("without a witness template nobody starts; live jails go on, and a new one lets the queue in") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail live = engine.take_jail();
  live.run();
  engine.next_as<Running>(engine.client());
  engine.witness_dies();
  REQUIRE(engine.client().ask_host());
  engine.next_as<Host>(engine.client());
  engine.open(engine.client(), exec_request());
  engine.next_as<Queued>(engine.client());
  CHECK_FALSE(live.init.is_dead());
  engine.witness_starts_anew();
  engine.take_jail().run();
  engine.next_as<Running>(engine.client());
}

TEST_CASE("stopping ends live jails as shutdown, refuses who waits, and ends when the last byte is delivered") {
  Service service(one_api_run());
  SupervisorClient api = service.client();
  service.engine.open(api, api_request());
  PlayedJail live = service.engine.take_jail();
  live.run();
  service.engine.next_as<Running>(api);
  service.engine.open(api, api_request());
  service.engine.next_as<Queued>(api);
  service.engine.order_stop();
  CHECK(service.engine.next_as<Refused>(api).kind == RefusalKind::Draining);
  live.init.await_death();
  live.drain();
  live.finish();
  CHECK(service.engine.next_as<Ended>(api).result.ending == Ending::Shutdown);
  live.relay_exits();
  service.engine.await_end();
}

TEST_CASE("a dead keeper ends every jail and the supervisor, fast") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail live = engine.take_jail();
  live.run();
  engine.keeper_dies();
  live.init.await_death();
  live.drain();
  engine.await_end();
}

TEST_CASE("an operator sees the jails, kills one by id, and drains") {
  Service service;
  SupervisorClient api = service.client();
  service.engine.open(api, api_request());
  PlayedJail live = service.engine.take_jail();
  live.run();
  const Running running = service.engine.next_as<Running>(api);
  const RawPeer monitor = service.monitor();
  const auto ask = [&](const FromMonitor& message) {
    monitor.send(encode(message));
    return *decode_to_monitor(monitor.next());
  };
  const Jails jails = std::get<Jails>(ask(AskJails{}));
  REQUIRE(jails.rows.size() == 1);
  CHECK(jails.rows[0].id == running.id);
  CHECK(jails.rows[0].phase == Phase::Running);
  CHECK(jails.rows[0].command == "echo hello");
  CHECK(std::get<Status>(ask(AskStatus{})).live == 1);
  CHECK(std::get<Killed>(ask(KillJails{"j_nobody"})).count == 0);
  CHECK(std::get<Killed>(ask(KillJails{running.id})).count == 1);
  live.init.await_death();
  live.drain();
  CHECK(service.engine.next_as<Ended>(api).result.ending == Ending::Killed);
  ask(Drain{});
  service.engine.open(api, api_request());
  CHECK(service.engine.next_as<Refused>(api).kind == RefusalKind::Draining);
  CHECK(std::get<Status>(ask(AskStatus{})).draining);
}
