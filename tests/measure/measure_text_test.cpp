// The parsers of /proc, on texts as a kernel wrote them and on damaged ones.
#include <catch2/catch.hpp>

#include "jail/supervisor/measure_mounts.h"
#include "jail/supervisor/measure_text.h"

using namespace mayfly;

namespace {

const std::string kStatus =
    "Name:\tsh Uid:\t0\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t71\nNgid:\t0\nPid:\t71\nPPid:\t70\nTracerPid:\t0\n"
    "Uid:\t1900000002\t1900000002\t1900000002\t1900000002\nGid:\t1900000002\t1900000002\t1900000002\t1900000003\n"
    "FDSize:\t64\nGroups:\t \nNStgid:\t71\t2\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000001\n"
    "CapEff:\t0000000000000002\nCapBnd:\t000001fffeffffff\nCapAmb:\t0000000000000004\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    "Seccomp_filters:\t3\nThreads:\t1\n";

std::string without(std::string text, const std::string& line) {
  const std::size_t at = text.find("\n" + line);
  return text.erase(at, text.find('\n', at + 1) - at);
}

}  // namespace

TEST_CASE("a status is read field by field, whatever the program called itself") {
  const auto status = parse_status(kStatus);
  REQUIRE(status.has_value());
  CHECK(status->uid[0] == 1900000002u);
  CHECK(status->gid[3] == 1900000003u);
  CHECK(status->groups == 0);
  CHECK(status->cap_permitted == 1);
  CHECK(status->cap_effective == 2);
  CHECK(status->cap_bounding == 0x1fffeffffffull);
  CHECK(status->cap_ambient == 4);
  CHECK(status->no_new_privs == 1);
  CHECK(status->seccomp == 2);
}

TEST_CASE("supplementary groups are counted") {
  std::string text = kStatus;
  text.replace(text.find("Groups:\t "), 9, "Groups:\t4 24 27 ");
  CHECK(parse_status(text)->groups == 3);
}

TEST_CASE("a status that lacks any of the lines is no status") {
  for (const char* line :
       {"Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:"}) {
    INFO(line);
    CHECK_FALSE(parse_status(without(kStatus, line)).has_value());
  }
  for (std::size_t cut = 0; cut < kStatus.find("Seccomp:"); cut += 7)
    CHECK_FALSE(parse_status(std::string_view(kStatus).substr(0, cut)).has_value());
}

TEST_CASE("an id map is all of its rows") {
  const auto map = parse_id_map("       999 1900000001          1\n      1000 1900000002          1\n");
  REQUIRE(map.has_value());
  CHECK(map->count == 2);
  CHECK(map->rows[1] == IdRow{1000, 1900000002, 1});
  CHECK(parse_id_map("")->count == 0);
  CHECK_FALSE(parse_id_map("0 0 4294967296\n").has_value());
  CHECK_FALSE(parse_id_map("0 0\n").has_value());
  CHECK_FALSE(parse_id_map("0 0 1\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n").has_value());
}

TEST_CASE("a limit is found by its whole name") {
  const std::string text =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max processes             64                   unlimited            processes \n"
      "Max open files            256                  1024                 files     \n";
  CHECK(find_limit(text, "Max processes")->soft == 64);
  CHECK(find_limit(text, "Max processes")->hard == UINT64_MAX);
  CHECK(find_limit(text, "Max open files")->hard == 1024);
  CHECK_FALSE(find_limit(text, "Max open").has_value());
  CHECK_FALSE(find_limit("Max processes  many  more\n", "Max processes").has_value());
}

TEST_CASE("lo alone is lo alone") {
  const std::string head =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n";
  const std::string lo = "    lo:       0       0    0    0    0     0          0         0        0\n";
  CHECK(has_only_loopback(head + lo));
  CHECK_FALSE(has_only_loopback(head));
  CHECK_FALSE(has_only_loopback(head + lo + "  eth0: 1 2 3\n"));
  CHECK_FALSE(has_only_loopback(head + "  lo2: 0\n"));
  CHECK_FALSE(has_only_loopback(""));
}

TEST_CASE("options of a tmpfs are numbers, in bytes") {
  CHECK(option_number("rw,size=65536k,nr_inodes=8192,mode=755", "size") == 65536u * 1024);
  CHECK(option_number("rw,size=65536k,nr_inodes=8192,mode=755", "nr_inodes") == 8192u);
  CHECK_FALSE(option_number("rw,relsize=1k", "size").has_value());
  CHECK_FALSE(option_number("rw,size=", "size").has_value());
  CHECK_FALSE(option_number("rw,size=1q", "size").has_value());
}

TEST_CASE("a mount line is read past any number of optional fields, and names are unescaped") {
  std::string_view text =
      "81 77 0:46 /sub /mnt\\040x rw,nosuid shared:1 master:2 - tmpfs no\\134ne rw,size=1k\n"
      "82 81 0:47 / / ro - ext4 /dev/vda rw\n";
  MountLine line;
  REQUIRE(next_mount(text, line));
  CHECK(line.root == "/sub");
  CHECK(unescape_mount(line.mount_point) == "/mnt x");
  CHECK(has_word(line.options, "nosuid"));
  CHECK_FALSE(has_word(line.options, "suid"));
  CHECK(unescape_mount(line.source) == "no\\ne");
  CHECK(line.super_options == "rw,size=1k");
  REQUIRE(next_mount(text, line));
  CHECK(line.type == "ext4");
  CHECK_FALSE(next_mount(text, line));
  CHECK(text.empty());
}

TEST_CASE("a mount table that is cut or damaged is not taken for a shorter one") {
  const std::string whole = "82 81 0:47 / / ro - ext4 /dev/vda rw\n";
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    std::string_view text = std::string_view(whole).substr(0, cut);
    MountLine line;
    CHECK_FALSE(next_mount(text, line));
    CHECK_FALSE(text.empty());
  }
  std::string_view no_hyphen = "82 81 0:47 / / ro ext4 /dev/vda rw\n";
  MountLine line;
  CHECK_FALSE(next_mount(no_hyphen, line));
}
