// Requests that wait for a place.
#include <catch2/catch.hpp>

#include "tests/fakes/played_service.h"

using namespace mayfly;
using namespace mayfly::played;

TEST_CASE("a run beyond the API's places waits, is told its position, and starts when one is free") {
  Service service(one_api_run());
  SupervisorClient api = service.client();
  PlayedJail first = occupy(service, api);
  service.engine.open(api, api_request());
  const Queued queued = service.engine.next_as<Queued>(api);
  CHECK(queued.run == 2);
  CHECK(queued.position == 1);
  CHECK_FALSE(service.engine.has_plan());
  end_well(first);
  PlayedJail second = service.engine.take_jail();
  service.engine.next_as<Ended>(api);
  second.run();
  CHECK(service.engine.next_as<Running>(api).id == queued.id);
}

TEST_CASE("a run that is cancelled while it waits never starts, and its descriptors are closed") {
  Service service(one_api_run());
  SupervisorClient api = service.client();
  PlayedJail first = occupy(service, api);
  service.engine.open(api, api_request());
  service.engine.next_as<Queued>(api);
  REQUIRE(api.cancel(2, Ending::Cancelled));
  const Ended ended = service.engine.next_as<Ended>(api);
  CHECK(ended.run == 2);
  CHECK(ended.result.ending == Ending::Cancelled);
  char byte = 0;
  await_readable(service.engine.streams.own.out.get(), "the end of its output");
  CHECK(::read(service.engine.streams.own.out.get(), &byte, 1) == 0);
  end_well(first);
  service.engine.next_as<Ended>(api);
  CHECK_FALSE(service.engine.has_plan());
}

TEST_CASE("who has waited as long as he would is refused, and who would not wait at once") {
  Service service(one_api_run());
  SupervisorClient api = service.client();
  PlayedJail first = occupy(service, api);
  Request at_once = api_request();
  at_once.queue_ms = 0;
  service.engine.open(api, std::move(at_once));
  CHECK(service.engine.next_as<Refused>(api).kind == RefusalKind::WaitedTooLong);
  Request soon = api_request();
  soon.queue_ms = 50;
  service.engine.open(api, std::move(soon));
  service.engine.next_as<Queued>(api);
  const Refused refused = service.engine.next_as<Refused>(api);
  CHECK(refused.kind == RefusalKind::WaitedTooLong);
  CHECK(refused.run == 3);
  CHECK(refused.retry_after_ms > 0);
}

TEST_CASE("the queue is bounded, in all and for each principal") {
  Policy policy = one_api_run();
  policy.queue_total = 3;
  policy.principals.queued = 2;
  Service service(policy);
  SupervisorClient api = service.client();
  PlayedJail first = occupy(service, api);
  for (const char* principal : {"ana", "ana"}) {
    service.engine.open(api, api_request(principal));
    service.engine.next_as<Queued>(api);
  }
  service.engine.open(api, api_request("ana"));
  CHECK(service.engine.next_as<Refused>(api).kind == RefusalKind::QueueFull);
  service.engine.open(api, api_request("ben"));
  CHECK(service.engine.next_as<Queued>(api).position == 2);  // fair: behind one of ana's, not behind both
  service.engine.open(api, api_request("eva"));
  const Refused refused = service.engine.next_as<Refused>(api);
  CHECK(refused.kind == RefusalKind::QueueFull);
  CHECK(refused.retry_after_ms > 0);
}

TEST_CASE("what waits is bounded in bytes too, for each principal and in all") {
  Policy policy = one_api_run();
  policy.principals.queued = 100;
  Service service(policy);
  SupervisorClient api = service.client();
  PlayedJail first = occupy(service, api);
  // "queued", or the words of its refusal; positions that are told again meanwhile are passed over.
  const auto open_large = [&](const char* principal) -> std::string {
    auto streams = make_run_streams(WithStderr::Yes, WithStdin::No);
    PayloadBuilder payload;
    payload.add(PayloadKind::Command, "true");
    payload.add(PayloadKind::File, std::string((4u << 20) - 4, 'x'), "data");
    const auto run = api.open(api_request(principal), std::move(payload), std::move(streams->peer));
    REQUIRE(run);
    for (;;) {
      const FromSupervisor message = service.engine.next(api);
      const auto* queued = std::get_if<Queued>(&message);
      if (queued != nullptr && queued->run == *run) return "queued";
      const auto* refused = std::get_if<Refused>(&message);
      if (refused == nullptr || refused->run != *run) continue;
      CHECK(refused->kind == RefusalKind::QueueFull);
      CHECK(refused->retry_after_ms > 0);
      return refused->text;
    }
  };
  for (int i = 0; i < 32; ++i) REQUIRE(open_large("ana") == "queued");  // of 4 MiB
  CHECK(open_large("ana") == "code and files of 128 MiB wait already of this principal");
  for (int i = 0; i < 32; ++i) REQUIRE(open_large("ben") == "queued");
  CHECK(open_large("eva") == "code and files of 256 MiB wait already");
}
