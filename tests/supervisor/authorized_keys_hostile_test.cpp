// Keys that are not well formed, lines that were changed, files that are too large.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "jail/supervisor/authorized_keys.h"
#include "jail/wire/result_json.h"
#include "tests/supervisor/authorized_keys_samples.h"

using namespace mayfly;

namespace {

std::string string_of(std::string_view bytes) {  // a string of RFC 4251 section 5
  std::string whole;
  for (int shift = 24; shift >= 0; shift -= 8) whole += static_cast<char>(bytes.size() >> shift & 255);
  return whole.append(bytes);
}

std::string refusal(std::string_view line) {
  const AuthorizedKeys read = AuthorizedKeys::parse(line);
  if (!read.keys().empty()) return "accepted";
  return read.refused().empty() ? "passed over" : read.refused().front().why;
}

std::string line_of(std::string_view type, std::string_view numbers) {
  return std::string(type) + " " + base64(string_of(type) + std::string(numbers));
}

std::string rsa(std::string_view exponent, std::string_view modulus) {
  return line_of("ssh-rsa", string_of(exponent) + string_of(modulus));
}

// Of so many bits; with the zero byte that keeps it positive where it needs one.
std::string number_of(std::size_t bits) {
  std::string digits((bits + 7) / 8, '\x5b');
  digits[0] = static_cast<char>(1 << ((bits - 1) % 8));
  return (bits % 8 == 0 ? std::string(1, '\0') : std::string()) + digits;
}

struct Row {
  std::string line;
  std::string_view outcome;
};

void check(const std::vector<Row>& table) {
  for (const auto& [line, outcome] : table) {
    CAPTURE(line.substr(0, 160));
    CHECK_THAT(refusal(line), Catch::Contains(std::string(outcome)));
  }
}

// What the line says, read in the simplest way: the first word that is a key type, and the base64 behind it.
std::optional<std::string> blob_in(std::string_view line, std::string_view type) {
  const std::size_t at = line.find(type);
  if (at == std::string_view::npos || line.find_first_of(" \t", at) != at + type.size()) return std::nullopt;
  const std::size_t start = line.find_first_not_of(" \t", at + type.size());
  if (start == std::string_view::npos) return std::nullopt;
  auto blob = from_base64(line.substr(start, line.find_first_of(" \t\r\n", start) - start));
  if (!blob) return std::nullopt;
  return *blob;
}

// Every key that was read is the one that the text shows.
bool is_as_shown(std::string_view text, std::string_view type) {
  const AuthorizedKeys read = AuthorizedKeys::parse(text);
  return std::all_of(read.keys().begin(), read.keys().end(),
                     [&](const AuthorizedKey& key) { return key.blob == blob_in(text, type); });
}

std::chrono::microseconds fastest_parse(std::string_view text) {
  auto best = std::chrono::microseconds::max();
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    (void)AuthorizedKeys::parse(text);
    best =
        std::min(best, std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start));
  }
  return best;
}

// A search that is not linear would take minutes. Sanitizers and a busy host take their time.
constexpr std::chrono::milliseconds kHostileLimit{1000};
#ifdef __SANITIZE_ADDRESS__
constexpr std::chrono::milliseconds kParseLimit{1000};
#else
constexpr std::chrono::milliseconds kParseLimit{50};
#endif

}  // namespace

TEST_CASE("an Ed25519 key has 32 bytes and nothing behind them") {
  const std::string point(32, 'k');
  check({{line_of("ssh-ed25519", string_of(point)), "accepted"},
         {line_of("ssh-ed25519", string_of(point.substr(1))), "32 bytes"},
         {line_of("ssh-ed25519", string_of(point + "k")), "32 bytes"},
         {line_of("ssh-ed25519", string_of(point) + "k"), "bytes follow"},
         {line_of("ssh-ed25519", ""), "32 bytes"},
         {line_of("ssh-ed25519", std::string("\xff\xff\xff\xff", 4) + point), "32 bytes"},
         {"ssh-ed25519 " + base64(string_of("ssh-rsa") + string_of(point)), "of type ssh-rsa"},
         {"ssh-rsa " + base64(string_of("ssh-ed25519") + string_of(point)), "of type ssh-ed25519"},
         {"ssh-ed25519 " + base64(std::string("\0\0", 2)), "cut short within its own type"},
         {"ssh-ed25519 " + base64(std::string("\0\0\0\x0cssh-ed25519", 15)), "cut short within its own type"},
         {"ssh-ed25519", "stands alone"},
         {"ssh-ed25519 A", "base64"},
         {"ssh-ed25519 ====", "base64"}});
}

TEST_CASE("an ECDSA key is an uncompressed point of the curve that its type names") {
  const std::string point = "\x04" + std::string(64, 'k');
  const auto p256 = [](std::string_view numbers) { return line_of("ecdsa-sha2-nistp256", numbers); };
  check({{p256(string_of("nistp256") + string_of(point)), "accepted"},
         {p256(string_of("nistp384") + string_of(point)), "curve is another"},
         {p256(string_of(point)), "curve is another"},
         {p256(string_of("nistp256")), "uncompressed"},
         {p256(string_of("nistp256") + string_of("\x02" + point.substr(1))), "uncompressed"},
         {p256(string_of("nistp256") + string_of("\x02" + std::string(32, 'k'))), "uncompressed"},
         {p256(string_of("nistp256") + string_of(point + "k")), "uncompressed"},
         {p256(string_of("nistp256") + string_of(point) + string_of("ssh:")), "bytes follow"},
         {line_of("ecdsa-sha2-nistp384", string_of("nistp384") + string_of(point)), "uncompressed"},
         {line_of("ecdsa-sha2-nistp521", string_of("nistp521") + string_of("\x04" + std::string(132, 'k'))),
          "accepted"}});
}

TEST_CASE("an RSA key has 3072 to 16384 bits, counted in its modulus, and numbers that are written in one way") {
  const std::string e("\x01\x00\x01", 3);
  const std::string zero(1, '\0');
  check({{rsa(e, number_of(3072)), "accepted"},
         {rsa(e, number_of(3073)), "accepted"},
         {rsa(e, number_of(16384)), "accepted"},
         {rsa(e, number_of(3071)), "it has 3071 bits"},
         {rsa(e, number_of(3065)), "it has 3065 bits"},
         {rsa(e, number_of(16385)), "it has 16385 bits"},
         {rsa(e, zero + number_of(3071)), "modulus is no positive"},
         {rsa(e, number_of(3072).substr(1)), "modulus is no positive"},
         {rsa(e, std::string(500, '\0')), "modulus is no positive"},
         {rsa(e, ""), "modulus is no positive"},
         {rsa(zero + e, number_of(3072)), "exponent is no positive"},
         {rsa("\x80\x01", number_of(3072)), "exponent is no positive"},
         {rsa("", number_of(3072)), "exponent is no positive"},
         {rsa(zero, number_of(3072)), "exponent is no positive"},
         {rsa("\x01", number_of(3072)), "even or 1"},
         {rsa("\x02", number_of(3072)), "even or 1"},
         {rsa("\x03", number_of(3072)), "accepted"},
         {line_of("ssh-rsa", string_of(e)), "modulus is no positive"},
         {line_of("ssh-rsa", string_of(e) + string_of(number_of(3072)) + zero), "bytes follow"}});
}

TEST_CASE("a key on a token has an application behind its numbers") {
  const std::string type = "sk-ssh-ed25519@openssh.com";
  const std::string point(32, 'k');
  check({{line_of(type, string_of(point) + string_of("ssh:")), "accepted"},
         {line_of(type, string_of(point)), "application is cut short"},
         {line_of(type, string_of(point) + string_of("ssh:").substr(0, 7)), "application is cut short"},
         {line_of(type, string_of(point) + string_of("ssh:") + "x"), "bytes follow"}});
}

TEST_CASE("no truncation of a line and no change of one byte yields a key that the line does not show") {
  const std::string options = R"(restrict,from="10.0.0.0/8,!10.1.*",command="echo \"x\"",expiry-time="20300101Z" )";
  const std::vector<std::pair<std::string_view, std::string>> lines = {
      {"ssh-ed25519", options + std::string(samples::kEd25519)},
      {"ecdsa-sha2-nistp256", std::string(samples::kEcdsa256)}};
  for (const auto& [type, line] : lines) {
    std::vector<std::string> misread;
    for (std::size_t length = 0; length < line.size(); ++length)
      if (!is_as_shown(line.substr(0, length), type)) misread.push_back(line.substr(0, length));
    for (std::size_t at = 0; at < line.size(); ++at)
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = line;
        changed[at] = static_cast<char>(byte);
        if (!is_as_shown(changed, type)) misread.push_back(changed);
      }
    CHECK_THAT(misread, Catch::Equals(std::vector<std::string>{}));
  }
}

TEST_CASE("a line that was cut within its key is refused") {
  for (const auto& [line, fingerprint] : samples::kAccepted)
    for (std::size_t length = 1; length < line.rfind(' '); ++length) {
      if (AuthorizedKeys::parse(line.substr(0, length)).keys().empty()) continue;
      FAIL_CHECK("taken: " << line.substr(0, length));
    }
}

TEST_CASE("lines beyond 4096 and bytes beyond 1 MiB are one refused line") {
  const std::string key = std::string(samples::kEd25519) + "\n";
  std::string full(kMostKeyLines - 1, '\n');
  CHECK(AuthorizedKeys::parse(full + key).keys().size() == 1);
  CHECK(AuthorizedKeys::parse(full + key).refused().empty());
  const AuthorizedKeys more = AuthorizedKeys::parse(full + key + key + key);
  CHECK(more.keys().size() == 1);
  REQUIRE(more.refused().size() == 1);
  CHECK(more.refused()[0].line == 4097);

  const std::string filled = key + "#" + std::string(kMostKeyFileBytes - key.size() * 2 - 1, 'x') + "\n";
  CHECK(AuthorizedKeys::parse(filled + key.substr(0, key.size() - 1)).keys().size() == 2);
  const AuthorizedKeys cut = AuthorizedKeys::parse(filled + key.substr(0, key.size() - 1) + "yz\n" + key);
  CHECK(cut.keys().size() == 1);
  REQUIRE(cut.refused().size() == 1);
  CHECK(cut.refused()[0].line == 3);
}

TEST_CASE("4096 keys in 1 MiB are read in 50 ms") {
  const std::string key(samples::kEd25519);
  std::string text;
  for (std::size_t line = 0; line < kMostKeyLines; ++line)
    text += key + std::string(kMostKeyFileBytes / kMostKeyLines - key.size() - 1, 'c') + "\n";
  CHECK(text.size() == kMostKeyFileBytes);
  CHECK(AuthorizedKeys::parse(text).keys().size() == kMostKeyLines);
  CHECK(fastest_parse(text) < kParseLimit);
}

TEST_CASE("whatever fills a file of 1 MiB, the time to read it grows with its length alone") {
  const std::string key(samples::kEd25519);
  const auto filled = [](std::string_view piece) {
    std::string text;
    while (text.size() + piece.size() <= kMostKeyFileBytes - 300) text += piece;
    return text;
  };
  const std::vector<std::string> files = {
      filled(std::string(samples::kRsa3072) + "\n"),
      filled(","),
      filled("\""),
      filled("*"),
      filled("\\\""),
      filled("restrict,"),
      filled("\n"),
      filled("A"),
      "command=\"" + filled("\\\"") + "\" " + key,
      "command=\"" + filled(",") + "\" " + key,
      "from=\"" + filled("*") + "\" " + key,
      "from=\"" + filled("*,") + "*\" " + key,
      "from=\"" + filled("!*,") + "*\" " + key,
      "from=\"" + filled("?,") + "*\" " + key,
      "ssh-rsa " + filled("AAAA"),
      "# " + filled("\" "),
  };
  for (const std::string& file : files) {
    CAPTURE(file.substr(0, 40));
    CHECK(fastest_parse(file) < kHostileLimit);
  }
}

TEST_CASE("a pattern of 1 MiB with stars is compared in time that grows with its length alone") {
  std::string stars;
  while (stars.size() < kMostKeyFileBytes - 300) stars += "*1*?";
  const AuthorizedKeys keys = AuthorizedKeys::parse("from=\"" + stars + "2\" " + std::string(samples::kEd25519));
  REQUIRE(keys.keys().size() == 1);
  const auto start = std::chrono::steady_clock::now();
  const KeyFound found = keys.find(keys.keys()[0].blob, "111.111.111.111", 0);
  CHECK(found.verdict == KeyVerdict::FromElsewhere);
  CHECK(std::chrono::steady_clock::now() - start < kHostileLimit);
}
