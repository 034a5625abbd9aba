#include "jail/supervisor/authorized_keys.h"

#include <algorithm>

#include "jail/supervisor/key_blob.h"
#include "jail/supervisor/key_options.h"
#include "jail/supervisor/source_pattern.h"

namespace mayfly {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view without_leading_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);  // npos + 1 is 0
}

// Up to the next blank; `rest` then begins with what follows the blanks.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest = without_leading_blanks(rest.substr(word.size()));
  return word;
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7f'; }

Expected<AuthorizedKey> read_key(std::string_view line) {
  AuthorizedKey key;
  if (!is_key_type(line.substr(0, line.find_first_of(kBlanks)))) {
    const std::size_t length = options_length(line);
    KeyOptions options = TRY(read_key_options(line.substr(0, length)));
    key.command = std::move(options.command);
    key.from = std::move(options.from);
    key.expires = options.expires;
    line = without_leading_blanks(line.substr(length));
  }
  const std::string_view type = take_word(line);
  if (type.empty()) return failure("read key", 0, {}, "options stand there and no key");
  const std::string_view encoded = take_word(line);
  if (encoded.empty()) return failure("read key", 0, {}, "its type stands alone");
  key.blob = TRY(read_key_blob(type, encoded));
  key.comment = line;
  return key;
}

// Nothing for a line without a key: blank, or a comment. A control byte refuses a comment too: an editor may have shown
// it as the end of the line, and what follows as a key.
Expected<std::optional<AuthorizedKey>> read_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (std::any_of(line.begin(), line.end(), is_control)) return failure("read line", 0, {}, "it holds a control byte");
  line = without_trailing_blanks(without_leading_blanks(line));
  if (line.empty() || line.front() == '#') return std::nullopt;
  return TRY(read_key(line));
}

KeyVerdict judge(const AuthorizedKey& key, std::string_view source, std::int64_t now_unix_s) {
  if (key.expires && now_unix_s >= *key.expires) return KeyVerdict::Expired;
  if (!key.from.empty() && !comes_from(key.from, source)) return KeyVerdict::FromElsewhere;
  return KeyVerdict::Good;
}

}  // namespace

// A line that the bound on bytes cuts is not judged: its beginning may be another line than its whole.
AuthorizedKeys AuthorizedKeys::parse(std::string_view text) {
  AuthorizedKeys all;
  std::size_t at = 0;
  for (int number = 1; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (number > static_cast<int>(kMostKeyLines) || end > kMostKeyFileBytes) {
      all.refused_.push_back({number, "read file: this line and all behind it are beyond " +
                                          std::to_string(kMostKeyLines) + " lines or " +
                                          std::to_string(kMostKeyFileBytes) + " bytes"});
      break;
    }
    auto key = read_line(text.substr(at, end - at));
    if (!key) {
      all.refused_.push_back({number, key.error().text()});
    } else if (*key) {
      (*key)->line = number;
      all.keys_.push_back(std::move(**key));
    }
    at = end + 1;
  }
  return all;
}

KeyFound AuthorizedKeys::find(std::string_view blob, std::string_view source, std::int64_t now_unix_s) const {
  KeyFound found;
  for (const AuthorizedKey& key : keys_) {
    if (key.blob != blob) continue;
    found = {judge(key, source, now_unix_s), &key};
    if (found.verdict == KeyVerdict::Good) break;
  }
  return found;
}

}  // namespace mayfly
