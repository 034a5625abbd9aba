#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "jail/witness/byte_queue.h"
#include "jail/witness/digest.h"
#include "jail/witness/order.h"
#include "jail/witness/out_stream.h"
#include "jail/witness/tail_ring.h"

using namespace mayfly;

namespace {

std::string kept(const TailRing& ring, std::size_t most) {
  std::string text(most, '?');
  text.resize(ring.copy(text));
  return text;
}

RelayOrder good_order() {
  RelayOrder order;
  order.relay_uid = 1003;
  order.init_uid = 1001;
  order.has_err = order.has_in = 1;
  return order;
}

}  // namespace

TEST_CASE("a tail ring keeps the last bytes, oldest first, however they came") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string memory(1 + random() % 40, '\0'), all;
    TailRing ring{memory};
    for (int piece = 0; piece < 12; ++piece) {
      std::string bytes(random() % 60, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      ring.add(bytes);
      all += bytes;
    }
    const std::size_t size = std::min(all.size(), memory.size());
    REQUIRE(ring.size() == size);
    REQUIRE(kept(ring, memory.size()) == all.substr(all.size() - size));
  }
}

TEST_CASE("a tail ring that is asked for less gives the last bytes") {
  std::string memory(8, '\0');
  TailRing ring{memory};
  ring.add(std::string_view{"0123456789"});
  CHECK(kept(ring, 3) == "789");
  CHECK(kept(ring, 100) == "23456789");
}

TEST_CASE("a byte queue gives back what was put in, in order, within its memory") {
  std::mt19937 random(11);
  std::string memory(64, '\0'), in, out;
  ByteQueue queue{memory};
  for (int turn = 0; turn < 5000; ++turn) {
    const std::span<char> room = queue.room(1 + random() % 64);
    REQUIRE(room.size() + queue.size() <= memory.size());
    const std::size_t put = room.empty() ? 0 : random() % (room.size() + 1);
    for (std::size_t i = 0; i < put; ++i) in += room[i] = static_cast<char>(random());
    queue.kept(put);
    const std::size_t take = queue.empty() ? 0 : random() % (queue.size() + 1);
    out += queue.content().substr(0, take);
    queue.taken(take);
  }
  out += queue.content();
  CHECK(out == in);
}

TEST_CASE("a byte queue finds all of its free memory, also in front of its content") {
  std::string memory(10, '\0');
  ByteQueue queue{memory};
  REQUIRE(queue.append("0123456789"));
  CHECK_FALSE(queue.append("x"));
  queue.taken(7);
  CHECK(queue.append("abcdefg"));
  CHECK(queue.content() == "789abcdefg");
}

TEST_CASE("a digest is SHA-256 of all pieces and can be read on the way") {
  Digest digest;
  const auto empty = digest.value();
  CHECK(empty[0] == 0xe3);  // FIPS 180-4: e3b0c442... for no bytes
  digest.add(std::string_view{"a"});
  static_cast<void>(digest.value());
  digest.add(std::string_view{"bc"});
  const auto abc = digest.value();  // ba7816bf...f20015ad
  CHECK(abc[0] == 0xba);
  CHECK(abc[1] == 0x78);
  CHECK(abc[31] == 0xad);
}

TEST_CASE("an output budget counts everything and grants what is below the ceiling") {
  OutputBudget budget{10};
  CHECK(budget.grant(6) == 6);
  CHECK(budget.grant(4) == 4);
  CHECK_FALSE(budget.exceeded());
  CHECK(budget.grant(1) == 0);
  CHECK(budget.exceeded());
  OutputBudget cut{10};
  CHECK(cut.grant(25) == 10);
  CHECK(cut.exceeded());
}

TEST_CASE("an order that is not exactly one is refused, and each reason has its name") {
  CHECK(judge(good_order(), 5) == OrderVerdict::Good);
  RelayOrder order = good_order();
  order.magic = 1;
  CHECK(judge(order, 5) == OrderVerdict::BadMagic);
  for (const std::size_t count : {0u, 3u, 4u, 6u, 8u}) {
    CHECK(judge(good_order(), count) == OrderVerdict::BadDescriptorCount);
  }
  order = good_order();
  order.terminal = 2;
  CHECK(judge(order, 5) == OrderVerdict::BadFlags);
  order = good_order();
  order.terminal = 1;  // a terminal has no stderr
  CHECK(judge(order, 5) == OrderVerdict::BadFlags);
  order = good_order();
  order.has_err = 0;  // pipes have one
  CHECK(judge(order, 4) == OrderVerdict::BadFlags);
  order = good_order();
  for (char& byte : order.jail) byte = 'x';  // no end
  CHECK(judge(order, 5) == OrderVerdict::BadFlags);
  order = good_order();
  order.wall_ms = ~std::uint64_t{0};
  CHECK(judge(order, 5) == OrderVerdict::BadTimes);
}

TEST_CASE("as root no relay runs as root, as the jail's init, or as nobody in particular") {
  for (const auto& [relay, init] : {std::pair{0u, 1001u}, {1003u, 0u}, {1001u, 1001u}, {~0u, 1001u}, {1003u, ~0u}}) {
    RelayOrder order = good_order();
    order.relay_uid = relay;
    order.init_uid = init;
    CHECK(judge(order, 5) == OrderVerdict::BadIds);
    order.rootless = 1;
    CHECK(judge(order, 5) == OrderVerdict::Good);
  }
}
