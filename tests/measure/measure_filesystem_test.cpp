// The mount table of a jail as it was captured, and the same with one thing wrong at a time.
#include <catch2/catch.hpp>

#include "jail/supervisor/measure_filesystem.h"

using namespace mayfly;

namespace {

const std::string kJail =
    "73 81 254:0 /usr /usr ro,nosuid,nodev,relatime - ext4 /dev/vda rw,discard\n"
    "74 73 0:38 /empty/directory /usr/local ro,nosuid,nodev,noexec,relatime - tmpfs none rw,size=1024k,mode=755\n"
    "75 81 0:39 / /etc ro,nosuid,nodev,noexec,relatime - tmpfs none rw,size=8192k,mode=755\n"
    "76 81 0:40 / /dev ro,nosuid,noexec,relatime - tmpfs none rw,size=64k,mode=755\n"
    "81 77 0:46 / / rw,nosuid,nodev,relatime - tmpfs none rw,size=65536k,nr_inodes=8192,mode=755,uid=19,gid=19\n"
    "82 81 0:47 / /proc ro,nosuid,nodev,noexec,relatime - proc none rw,hidepid=ptraceable\n"
    "92 82 0:38 /empty/file /proc/keys ro,nosuid,nodev,noexec,relatime - tmpfs none rw,size=1024k,mode=755\n"
    "100 76 0:48 / /dev/pts rw,nosuid,noexec,relatime - devpts none rw,mode=620,ptmxmode=666,max=64\n";
constexpr FilesystemFacts kFacts{64u << 20, 8192, true, 1};

std::string with(const std::string& old, const std::string& changed) {
  std::string text = kJail;
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), changed);
}

// Which control is found wrong; "" when all is well.
std::string wrong(const std::string& text, const FilesystemFacts& facts = kFacts) {
  const auto judged = judge_mounts(text, facts);
  return judged ? "" : judged.error().subject;
}

}  // namespace

TEST_CASE("the mount table of a jail is as it was asked for") { CHECK(wrong(kJail).empty()); }

TEST_CASE("a mount that lacks a restriction is found") {
  CHECK(wrong(with("/usr ro,nosuid,nodev", "/usr ro,nodev")) == "filesystem");
  CHECK(wrong(with("/usr ro,nosuid,nodev", "/usr ro,nosuid")) == "filesystem");
  CHECK(wrong(with("/usr ro,", "/usr rw,")) == "filesystem");
  CHECK(wrong(with("/etc ro,", "/etc rw,")) == "filesystem");
  CHECK(wrong(with("/dev ro,", "/dev rw,")) == "filesystem");
  CHECK(wrong(with("/proc/keys ro,", "/proc/keys rw,")) == "filesystem");
  CHECK(wrong(with("/dev/pts rw,nosuid,", "/dev/pts rw,")) == "filesystem");
}

TEST_CASE("a root that is not the jail's own bounded tmpfs is found") {
  CHECK(wrong(with("- tmpfs none rw,size=65536k", "- ext4 /dev/vda rw,size=65536k")) == "filesystem");
  CHECK(wrong(with("size=65536k,", "")) == "filesystem");
  CHECK(wrong(with("size=65536k", "size=65540k")) == "filesystem");
  CHECK(wrong(with("nr_inodes=8192", "nr_inodes=0")) == "filesystem");
  CHECK(wrong(with("0:46 / / rw", "0:46 / /mnt rw")) == "filesystem");
}

TEST_CASE("a part of /proc that is not masked is found") {
  CHECK(wrong(kJail, {64u << 20, 8192, true, 2}) == "proc");
  CHECK(wrong(with("/proc/keys", "/tmp")) != "");
}

TEST_CASE("a disk limit that is no whole number of pages is the next larger one") {
  CHECK(wrong(kJail, {(64u << 20) - 100, 8192, true, 1}).empty());
}

TEST_CASE("one more writable mount is found, wherever it is") {
  CHECK(wrong(kJail + "101 81 254:0 /srv /home/run/x rw,nosuid,nodev - ext4 /dev/vda rw\n") == "filesystem");
  CHECK(wrong(kJail + "101 81 254:0 /srv /devices rw,nosuid - ext4 /dev/vda ro\n") == "filesystem");
}

TEST_CASE("a procfs that is not private is found") {
  CHECK(wrong(with("/proc ro,", "/proc rw,")) == "filesystem");
  CHECK(wrong(with(",hidepid=ptraceable", "")) == "proc");
  CHECK(wrong(with("hidepid=ptraceable", "hidepid=invisible")) == "proc");  // group 0 of the host would see
  CHECK(wrong(with("0:47 / /proc", "0:47 /sys /proc")) == "proc");
  CHECK(wrong(with("0:47 / /proc", "0:47 / /mnt")) == "proc");
  CHECK(wrong(with("/proc/keys", "/etc/keys")) == "proc");
}

TEST_CASE("a procfs is there exactly when inside says so") {
  CHECK(wrong(kJail, {64u << 20, 8192, false}) == "proc");
  const std::string none =
      with("82 81 0:47 / /proc ro,nosuid,nodev,noexec,relatime - proc none rw,hidepid=ptraceable\n", "");
  CHECK(wrong(none) == "proc");
  CHECK(wrong(none, {64u << 20, 8192, false}).empty());
}

TEST_CASE("the profile's folder is at /data exactly when it was asked for, and the seed is no mount", "[P20]") {
  const std::string data =
      "101 81 0:70 / /data ro,nosuid,nodev,relatime - overlay none ro,lowerdir=.:/empty/directory\n";
  const std::string itself = "101 81 254:0 /srv/data /data ro,nosuid,nodev,relatime - ext4 /dev/vda rw\n";
  FilesystemFacts asked = kFacts;
  asked.has_data = true;
  CHECK(wrong(kJail + data, asked).empty());
  CHECK(wrong(kJail + data) == "filesystem");
  CHECK(wrong(kJail, asked) == "filesystem");
  CHECK(wrong(kJail + itself, asked) == "filesystem");  // its sockets could be reached
  CHECK(wrong(kJail + "101 81 254:0 /srv/seed /seed ro,nosuid,nodev,relatime - ext4 /dev/vda rw\n") == "filesystem");
}

TEST_CASE("a table that cannot be understood to its end is wrong") {
  CHECK(wrong(kJail + "101 81 nonsense\n") == "filesystem");
  CHECK(wrong(kJail.substr(0, kJail.size() - 1)) == "filesystem");
  CHECK(wrong("") == "filesystem");
}
