#include <catch2/catch.hpp>

#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

TEST_CASE("A06 all writable places together hold the disk limit and no more", "[P06]") {
  CHECK(arena().control({"fill_disk", "100000"}).lines.of(".") == "ok");
  Attack filler{.program = "fill_disk"};
  filler.limits.disk_bytes = 16 << 20;
  const Outcome inside = arena().attack(filler);
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of(".") == "ENOSPC");
  CHECK(inside.lines.named_with("ok") == "");
  CHECK(inside.lines.number("megabytes") <= 16);
  CHECK(inside.lines.number("megabytes") >= 12);  // the program itself is in there
  CHECK(inside.reached(LimitReached::Disk));
}

TEST_CASE("A07 inodes end at their limit, and their jail is gone at once", "[P06]") {
  CHECK(arena().control({"inode_flood", "300"}).lines.number("files") == 300);
  const Outcome inside = arena().attack({.program = "inode_flood"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("create") == "ENOSPC");
  CHECK(inside.lines.number("files") + inside.lines.number("depth") <= 8192);
  CHECK(inside.reached(LimitReached::Inodes));
  CHECK(inside.result.metrics.closed < std::chrono::seconds(2));
}

TEST_CASE("A08 a file that only says it is a terabyte is refused at the disk limit", "[P06]") {
  CHECK(arena().control({"sparse_file"}).lines.of("truncate") == "ok");
  const Outcome inside = arena().attack({.program = "sparse_file"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("truncate") == "EFBIG");  // RLIMIT_FSIZE
  CHECK(inside.lines.number("blocks") == 0);
}

TEST_CASE("A57 hostile file names and a tree 2 000 deep are the jail's own affair", "[P05]") {
  const Outcome inside = arena().attack({.program = "hostile_names"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.number("depth") == 2000);
  CHECK(inside.lines.of("device") == "EPERM");
  CHECK(inside.lines.of("fifo") == "ok");
}

TEST_CASE("A17 names and argument lists that are too long are errors of the caller", "[P06]") {
  const OutsideRun control = arena().control({"long_names"});
  CHECK(control.lines.of("name255") == "ok");
  const Outcome inside = arena().attack({.program = "long_names"});
  INFO(inside.story());
  CHECK(inside.lines.of("name255") == "ok");
  CHECK(inside.lines.of("name256") == "ENAMETOOLONG");
  CHECK(inside.lines.of("path") == "ENAMETOOLONG");
  CHECK(inside.lines.of("exec") == "E2BIG");
}

TEST_CASE("A38 no program, library or setting of the host is changed", "[P05][P12]") {
  const Outcome inside = arena().attack({.program = "write_programs"});
  INFO(inside.story());
  CHECK(inside.lines.count() == 8);
  CHECK(inside.lines.named_with("ok") == "");
  CHECK(inside.lines.of("unlink") == "EROFS");
}

TEST_CASE("A59 no id, capability or setuid file gains anything", "[P11]") {
  if (arena().as_root()) CHECK(arena().control({"gain"}).lines.of("setuid0") == "ok");
  const Outcome inside = arena().attack({.program = "gain"});
  INFO(inside.story());
  CHECK(inside.lines.of("setuid0") == "EINVAL");  // there is no uid 0 inside
  CHECK(inside.lines.of("setuid999") == (arena().as_root() ? "EPERM" : "EINVAL"));
  CHECK(inside.lines.of("setgid0") == "EINVAL");
  CHECK(inside.lines.of("setgroups") == "EPERM");
  CHECK(inside.lines.named_with("suid") == "");
  CHECK(inside.lines.of("setxattr") == "EPERM");
}

TEST_CASE("what one jail writes no later jail sees", "[P05]") {
  Attack writer, reader;
  writer.command = {"/bin/sh", "-c",
                    "echo secret >/tmp/left; echo secret >/dev/shm/left; echo secret >$HOME/left; echo wrote=$?"};
  reader.command = {
      "/bin/sh", "-c",
      "cat /tmp/left /dev/shm/left $HOME/left 2>/dev/null; ls -A $HOME /tmp /dev/shm | wc -l; echo read=$?"};
  const Outcome first = arena().attack(writer);
  INFO(first.story());
  CHECK(first.lines.of("wrote") == "0");
  const Outcome second = arena().attack(reader);
  INFO(second.story());
  CHECK(second.out.find("secret") == std::string::npos);
  CHECK(second.lines.of("read") == "0");
}
