#include "jail/supervisor/invites.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "jail/supervisor/invite_file.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kNow = 1'800'000'000'000;

struct Folder {
  char path[32] = "/tmp/mayfly-test-XXXXXX";
  Folder() { REQUIRE(::mkdtemp(path) != nullptr); }
  ~Folder() {
    std::remove(file().c_str());
    std::remove((file() + ".new").c_str());
    std::remove(path);
  }
  [[nodiscard]] std::string file() const { return std::string(path) + "/invites.json"; }
  [[nodiscard]] std::string text() const {
    std::ifstream in(file());
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  [[nodiscard]] InviteBook book() const {
    auto book = InviteBook::load(path);
    REQUIRE(book);
    return std::move(*book);
  }
};

NewInvites order(std::string name, std::uint32_t count = 1) {
  return {std::move(name), "python", 60'000, count, std::nullopt};
}

bool lets_in(InviteBook& book, const std::string& code, std::string_view profile = "python", std::uint64_t now = kNow) {
  const auto used = book.use(code, profile, now);
  REQUIRE(used);
  return used->has_value();
}

}  // namespace

TEST_CASE("a code is good for its profile until it expires, and however it is typed", "[P41]") {
  const Folder folder;
  InviteBook book = folder.book();
  const auto rows = book.make(order("ana"), kNow);
  REQUIRE(rows);
  const std::string code = rows->at(0).code;
  CHECK(code.size() == 23);
  CHECK(lets_in(book, code));
  CHECK(lets_in(book, plain_code(code)));
  CHECK(lets_in(book, " " + code + "\r\n"));
  CHECK_FALSE(lets_in(book, code, "run"));
  CHECK_FALSE(lets_in(book, code, "python", kNow + 60'000));
  CHECK(lets_in(book, code, "python", kNow + 59'999));
  for (std::size_t i = 0; i < code.size(); ++i) {
    std::string other = code;
    if (other[i] == '-') continue;
    other[i] = other[i] == 'x' ? 'y' : 'x';
    CHECK_FALSE(lets_in(book, other));
  }
  for (const char* odd : {"", "-", "xxxxx-xxxxx-xxxxx-xxxxx", "\xff\xfe"}) CHECK_FALSE(lets_in(book, odd));
}

TEST_CASE("letters that are taken for others are those others") {
  CHECK(plain_code("O0-oO iI-lL 1") == "000011111");
  CHECK(plain_code("ABC-def") == "abcdef");
}

TEST_CASE("uses are counted on disk before they count", "[P41]") {
  const Folder folder;
  std::string code;
  {
    InviteBook book = folder.book();
    NewInvites twice = order("bo");
    twice.uses = 2;
    code = book.make(twice, kNow)->at(0).code;
    CHECK(lets_in(book, code));
  }
  InviteBook again = folder.book();
  REQUIRE(again.list(kNow).size() == 1);
  CHECK(again.list(kNow)[0].uses_left == 1u);
  CHECK(lets_in(again, code));
  CHECK_FALSE(lets_in(again, code));
  REQUIRE(again.list(kNow).size() == 1);  // it is listed until it expires, and can be revoked
  CHECK(again.list(kNow)[0].uses_left == 0u);
  CHECK(again.revoke("bo").value());
  CHECK(again.list(kNow).empty());
}

TEST_CASE("a use that cannot be written down lets nobody in", "[P41]") {
  const Folder folder;
  InviteBook book = folder.book();
  NewInvites once = order("cy");
  once.uses = 1;
  const std::string code = book.make(once, kNow)->at(0).code;
  REQUIRE(::mkdir((folder.file() + ".new").c_str(), 0700) == 0);  // in the way of the new file
  CHECK_FALSE(book.use(code, "python", kNow));
  REQUIRE(std::remove((folder.file() + ".new").c_str()) == 0);
  CHECK(lets_in(book, code));
}

TEST_CASE("what is revoked lets nobody in, whether that can be written down or not", "[P41]") {
  const Folder folder;
  InviteBook book = folder.book();
  const std::string code = book.make(order("di"), kNow)->at(0).code;
  REQUIRE(::mkdir((folder.file() + ".new").c_str(), 0700) == 0);
  CHECK_FALSE(book.revoke("di"));
  CHECK_FALSE(lets_in(book, code));
  REQUIRE(std::remove((folder.file() + ".new").c_str()) == 0);
}

TEST_CASE("codes differ, and the file holds none of them") {
  const Folder folder;
  InviteBook book = folder.book();
  const auto rows = book.make(order("class", 500), kNow);
  REQUIRE(rows);
  std::set<std::string> codes;
  const std::string text = folder.text();
  for (const InviteRow& row : *rows) {
    codes.insert(row.code);
    CHECK(text.find(row.code) == std::string::npos);
    CHECK(text.find(plain_code(row.code)) == std::string::npos);
  }
  CHECK(codes.size() == 500);
  CHECK(rows->front().name == "class-001");
  CHECK(rows->back().name == "class-500");
  CHECK(lets_in(book, rows->at(123).code));
}

TEST_CASE("a name is taken once, until its invite is over or revoked; what is refused changes nothing") {
  const Folder folder;
  InviteBook book = folder.book();
  REQUIRE(book.make(order("ana-02"), kNow));
  CHECK_FALSE(book.make(order("ana", 3), kNow));
  CHECK(book.list(kNow).size() == 1);
  CHECK(book.make(order("ana-02"), kNow + 60'000));
  CHECK(book.revoke("ana-02").value());
  CHECK_FALSE(book.revoke("ana-02").value());
  CHECK(folder.book().list(kNow).empty());
  for (const char* name : {"", "a b", "-a", ".a", "a/b", "a,b", "a\"b", "caf\xc3\xa9", "a\n"}) {
    INFO(name);
    CHECK_FALSE(is_invite_name(name));
    CHECK_FALSE(book.make(order(name), kNow));
  }
  CHECK(is_invite_name("Ana.Maria_2-b"));
}

TEST_CASE("there is a bound on invites, and those that are over do not count") {
  const Folder folder;
  InviteBook book = folder.book();
  for (const char* name : {"a", "b", "c", "d"}) REQUIRE(book.make(order(name, 500), kNow));
  CHECK_FALSE(book.make(order("e"), kNow));
  CHECK(book.make(order("e"), kNow + 60'000));
  CHECK(folder.book().list(kNow + 60'000).size() == 1);
}

TEST_CASE("a full book can be read again") {
  const Folder folder;
  InviteBook book = folder.book();
  NewInvites most = order("a", 500);
  most.uses = 4'000'000'000;
  REQUIRE(book.make(most, kNow));
  for (const char* name : {"b", "c", "d"}) {
    most.name = name;
    REQUIRE(book.make(most, kNow));
  }
  CHECK(folder.book().list(kNow).size() == kMostInvites);
}

TEST_CASE("a file that is not understood is a failure, and stays as it is") {
  for (
      const char* text :
      {"", "{", "[]", "{}", R"({"version":2,"invites":[]})", R"({"version":1,"invites":[{"name":"a"}]})",
       R"({"version":1,"invites":[],"more":1})",
       R"({"version":1,"invites":[{"name":"a","profile":"run","sha256":"zz","createdUnixMs":1,"expiresUnixMs":2}]})"}) {
    const Folder folder;
    std::ofstream(folder.file()) << text;
    INFO(text);
    CHECK_FALSE(InviteBook::load(folder.path));
    CHECK(folder.text() == text);
  }
}

}  // namespace mayfly
