#include "jail/supervisor/key_options.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "jail/spec/escape.h"
#include "jail/supervisor/source_pattern.h"
#include "jail/wire/lease.h"

namespace mayfly {

namespace {

struct Option {
  std::string name;  // in lower case
  std::optional<std::string> value;
};

auto not_accepted(std::string_view option, std::string why) {
  return failure("accept option", 0, escape(option, 60), std::move(why));
}

// Not tolower(3), which asks the locale.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_name_character(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '@' || c == '.';
}

// A backslash stands for itself before anything but a quotation mark, as in OpenSSH.
bool is_escaped_quote(std::string_view text, std::size_t at) {
  return text[at] == '\\' && text.substr(at + 1, 1) == "\"";
}

// The value at the start of `rest` with its quotes; nothing when it has no two of them.
std::optional<std::string> take_quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  std::string value;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return value;
    }
    if (is_escaped_quote(rest, at)) ++at;
    value += rest[at];
  }
  return std::nullopt;
}

Expected<Option> take_option(std::string_view& rest) {
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_name_character);
  Option option;
  std::transform(rest.begin(), end, std::back_inserter(option.name), lower);
  if (option.name.empty()) return failure("read options", 0, escape(rest, 60), "the name of an option is needed here");
  rest.remove_prefix(option.name.size());
  if (rest.starts_with('=')) {
    rest.remove_prefix(1);
    option.value = take_quoted(rest);
    if (!option.value) return not_accepted(option.name, "its value is not in double quotes");
  }
  if (rest.empty()) return option;
  if (rest.front() != ',') return not_accepted(option.name, "a comma is needed behind it");
  rest.remove_prefix(1);
  if (rest.empty()) return not_accepted(option.name, "a comma and no option follow it");
  return option;
}

std::optional<std::chrono::sys_days> read_date(std::string_view digits) {
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = 0;
    for (const char digit : digits.substr(at, length)) value = value * 10 + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day date(std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(4, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(6, 2))));
  if (!date.ok() || date.year() < std::chrono::year(1970)) return std::nullopt;
  return std::chrono::sys_days(date);
}

// HHMM[SS], or nothing for midnight.
std::optional<std::chrono::seconds> read_time_of_day(std::string_view digits) {
  std::array<int, 3> parts{};
  for (std::size_t at = 0; at < digits.size(); ++at) parts[at / 2] = parts[at / 2] * 10 + (digits[at] - '0');
  if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return std::nullopt;
  return std::chrono::hours(parts[0]) + std::chrono::minutes(parts[1]) + std::chrono::seconds(parts[2]);
}

// What the clocks on the wall show as `shown`. An hour that they skip or repeat is whichever mktime(3) makes of it:
// the calendar was judged before, and a midnight that was skipped is still a date that people write.
std::int64_t local_time(std::chrono::sys_seconds shown) {
  const std::time_t as_if_utc = shown.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&as_if_utc, &parts);
  parts.tm_isdst = -1;
  return ::mktime(&parts);
}

Expected<std::int64_t> read_expiry(std::string_view text) {
  const auto wrong = [&](std::string why) { return failure("read expiry-time", 0, escape(text, 60), std::move(why)); };
  const bool utc = text.ends_with('Z');
  const std::string_view digits = text.substr(0, text.size() - (utc ? 1 : 0));
  const bool length_fits = digits.size() == 8 || digits.size() == 12 || digits.size() == 14;
  if (!length_fits || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return wrong("YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z] is needed");
  const auto date = read_date(digits.substr(0, 8));
  if (!date) return wrong("there is no such day, or it is before 1970");
  const auto time = read_time_of_day(digits.substr(8));
  if (!time) return wrong("there is no such time of day");
  const std::chrono::sys_seconds shown = *date + *time;
  return utc ? shown.time_since_epoch().count() : local_time(shown);
}

Expected<void> set_command(KeyOptions& options, const std::string& value) {
  if (value.empty()) return not_accepted("command", "it is empty");
  if (value.size() > kMostForcedCommand) return not_accepted("command", "it is longer than 8 KiB");
  if (!is_utf8(value)) return not_accepted("command", "it is not UTF-8");
  options.command = value;
  return {};
}

Expected<void> set_from(KeyOptions& options, const std::string& value) {
  options.from = TRY(read_source_patterns(value));
  return {};
}

Expected<void> set_expiry(KeyOptions& options, const std::string& value) {
  options.expires = TRY(read_expiry(value));
  return {};
}

struct Honoured {
  std::string_view name;
  Expected<void> (*set)(KeyOptions&, const std::string&);  // null: takes no value
};

constexpr std::array kHonoured = {
    Honoured{"restrict", nullptr},  // takes away forwarding, terminals of its kind and rc files: nothing of it is here
    Honoured{"command", set_command},
    Honoured{"from", set_from},
    Honoured{"expiry-time", set_expiry},
};

Expected<void> accept(KeyOptions& options, const Honoured& row, const std::optional<std::string>& value) {
  if (row.set == nullptr) return value ? Expected<void>(not_accepted(row.name, "it takes no value")) : Expected<void>();
  if (!value) return not_accepted(row.name, "it needs a value, =\"...\"");
  return row.set(options, *value);
}

}  // namespace

std::size_t options_length(std::string_view line) {
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (is_escaped_quote(line, at))
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
    else if (!quoted && (line[at] == ' ' || line[at] == '\t'))
      return at;
  }
  return line.size();
}

Expected<KeyOptions> read_key_options(std::string_view field) {
  KeyOptions options;
  std::array<bool, kHonoured.size()> given{};
  while (!field.empty()) {
    const Option option = TRY(take_option(field));
    const auto* const row = std::find_if(kHonoured.begin(), kHonoured.end(),
                                         [&](const Honoured& honoured) { return honoured.name == option.name; });
    if (row == kHonoured.end())
      return not_accepted(option.name, "honoured are only restrict, command=, from= and expiry-time=");
    bool& before = given[static_cast<std::size_t>(row - kHonoured.begin())];
    if (before) return not_accepted(option.name, "it is given twice");
    before = true;
    TRY(accept(options, *row, option.value));
  }
  return options;
}

}  // namespace mayfly
