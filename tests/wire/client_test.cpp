// A supervisor that does not read for a while, as its client sees it.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "jail/client/supervisor_client.h"
#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {

struct Line {
  SocketPair pair = *make_seqpacket_pair(Blocking::No);
  SupervisorClient client = *SupervisorClient::adopt(std::move(pair.ours));
  const Fd& supervisor = pair.theirs;

  // The next message; nothing when none is there.
  std::optional<FromFrontEnd> read() const {
    auto frame = receive_frame(supervisor.get());
    if (!frame) return std::nullopt;
    auto message = decode_from_front_end(frame->body);
    REQUIRE(message);
    return std::move(*message);
  }
};

}  // namespace

TEST_CASE("what a busy supervisor does not take is kept, and goes out in order, with its descriptors") {
  Line line;
  RunNumber sent = 0;
  while (!line.client.wants_write()) REQUIRE(line.client.cancel(++sent, Ending::Cancelled));
  auto streams = make_run_streams(WithStderr::Yes, WithStdin::No);
  REQUIRE(streams);
  Request request;
  request.principal = "ana";
  REQUIRE(line.client.open(std::move(request), PayloadBuilder(), std::move(streams->peer)));
  REQUIRE(line.client.cancel(++sent, Ending::Cancelled));
  RunNumber seen = 0;
  bool opened = false;
  while (seen < sent) {
    const auto message = line.read();
    if (!message) {
      REQUIRE(line.client.wants_write());
      REQUIRE(line.client.flush());
      continue;
    }
    if (const auto* cancel = std::get_if<Cancel>(&*message)) CHECK(cancel->run == ++seen);
    if (std::holds_alternative<Open>(*message)) {
      opened = true;
      CHECK(seen == sent - 1);
    }
  }
  CHECK(opened);
  CHECK_FALSE(line.client.wants_write());
  // The descriptors of Open were the last copies: the frame that brought them is gone.
  char byte = 0;
  CHECK(::read(streams->own.out.get(), &byte, 1) == 0);
}

TEST_CASE("a supervisor that never reads is given up in the end, and one that is gone at once") {
  Line line;
  Expected<void> sent;
  for (int i = 0; i < 1'000'000 && sent; ++i) sent = line.client.cancel(1, Ending::Cancelled);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().error == ENOBUFS);
  Line other;
  other.pair.theirs.reset();
  CHECK_FALSE(other.client.cancel(1, Ending::Cancelled));
}

}  // namespace mayfly
