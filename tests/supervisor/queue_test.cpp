#include "jail/supervisor/queue.h"

#include <catch2/catch.hpp>

#include "jail/supervisor/slots.h"

using namespace mayfly;

namespace {

JailId id_of(std::uint8_t number) {
  std::array<std::uint8_t, 16> bits{};
  bits[0] = number;
  return JailId(bits);
}

Place everybody(const Ticket&) { return Place::Start; }

std::vector<int> order_of(Queue& queue) {
  std::vector<int> order;
  while (const auto ticket = queue.take(everybody)) order.push_back(ticket->id.bits()[0]);
  return order;
}

}  // namespace

TEST_CASE("principals take turns, whoever came with more") {
  Queue queue;
  for (std::uint8_t i = 1; i <= 3; ++i) queue.push({id_of(i), OriginKind::Api, "ana"});
  queue.push({id_of(4), OriginKind::Api, "ben"});
  queue.push({id_of(5), OriginKind::Api, "ben"});
  queue.push({id_of(6), OriginKind::Api, "eva"});
  CHECK(order_of(queue) == std::vector<int>{1, 4, 6, 2, 5, 3});
}

TEST_CASE("who waits in person goes before API runs") {
  Queue queue;
  queue.push({id_of(1), OriginKind::Api, "ana"});
  queue.push({id_of(2), OriginKind::Ssh, "ben"});
  queue.push({id_of(3), OriginKind::Cli, "uid 0"});
  CHECK(order_of(queue) == std::vector<int>{2, 3, 1});
}

TEST_CASE("the position that is told is the place in which it starts") {
  Queue queue;
  for (std::uint8_t i = 1; i <= 3; ++i) queue.push({id_of(i), OriginKind::Api, "ana"});
  queue.push({id_of(4), OriginKind::Api, "ben"});
  queue.push({id_of(5), OriginKind::Ssh, "eva"});
  std::vector<int> told;
  for (const auto& [id, number] : queue.positions()) {
    CHECK(number == told.size() + 1);
    told.push_back(id.bits()[0]);
  }
  CHECK(told == order_of(queue));
}

TEST_CASE("a principal that has used its share keeps nobody else waiting") {
  Queue queue;
  queue.push({id_of(1), OriginKind::Ssh, "ana"});
  queue.push({id_of(2), OriginKind::Ssh, "ben"});
  const auto ticket =
      queue.take([](const Ticket& t) { return t.principal == "ana" ? Place::NotThisOne : Place::Start; });
  REQUIRE(ticket);
  CHECK(ticket->principal == "ben");
  CHECK(queue.size() == 1);
}

TEST_CASE("on a full host who waits longest keeps the first place: a small request does not overtake a large one") {
  Queue queue;
  queue.push({id_of(1), OriginKind::Ssh, "large"});
  queue.push({id_of(2), OriginKind::Ssh, "small"});
  CHECK_FALSE(queue.take([](const Ticket& t) { return t.principal == "large" ? Place::NobodyNow : Place::Start; }));
  CHECK(queue.size() == 2);
}

TEST_CASE("API runs that have used their share do not hold up SSH, which comes first anyway") {
  Queue queue;
  queue.push({id_of(1), OriginKind::Api, "ana"});
  CHECK_FALSE(queue.take([](const Ticket&) { return Place::NotThisKind; }));
  queue.push({id_of(2), OriginKind::Ssh, "ben"});
  const auto ticket =
      queue.take([](const Ticket& t) { return t.origin == OriginKind::Api ? Place::NotThisKind : Place::Start; });
  REQUIRE(ticket);
  CHECK(ticket->id == id_of(2));
}

TEST_CASE("who leaves the queue is gone from it and from its principal's share") {
  Queue queue;
  queue.push({id_of(1), OriginKind::Api, "ana"});
  queue.push({id_of(2), OriginKind::Api, "ana"});
  CHECK(queue.size_of("ana") == 2);
  CHECK(queue.remove(id_of(1)));
  CHECK_FALSE(queue.remove(id_of(1)));
  CHECK(queue.size_of("ana") == 1);
  CHECK(order_of(queue) == std::vector<int>{2});
}

TEST_CASE("a slot is given out again only after it was given back, the longest unused first") {
  Slots slots(3);
  CHECK(slots.take() == 0u);
  CHECK(slots.take() == 1u);
  CHECK(slots.take() == 2u);
  CHECK_FALSE(slots.take());
  slots.give_back(1);
  slots.give_back(0);
  CHECK(slots.taken() == 1);
  CHECK(slots.take() == 1u);
  CHECK(slots.take() == 0u);
  CHECK_FALSE(slots.take());
}
