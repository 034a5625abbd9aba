#include "jail/supervisor/authorized_keys.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

#include "jail/wire/result_json.h"
#include "tests/supervisor/authorized_keys_samples.h"

using namespace mayfly;
using samples::kEd25519;

namespace {

constexpr std::int64_t kNow = 1'800'000'000;

std::string with(std::string_view options) { return std::string(options) + " " + std::string(kEd25519); }

// Why the only line was refused; "" when it was not.
std::string refusal(std::string_view line) {
  const AuthorizedKeys read = AuthorizedKeys::parse(line);
  if (read.refused().size() != 1 || !read.keys().empty()) return {};
  return read.refused().front().why;
}

// The one key of the text.
AuthorizedKey only_key(std::string_view text) {
  const AuthorizedKeys read = AuthorizedKeys::parse(text);
  for (const RefusedLine& line : read.refused()) UNSCOPED_INFO("refused: " << line.why);
  REQUIRE(read.refused().empty());
  REQUIRE(read.keys().size() == 1);
  return read.keys().front();
}

std::string blob_of(std::string_view line) {
  const std::size_t start = line.find(' ') + 1;
  return *from_base64(line.substr(start, line.find(' ', start) - start));
}

KeyVerdict verdict(std::string_view text, std::string_view source, std::int64_t now = kNow) {
  return AuthorizedKeys::parse(text).find(blob_of(kEd25519), source, now).verdict;
}

struct Refused {
  std::string line;
  std::string_view why;
};

void check_refused(const std::vector<Refused>& table) {
  for (const auto& [line, why] : table) {
    CAPTURE(line.substr(0, 160));
    CHECK_THAT(refusal(line), Catch::Contains(std::string(why)));
  }
}

}  // namespace

TEST_CASE("keys that ssh-keygen made are read, and their fingerprints are those it prints") {
  for (const auto& [line, fingerprint] : samples::kAccepted) {
    CAPTURE(line);
    const AuthorizedKey key = only_key(line);
    CHECK(key.blob == blob_of(line));
    CHECK(key_fingerprint(key.blob) == fingerprint);
    CHECK(key.comment == line.substr(line.rfind(' ') + 1));
    CHECK(key.line == 1);
    CHECK_FALSE(key.command);
    CHECK(key.from.empty());
    CHECK_FALSE(key.expires);
  }
}

TEST_CASE("keys that are too short, too old or certificates are refused by name") {
  check_refused({{std::string(samples::kRsa2048), "2048 bits"},
                 {std::string(samples::kDsa), "accept key type ssh-dss"},
                 {std::string(samples::kCertificate), "certificates are not known"},
                 {"ssh-ed448 AAAA", "accept key type ssh-ed448"},
                 {"SSH-ED25519 AAAA", "accept option ssh-ed25519"}});
}

TEST_CASE(
    "blank lines and comments are passed over, line ends of either kind are taken, and lines keep their numbers") {
  const std::string key(kEd25519);
  const AuthorizedKeys read = AuthorizedKeys::parse("# mine\r\n\r\n \t\n" + key + "\r\n  # " + key + "\n\t " + key +
                                                    " \t\nx\n" + std::string(samples::kEcdsa256));
  REQUIRE(read.keys().size() == 3);
  CHECK(read.keys()[0].line == 4);
  CHECK(read.keys()[0].comment == "ed25519@test");
  CHECK(read.keys()[1].line == 6);
  CHECK(read.keys()[1].comment == "ed25519@test");
  CHECK(read.keys()[2].line == 8);
  REQUIRE(read.refused().size() == 1);
  CHECK(read.refused()[0].line == 7);
  CHECK(AuthorizedKeys::parse("").keys().empty());
  CHECK(AuthorizedKeys::parse("\n\n\r\n").refused().empty());
}

TEST_CASE("a comment may hold blanks, or not be there, and tabs part words as blanks do") {
  const std::string bare(kEd25519.substr(0, kEd25519.rfind(' ')));
  CHECK(only_key(bare).comment.empty());
  CHECK(only_key(bare + "  ana, at home \"x\"  ").comment == "ana, at home \"x\"");
  std::string tabs = "restrict\t" + bare;
  tabs[tabs.find(' ')] = '\t';
  CHECK(only_key(tabs).blob == blob_of(kEd25519));
}

TEST_CASE("control bytes refuse their line, in a comment too") {
  const std::string key(kEd25519);
  for (int byte = 0; byte < 0x80; ++byte) {
    if ((byte >= 0x20 && byte != 0x7f) || byte == '\t' || byte == '\n') continue;
    CAPTURE(byte);
    const std::string control(1, static_cast<char>(byte));
    check_refused({{key + control + "x", "control byte"}, {"#" + control + key, "control byte"}});
    if (byte != '\r') check_refused({{key + control, "control byte"}, {control + key, "control byte"}});
  }
  CHECK(only_key(key + " Zo\xc3\xab").comment == "ed25519@test Zo\xc3\xab");
}

TEST_CASE("the four options are honoured, in any order and case, with quotation marks within values") {
  const AuthorizedKey key =
      only_key(with(R"(Restrict,COMMAND="echo \"a, b\" # \\x",from="192.0.2.1,!10.0.0.0/8",expiry-time="20300102Z")"));
  CHECK(key.command == R"(echo "a, b" # \\x)");
  CHECK(key.from == std::vector<std::string>{"192.0.2.1", "!10.0.0.0/8"});
  CHECK(key.expires == 1'893'542'400);
  CHECK(key.blob == blob_of(kEd25519));
  CHECK(only_key(with("restrict")).command == std::nullopt);
  CHECK(only_key(with(R"(command="a	b")")).command == "a\tb");
}

TEST_CASE("options that are not honoured refuse their line and are named") {
  for (const char* option :
       {"cert-authority", "principals=\"ana\"", "environment=\"A=b\"", "permitopen=\"h:1\"", "permitlisten=\"1\"",
        "tunnel=\"0\"", "no-pty", "pty", "no-port-forwarding", "port-forwarding", "no-agent-forwarding",
        "no-x11-forwarding", "no-user-rc", "user-rc", "no-touch-required", "verify-required",
        "zos-key-ring-label=\"x\"", "expiry", "command2=\"x\""}) {
    const std::string_view name = std::string_view(option).substr(0, std::string_view(option).find('='));
    const std::string why = "accept option " + std::string(name) + ": honoured are only";
    check_refused({{with(option), why}, {with("restrict," + std::string(option)), why}});
  }
}

TEST_CASE("options that are not well formed refuse their line") {
  check_refused({
      {with("restrict,restrict"), "restrict: it is given twice"},
      {with(R"(command="a",COMMAND="a")"), "command: it is given twice"},
      {with(R"(from="10.0.0.1",from="*")"), "from: it is given twice"},
      {with(R"(expiry-time="20300101Z",expiry-time="20310101Z")"), "expiry-time: it is given twice"},
      {with(R"(command="")"), "command: it is empty"},
      {with("command"), "command: it needs a value"},
      {with("from"), "from: it needs a value"},
      {with("expiry-time"), "expiry-time: it needs a value"},
      {with(R"(restrict="yes")"), "restrict: it takes no value"},
      {with("command=ls"), "double quotes"},
      {with("command='ls'"), "double quotes"},
      {with("command="), "double quotes"},
      {with(R"(command="ls)"), "double quotes"},
      {with(R"(command="ls\")"), "double quotes"},
      {with(R"(command="ls"x)"), "a comma is needed"},
      {with(R"(command="ls""x")"), "a comma is needed"},
      {with(R"(restrict"")"), "a comma is needed"},
      {with("restrict,"), "a comma and no option"},
      {with(",restrict"), "name of an option is needed"},
      {with("restrict,,restrict"), "name of an option is needed"},
      {with("restrict, command=\"x\""), "a comma and no option"},
      {with("restrict command=\"x\""), "accept key type command"},
      {with("\xef\xbb\xbf"), "name of an option is needed"},
      {with("="), "name of an option is needed"},
      {"restrict", "no key"},
      {"restrict   ", "no key"},
  });
}

TEST_CASE("expiry-time with Z is UTC, to the second") {
  const std::vector<std::pair<std::string, std::int64_t>> table = {
      {"19700101Z", 0},
      {"20000229Z", 951'782'400},
      {"20240229235959Z", 1'709'251'199},
      {"203001020304Z", 1'893'553'440},
      {"20300102030405Z", 1'893'553'445},
      {"99991231235959Z", 253'402'300'799},
  };
  for (const auto& [text, seconds] : table) {
    CAPTURE(text);
    CHECK(only_key(with("expiry-time=\"" + text + "\"")).expires == seconds);
  }
}

TEST_CASE("expiry-time without Z is local time") {
  const char* const set = std::getenv("TZ");
  const std::string before = set == nullptr ? "" : set;
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  ::tzset();
  CHECK(only_key(with(R"(expiry-time="20300102")")).expires == 1'893'542'400 - 3600);
  CHECK(only_key(with(R"(expiry-time="203007010000")")).expires == 1'909'094'400 - 7200);
  CHECK(only_key(with(R"(expiry-time="20300701000009")")).expires == 1'909'094'409 - 7200);
  CHECK(only_key(with(R"(expiry-time="203007010000Z")")).expires == 1'909'094'400);
  CHECK(only_key(with(R"(expiry-time="203003310230")")).expires.has_value());  // the clocks skip it
  set == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
  ::tzset();
}

TEST_CASE("times that no calendar or clock shows refuse their line") {
  for (const char* text : {"20260231",
                           "20260231Z",
                           "20230229Z",
                           "21000229Z",
                           "20260001Z",
                           "20261301Z",
                           "20260100Z",
                           "20260132Z",
                           "19691231Z",
                           "00000101Z",
                           "202601012400Z",
                           "202601012360Z",
                           "20260101235960Z",
                           "2026010123Z",
                           "2026010Z",
                           "202601012Z",
                           "2026010123595Z",
                           "202601012359590Z",
                           "",
                           "Z",
                           "20260101z",
                           "20260101ZZ",
                           "20260101 Z",
                           " 20260101",
                           "2026-01-01",
                           "+2026010",
                           "-2026010",
                           "20260101UTC",
                           "never",
                           "+1d"}) {
    CAPTURE(text);
    check_refused({{with("expiry-time=\"" + std::string(text) + "\""), "read expiry-time"}});
  }
}

TEST_CASE("a key is not good from the second on in which it expires") {
  const std::string line = with(R"(expiry-time="20300102030405Z")");
  CHECK(verdict(line, "192.0.2.1", 1'893'553'444) == KeyVerdict::Good);
  CHECK(verdict(line, "192.0.2.1", 1'893'553'445) == KeyVerdict::Expired);
  CHECK(verdict(line, "192.0.2.1", 1'893'553'446) == KeyVerdict::Expired);
}

TEST_CASE("the first line of a key that is good counts, else the last says why not") {
  const std::string text = with(R"(expiry-time="20000101Z")") + "\n" + with(R"(from="10.0.0.1",command="a")") + "\n" +
                           with(R"(command="b")") + "\n" + with(R"(command="c")") + "\n";
  const AuthorizedKeys keys = AuthorizedKeys::parse(text);
  REQUIRE(keys.keys().size() == 4);
  const std::string blob = blob_of(kEd25519);
  const KeyFound near = keys.find(blob, "10.0.0.1", kNow);
  CHECK(near.verdict == KeyVerdict::Good);
  CHECK(near.key == &keys.keys()[1]);
  CHECK(keys.find(blob, "10.0.0.2", kNow).key == &keys.keys()[2]);

  const AuthorizedKeys bad = AuthorizedKeys::parse(text.substr(0, text.find("command=\"b\"")));
  const KeyFound found = bad.find(blob, "10.0.0.2", kNow);
  CHECK(found.verdict == KeyVerdict::FromElsewhere);
  REQUIRE(found.key != nullptr);
  CHECK(found.key->line == 2);

  for (const std::string& other : {std::string(), blob.substr(1), blob + '\0', blob_of(samples::kEcdsa256)}) {
    CHECK(keys.find(other, "10.0.0.1", kNow).verdict == KeyVerdict::Unknown);
    CHECK(keys.find(other, "10.0.0.1", kNow).key == nullptr);
  }
}
