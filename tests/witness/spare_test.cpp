// The relay that is forked before its order (decision 0008).
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

RelayOrder asking_for_more() {
  RelayOrder order = Jail::pipes();
  order.make_ahead = 1;
  return order;
}

bool has_relays_within(const Witness& witness, std::size_t count, int ms) {
  for (int waited = 0; waited < ms; waited += 10) {
    if (witness.relays().size() == count) return true;
    ::usleep(10'000);
  }
  return false;
}

// Hands the streams over; whether this relay was made ahead.
bool attached_to_spare(Jail& jail) {
  StreamsMessage message;
  message.count = 3;
  jail.attach(message, {jail.outer_in.get(), jail.outer_out.get(), jail.outer_err.get()});
  jail.outer_in.reset();
  jail.outer_out.reset();
  jail.outer_err.reset();
  return jail.expect(RelaySays::Attached).made_ahead == 1;
}

void carries(Jail& jail) {
  write_all(jail.program_out.get(), "hello");
  CHECK(read_up_to(jail.peer_out.get(), 5) == "hello");
  CHECK(jail.drain().out.bytes == 5);
  jail.finish("");
  jail.expect(RelaySays::Delivered);
  CHECK(jail.relay_ends_within(kPatience));
}

// One relay at work and its spare: which of the children is the spare.
pid_t spare_of(const Witness& witness, pid_t at_work) {
  REQUIRE(has_relays_within(witness, 2, kPatience));
  const std::vector<pid_t> both = witness.relays();
  return both.at(0) == at_work ? both.at(1) : both.at(0);
}

// That many descriptors, once it has closed what it was forked with.
bool comes_to_hold(pid_t pid, std::size_t count) {
  for (int i = 0; i < 300 && open_fds(pid).size() != count; ++i) ::usleep(10'000);
  return open_fds(pid).size() == count;
}

}  // namespace

TEST_CASE("a spare takes the next order, says so, and the one after it is made in the next quiet moment") {
  Witness witness;
  Jail first(witness, asking_for_more());
  CHECK_FALSE(attached_to_spare(first));
  REQUIRE(has_relays_within(witness, 2, kPatience));
  Jail second(witness, asking_for_more());
  CHECK(attached_to_spare(second));
  REQUIRE(has_relays_within(witness, 3, kPatience));
  Jail third(witness, asking_for_more());
  CHECK(attached_to_spare(third));
  for (Jail* jail : {&first, &second, &third}) carries(*jail);
}

TEST_CASE("nobody asks: no spare is made") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  CHECK_FALSE(attached_to_spare(jail));
  ::usleep(200'000);
  CHECK(witness.relays().size() == 1);
}

TEST_CASE("a spare holds no control socket of the template once it is at work, and nothing of another jail") {
  Witness witness;
  Jail first(witness, asking_for_more());
  attached_to_spare(first);
  const pid_t spare = spare_of(witness, witness.relays().at(0));
  // 0 to 2, two pidfds, the control socket, and what tells the template that it is still free.
  CHECK(comes_to_hold(spare, 7));
  Jail second(witness, asking_for_more());
  CHECK(attached_to_spare(second));
  CHECK(comes_to_hold(spare, 12));  // as a relay that was not made ahead (template_test.cpp)
}

TEST_CASE("orders that come faster than spares are made are all served") {
  Witness witness;
  std::vector<std::unique_ptr<Jail>> jails;
  for (int i = 0; i < 12; ++i) jails.push_back(std::make_unique<Jail>(witness, asking_for_more()));
  for (const auto& jail : jails) attached_to_spare(*jail);
  for (const auto& jail : jails) carries(*jail);
}

TEST_CASE("a spare that is killed is replaced, and costs no order") {
  Witness witness;
  Jail first(witness, asking_for_more());
  attached_to_spare(first);
  const pid_t at_work = witness.relays().at(0);
  ::kill(spare_of(witness, at_work), SIGKILL);
  Jail second(witness, asking_for_more());
  attached_to_spare(second);
  carries(second);
  REQUIRE(has_relays_within(witness, 2, kPatience));
}

TEST_CASE("a spare refuses what is not an order, and waits on") {
  Witness witness;
  Jail first(witness, asking_for_more());
  attached_to_spare(first);
  const pid_t spare = spare_of(witness, witness.relays().at(0));
  RelayOrder bad = asking_for_more();
  bad.magic = 0;
  Pipe pipe = make_pipe();
  witness.send(&bad, sizeof bad, std::vector<int>(5, pipe.write.get()));
  pipe.write.reset();
  CHECK(at_end_within(pipe.read.get(), kPatience));
  Jail second(witness, asking_for_more());
  CHECK(attached_to_spare(second));
  const std::vector<pid_t> relays = witness.relays();
  CHECK(std::find(relays.begin(), relays.end(), spare) != relays.end());
}

TEST_CASE("a spare ends with the keeper, the supervisor or the control socket, and takes the template along") {
  Witness witness;
  Jail first(witness, asking_for_more());
  attached_to_spare(first);
  const pid_t spare = spare_of(witness, witness.relays().at(0));
  const Fd watched{static_cast<int>(::syscall(SYS_pidfd_open, spare, 0))};
  SECTION("keeper") { witness.keeper.kill(); }
  SECTION("supervisor") { witness.supervisor.kill(); }
  SECTION("control") { witness.close_control(); }
  CHECK(witness.ends_within(kPatience));
  CHECK(readable_within(watched.get(), kPatience));
}
