#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

// The template still does its work.
void still_works(Witness& witness) {
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.program_out.get(), "alive");
  CHECK(read_up_to(jail.peer_out.get(), 5) == "alive");
}

void refuses(Witness& witness, const void* bytes, std::size_t size, std::size_t descriptors) {
  Pipe pipe = make_pipe();
  const std::vector<int> fds(descriptors, pipe.write.get());
  witness.send(bytes, size, fds);
  pipe.write.reset();
  // Whoever held the other copies has closed them.
  CHECK(at_end_within(pipe.read.get(), kPatience));
  CHECK(witness.relays().empty());
}

}  // namespace

TEST_CASE("the template refuses what is not an order, keeps none of its descriptors, and goes on") {
  Witness witness;
  const RelayOrder good = Jail::pipes();
  RelayOrder order = good;
  order.magic = 0;
  refuses(witness, &order, sizeof order, 5);
  order = good;
  order.terminal = 7;
  refuses(witness, &order, sizeof order, 5);
  refuses(witness, &good, sizeof good, 4);
  refuses(witness, &good, sizeof good, 6);
  refuses(witness, &good, sizeof good, 30);  // more than a message of ours ever has
  refuses(witness, &good, sizeof good - 1, 5);
  std::string longer(sizeof good + 1, '\0');
  std::memcpy(longer.data(), &good, sizeof good);
  refuses(witness, longer.data(), longer.size(), 5);
  refuses(witness, "x", 1, 1);
  still_works(witness);
  CHECK(open_fds(witness.pid()).size() == 6);
}

TEST_CASE("a message without bytes but with a descriptor is not taken for the end of the supervisor") {
  Witness witness;
  refuses(witness, "", 0, 1);
  still_works(witness);
}

TEST_CASE("the template ends when the keeper, the supervisor or the control socket is gone") {
  Witness witness;
  SECTION("keeper") { witness.keeper.kill(); }
  SECTION("supervisor") { witness.supervisor.kill(); }
  SECTION("control") { witness.close_control(); }
  CHECK(witness.ends_within(kPatience));
}

TEST_CASE("live relays go on when the template is killed") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  ::kill(witness.pid(), SIGKILL);
  REQUIRE(witness.ends_within(kPatience));
  write_all(jail.program_out.get(), "still here");
  CHECK(read_up_to(jail.peer_out.get(), 10) == "still here");
  const RelayReport drained = jail.drain();
  CHECK(drained.out.bytes == 10);
  jail.finish("");
  jail.expect(RelaySays::Delivered);
}

TEST_CASE("a relay holds its own descriptors and no others; the template keeps none of them; none stays a zombie") {
  Witness witness;
  {
    Jail first(witness, Jail::pipes());
    first.attach();
    Jail second(witness, Jail::pipes());
    second.attach();
    const std::vector<pid_t> relays = witness.relays();
    REQUIRE(relays.size() == 2);
    // 0 to 2, two pidfds, control, two sinks and a source of the peer, three pipes of the jail.
    for (const pid_t relay : relays) CHECK(open_fds(relay).size() == 12);
    // It closes the last order's a moment after it has forked.
    for (int i = 0; i < 100 && open_fds(witness.pid()).size() != 6; ++i) ::usleep(10'000);
    CHECK(open_fds(witness.pid()).size() == 6);
    for (Jail* jail : {&first, &second}) {
      jail->drain();
      jail->finish("");
      jail->expect(RelaySays::Delivered);
      CHECK(jail->relay_ends_within(kPatience));
    }
  }
  for (int i = 0; i < 100 && !witness.relays().empty(); ++i) ::usleep(10'000);
  CHECK(witness.relays().empty());
}

TEST_CASE("the keys of the keeper's terminal and a service manager's TERM end neither template nor relay") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE}) {
    ::kill(witness.pid(), number);
    ::kill(witness.relays().at(0), number);
  }
  write_all(jail.program_out.get(), "on");
  CHECK(read_up_to(jail.peer_out.get(), 2) == "on");
  still_works(witness);
}

TEST_CASE("a relay cannot start a process") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  std::ifstream limits("/proc/" + std::to_string(witness.relays().at(0)) + "/limits");
  std::string text((std::istreambuf_iterator<char>(limits)), {});
  const std::size_t at = text.find("Max processes");
  REQUIRE(at != std::string::npos);
  CHECK(text.substr(at, 40).find(" 0 ") != std::string::npos);
}

TEST_CASE("what a peer gives must be a pipe or a Unix stream, open in the right direction, or the relay is broken") {
  Witness witness;
  Pair broken;
  SECTION("a datagram socket") { broken = socket_pair(SOCK_DGRAM); }
  SECTION("a packet socket") { broken = socket_pair(SOCK_SEQPACKET); }
  SECTION("a file") { broken.theirs = Fd{::open("/dev/null", O_WRONLY | O_CLOEXEC)}; }
  SECTION("the wrong end of a pipe") {
    Pipe pipe = make_pipe();
    broken = {std::move(pipe.write), std::move(pipe.read)};
  }
  SECTION("a path") { broken.theirs = Fd{::open("/dev/null", O_PATH | O_CLOEXEC)}; }
  SECTION("a socket of the network") { broken.theirs = Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }
  Jail jail(witness, Jail::pipes(), std::move(broken));
  const RelayReport report = jail.expect(RelaySays::Broken);
  CHECK(std::strlen(report.text) > 0);
  CHECK(jail.relay_ends_within(kPatience));
}

TEST_CASE("streams from inside that do not follow the contract are refused, and the peer still gets the reason line") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  StreamsMessage message;
  message.count = 3;
  Pipe pipe = make_pipe();
  Fd file{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  const int in = jail.outer_in.get(), out = jail.outer_out.get(), err = jail.outer_err.get();
  SECTION("too few") { jail.attach(message, {in, out}); }
  SECTION("a count that lies") {
    message.count = 2;
    jail.attach(message, {in, out, err});
  }
  SECTION("magic") {
    message.magic = RelayOrder::kMagic;
    jail.attach(message, {in, out, err});
  }
  SECTION("not a pipe") { jail.attach(message, {in, file.get(), err}); }
  SECTION("the wrong way round") { jail.attach(message, {out, in, err}); }
  jail.expect(RelaySays::Broken);
  jail.command(RelayCommand::Drain);
  CHECK(jail.expect(RelaySays::Drained).out.bytes == 0);
  jail.finish("mayfly: ending=failed jail=j_test: no streams");
  CHECK(read_to_end(jail.peer_err.get()) == "mayfly: ending=failed jail=j_test: no streams\n");
  jail.expect(RelaySays::Delivered);
}
