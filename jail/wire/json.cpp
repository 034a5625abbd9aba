#include <algorithm>
#include <limits>

#include "jail/spec/escape.h"
#include "jail/wire/frame.h"

namespace mayfly {

namespace {

// Of one object; no message has half as many. A Json object compares each new key with every earlier one: a million
// keys in one would take hours, and sixteen MiB of objects of a thousand each some seconds.
constexpr std::size_t kMostKeys = 128;

// All that a text may hold, in all objects and arrays together: a tree of a peer's million values takes a second.
constexpr std::size_t kMostValues = 16'384;

// What is wrong with its shape, or "". Judged on the text, before any tree exists.
std::string wrong_shape(std::string_view text, std::size_t most_depth) {
  std::size_t depth = 0, values = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    if (c == '"')
      in_string = true;
    else if (c == '{' || c == '[') {
      if (++depth > most_depth) return "nested deeper than " + std::to_string(most_depth) + " levels";
    } else if ((c == '}' || c == ']') && depth > 0)
      --depth;
    // Each value but the first of its object or array stands behind a comma, that one behind a bracket.
    if ((c == ',' || c == '{' || c == '[') && ++values > kMostValues)
      return "more than " + std::to_string(kMostValues) + " values";
  }
  return {};
}

// Builds the tree as the text is read (nlohmann's SAX interface), and stops at the first thing that is not allowed.
// The library's own parser with a callback takes three times as long.
class TreeMaker final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON text
  bool start_object(std::size_t /*unknown*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*unknown*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    if (members.size() >= kMostKeys)
      return refuse("", "an object has more than " + std::to_string(kMostKeys) + " fields");
    const auto [member, is_new] = members.emplace(name, nullptr);
    member_ = &member->second;
    return is_new || refuse(escape(name, 60), "the key is there twice");
  }

  bool parse_error(std::size_t at, const std::string& token, const Json::exception& error) override {
    using namespace std::string_view_literals;
    // "[json.exception.out_of_range.406] ...": a number that no double holds. All else is text that is not JSON.
    if (std::string_view(error.what()).find("out_of_range"sv) != std::string_view::npos)
      return refuse("", "byte " + std::to_string(at) + ": the number " + escape(token, 40) + " is too large");
    const bool ended = std::string_view(error.what()).find("end of input"sv) != std::string_view::npos;
    const std::string near = ended ? "the text ends too early" : "unexpected \"" + escape(token, 40) + "\"";
    return refuse("", "this is not JSON: byte " + std::to_string(at) + ": " + near);
  }

  [[nodiscard]] Failure failure() const { return {"read JSON", 0, field_, why_}; }
  Json take() { return std::move(root_); }

 private:
  // Where the next value goes: an open array's end, the member whose key came last, or the root.
  template <typename Value>
  Json* place(Value&& value) {
    if (open_.empty()) return &(root_ = std::forward<Value>(value));
    Json& parent = *open_.back();
    if (!parent.is_array()) return &(*member_ = std::forward<Value>(value));
    parent.push_back(std::forward<Value>(value));
    return &parent.back();
  }
  template <typename Value>
  bool put(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }
  // An open container is not moved: its parent grows only when it is closed.
  bool open(Json&& container) {
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool refuse(std::string field, std::string why) {
    field_ = std::move(field);
    why_ = std::move(why);
    return false;
  }

  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
  std::string field_, why_;
};

}  // namespace

Expected<Json> parse_json(std::string_view text, std::size_t most_depth) {
  if (std::string wrong = wrong_shape(text, most_depth); !wrong.empty())
    return failure("read JSON", 0, "", std::move(wrong));
  TreeMaker maker;
  if (!Json::sax_parse(text, &maker)) return tl::make_unexpected(maker.failure());
  return maker.take();
}

std::string JsonReader::path(std::string_view key) const {
  return where_.empty() ? std::string(key) : where_ + "." + std::string(key);
}

const Json* JsonReader::find(std::string_view key) {
  if (!object_.is_object()) return nullptr;
  const auto& members = object_.get_ref<const Json::object_t&>();
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  if (found == members.end()) return nullptr;
  was_read_.resize(members.size());
  was_read_[static_cast<std::size_t>(found - members.begin())] = true;
  return &found->second;
}

bool JsonReader::has(std::string_view key) const { return object_.is_object() && object_.contains(key); }

namespace {

auto wrong(std::string field, std::string why) { return failure("read field", 0, std::move(field), std::move(why)); }

std::string whole_range(std::uint64_t least, std::uint64_t most) {
  if (most >= INT64_MAX) return "a whole number";  // whoever judges its size comes later
  return "a whole number in " + std::to_string(least) + ".." + std::to_string(most);
}

}  // namespace

Expected<std::optional<std::uint64_t>> JsonReader::optional_number(std::string_view key, std::uint64_t least,
                                                                   std::uint64_t most) {
  const Json* value = find(key);
  if (!value) return std::optional<std::uint64_t>();
  if (!value->is_number_unsigned() && !(value->is_number_integer() && value->get<std::int64_t>() >= 0))
    return wrong(path(key), whole_range(least, most) + " is needed");
  const auto number = value->get<std::uint64_t>();
  if (number < least || number > most)
    return wrong(path(key), whole_range(least, most) + " is needed, got " + std::to_string(number));
  return std::optional<std::uint64_t>(number);
}

Expected<std::uint64_t> JsonReader::number(std::string_view key, std::uint64_t least, std::uint64_t most) {
  const auto value = TRY(optional_number(key, least, most));
  if (!value) return wrong(path(key), "is missing: " + whole_range(least, most) + " is needed");
  return *value;
}

Expected<std::optional<std::int64_t>> JsonReader::optional_integer(std::string_view key) {
  const Json* value = find(key);
  if (!value) return std::optional<std::int64_t>();
  if (!value->is_number_integer()) return wrong(path(key), "a whole number is needed");
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX)
    return wrong(path(key), "too large a number");
  return std::optional<std::int64_t>(value->get<std::int64_t>());
}

Expected<std::optional<double>> JsonReader::optional_real(std::string_view key, double least, double most) {
  const Json* value = find(key);
  if (!value) return std::optional<double>();
  const bool any = most >= std::numeric_limits<double>::max();  // whoever judges its size comes later
  const std::string range =
      any ? "a number is needed" : "a number in " + Json(least).dump() + ".." + Json(most).dump() + " is needed";
  if (!value->is_number()) return wrong(path(key), range);
  const double number = value->get<double>();
  if (!(number >= least && number <= most)) return wrong(path(key), range + ", got " + value->dump());
  return std::optional<double>(number);
}

Expected<std::optional<std::string>> JsonReader::optional_text(std::string_view key, std::size_t most_bytes) {
  const Json* value = find(key);
  if (!value) return std::optional<std::string>();
  if (!value->is_string()) return wrong(path(key), "a string is needed");
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() > most_bytes)
    return wrong(path(key), "at most " + std::to_string(most_bytes) + " bytes, got " + std::to_string(text.size()));
  return std::optional<std::string>(text);
}

Expected<std::string> JsonReader::text(std::string_view key, std::size_t most_bytes) {
  auto value = TRY(optional_text(key, most_bytes));
  if (!value) return wrong(path(key), "is missing: a string is needed");
  return std::move(*value);
}

Expected<bool> JsonReader::boolean(std::string_view key, bool otherwise) {
  const Json* value = find(key);
  if (!value) return otherwise;
  if (!value->is_boolean()) return wrong(path(key), "true or false is needed");
  return value->get<bool>();
}

Expected<const Json*> JsonReader::optional_object(std::string_view key) {
  const Json* value = find(key);
  if (value && !value->is_object()) return wrong(path(key), "an object is needed");
  return value;
}

Expected<const Json*> JsonReader::object(std::string_view key) {
  const Json* value = TRY(optional_object(key));
  if (!value) return wrong(path(key), "is missing: an object is needed");
  return value;
}

Expected<const Json*> JsonReader::optional_array(std::string_view key, std::size_t most_items) {
  const Json* value = find(key);
  if (value && !value->is_array()) return wrong(path(key), "a list is needed");
  if (value && value->size() > most_items)
    return wrong(path(key), "at most " + std::to_string(most_items) + " items, got " + std::to_string(value->size()));
  return value;
}

Expected<void> JsonReader::finish() const {
  if (!object_.is_object()) return wrong(where_.empty() ? "message" : where_, "an object is needed");
  std::size_t at = 0;
  for (const auto& [key, value] : object_.get_ref<const Json::object_t&>())
    if (at >= was_read_.size() || !was_read_[at++]) return wrong(path(escape(key, 60)), "is not a known field");
  return {};
}

}  // namespace mayfly
