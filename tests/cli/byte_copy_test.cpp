#include "jail/cli/byte_copy.h"

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>

#include "jail/os/fd.h"

using namespace mayfly;

namespace {

struct Pipe {
  Fd read, write;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

void put(const Fd& fd, std::string_view text) {
  REQUIRE(::write(fd.get(), text.data(), text.size()) == ssize_t(text.size()));
}

}  // namespace

TEST_CASE("bytes arrive exactly and in order, and the end after them") {
  Pipe from, to;
  ByteCopy copy(from.read.get(), to.write.get());
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += static_cast<char>(i % 256);
  put(from.write, bytes);
  from.write.reset();
  std::string got;
  for (int turn = 0; turn < 1000 && copy.state() == ByteCopy::State::Open; ++turn) {
    if (copy.wants_source()) copy.source_ready();
    if (copy.wants_sink()) copy.sink_ready();
    char piece[8192];
    const ssize_t ready = copy.wants_source() || copy.wants_sink() ? ::read(to.read.get(), piece, sizeof piece) : 0;
    if (ready > 0) got.append(piece, static_cast<std::size_t>(ready));
    if (got.size() == bytes.size() && copy.wants_source()) copy.source_ready();
  }
  CHECK(got == bytes);
  CHECK(copy.state() == ByteCopy::State::SourceEnded);
}

TEST_CASE("a source is not read while the sink has not taken what came before") {
  Pipe from, to;
  ByteCopy copy(from.read.get(), to.write.get());
  put(from.write, "one");
  copy.source_ready();
  CHECK_FALSE(copy.wants_source());
  CHECK(copy.wants_sink());
  copy.sink_ready();
  CHECK(copy.wants_source());
}

TEST_CASE("a sink without a reader is told apart from an error") {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe from, to;
  to.read.reset();
  ByteCopy copy(from.read.get(), to.write.get());
  put(from.write, "one");
  copy.source_ready();
  copy.sink_ready();
  CHECK(copy.state() == ByteCopy::State::SinkGone);
}

TEST_CASE("the tail holds what came last, however much came") {
  Pipe from;
  std::string all;
  ByteCopy copy(from.read.get(), all);
  for (int i = 0; i < 4; ++i) {
    put(from.write, std::string(1500, static_cast<char>('a' + i)));
    copy.source_ready();
  }
  CHECK(all.size() == 6000);
  CHECK(copy.tail() == all.substr(all.size() - 2048));
}

TEST_CASE("what is diverted keeps the order, the buffer first") {
  Pipe from, to;
  ByteCopy copy(from.read.get(), to.write.get());
  put(from.write, "buffered ");
  copy.source_ready();
  std::string rest;
  copy.divert(rest);
  put(from.write, "later");
  copy.source_ready();
  CHECK(rest == "buffered later");
}
