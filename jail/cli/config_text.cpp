#include "jail/cli/config_text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::size_t kMostLevels = 8;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

auto wrong_at(const std::string& name, int line, std::string why) {
  return failure("read configuration", 0, name + ":" + std::to_string(line), std::move(why));
}

// Counts lines as the lexer takes characters: its callbacks come with the last character of a token.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  int* line_;
};

// nlohmann's SAX interface; its virtual functions are the names here. A false ends the parsing.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(ConfigText& out, const int& line) : out_(out), line_(line) {}

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(number_integer_t value) override { return place(value); }
  bool number_unsigned(number_unsigned_t value) override { return place(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return place(value); }
  bool string(string_t& value) override { return place(value); }
  bool binary(binary_t& /*value*/) override { return fail("binary data"); }  // not in JSON text
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (open_.back().node->contains(name)) return fail("\"" + escape(name, 60) + "\" is there twice");
    key_ = name;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const nlohmann::detail::exception& /*why*/) override {
    return fail("not JSON here, near \"" + escape(token, 40) + "\"");
  }

  std::string wrong;
  int wrong_line = 0;

 private:
  struct Level {
    Json* node;
    std::string path;
  };

  bool fail(std::string why) {
    wrong = std::move(why);
    wrong_line = line_;
    return false;
  }

  Json* put(Json value, std::string& path) {
    if (open_.empty()) {
      out_.root = std::move(value);
      return &out_.root;
    }
    Json& parent = *open_.back().node;
    const std::string& above = open_.back().path;
    Json* placed = nullptr;
    if (parent.is_array()) {
      path = above + "[" + std::to_string(parent.size()) + "]";
      parent.push_back(std::move(value));
      placed = &parent.back();
    } else {
      path = above.empty() ? key_ : above + "." + key_;
      placed = &(parent[key_] = std::move(value));
    }
    out_.lines[path] = line_;
    return placed;
  }
  bool place(Json value) {
    std::string path;
    put(std::move(value), path);
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kMostLevels) return fail("nested more than 8 levels deep");
    std::string path;
    Json* const node = put(std::move(value), path);
    open_.push_back({node, std::move(path)});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  ConfigText& out_;
  const int& line_;
  // Only the innermost is ever grown, so the nodes above it stay where they are.
  std::vector<Level> open_;
  std::string key_;
};

}  // namespace

Expected<ConfigText> parse_config(std::string_view text, std::string name) {
  if (text.size() > kMostBytes) return failure("read configuration", 0, std::move(name), "at most 1 MiB is allowed");
  ConfigText out;
  out.name = std::move(name);
  int line = 1;
  TreeBuilder builder(out, line);
  const CountingIterator first(text.data(), &line), last(text.data() + text.size(), &line);
  // Strict: nothing may follow. Comments are allowed, in the file alone.
  const bool parsed = Json::sax_parse(first, last, &builder, nlohmann::detail::input_format_t::json, true, true);
  if (!parsed) return wrong_at(out.name, builder.wrong_line, builder.wrong);
  if (!out.root.is_object()) return wrong_at(out.name, 1, "an object is needed: { ... }");
  return out;
}

std::string ConfigReader::path(std::string_view key) const {
  return where_.empty() ? std::string(key) : where_ + "." + std::string(key);
}

tl::unexpected<Failure> ConfigReader::wrong(std::string_view key, std::string why) const {
  const std::string full = path(key);
  const auto found = text_.lines.find(full);
  return wrong_at(text_.name, found == text_.lines.end() ? 1 : found->second,
                  escape(full, 120) + ": " + std::move(why));
}

const Json* ConfigReader::find(const char* key) {
  seen_.emplace_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

Expected<std::uint64_t> ConfigReader::number(const char* key, std::uint64_t least, std::uint64_t most,
                                             std::uint64_t otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  const std::string range = "allowed " + std::to_string(least) + ".." + std::to_string(most);
  if (!value->is_number_unsigned()) return wrong(key, range + ", a whole number");
  const auto number = value->get<std::uint64_t>();
  if (number < least || number > most) return wrong(key, range + ", got " + std::to_string(number));
  return number;
}

Expected<std::uint64_t> ConfigReader::number_or_auto(const char* key, std::uint64_t least, std::uint64_t most,
                                                     std::uint64_t otherwise) {
  const auto found = object_.find(key);
  if (found == object_.end() || !found->is_string()) return number(key, least, most, otherwise);
  seen_.emplace_back(key);
  if (found->get<std::string>() == "auto") return std::uint64_t{0};
  return wrong(key, "allowed \"auto\" or " + std::to_string(least) + ".." + std::to_string(most));
}

Expected<double> ConfigReader::real(const char* key, double least, double most, double otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  const auto number = value->is_number() ? value->get<double>() : -1.0;
  if (number >= least && number <= most) return number;
  char range[80];
  std::snprintf(range, sizeof range, "allowed %g..%g", least, most);
  return wrong(key, range);
}

Expected<double> ConfigReader::real_or_auto(const char* key, double least, double most) {
  const auto found = object_.find(key);
  if (found == object_.end() || !found->is_string()) return real(key, least, most, 0.0);
  seen_.emplace_back(key);
  if (found->get<std::string>() == "auto") return 0.0;
  return wrong(key, "allowed \"auto\" or a number");
}

Expected<bool> ConfigReader::boolean(const char* key, bool otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return wrong(key, "allowed true or false");
  return value->get<bool>();
}

Expected<std::string> ConfigReader::text(const char* key, std::string otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) return wrong(key, "a string is needed");
  return value->get<std::string>();
}

Expected<const Json*> ConfigReader::object(const char* key) {
  const Json* value = find(key);
  if (value != nullptr && !value->is_object()) return wrong(key, "an object is needed: { ... }");
  return value;
}

Expected<const Json*> ConfigReader::list(const char* key) {
  const Json* value = find(key);
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (value != nullptr && !(value->is_array() && std::ranges::all_of(*value, is_text)))
    return wrong(key, "a list of strings is needed: [ ... ]");
  return value;
}

Expected<void> ConfigReader::refuse_later(const char* key, const char* what) {
  if (find(key) == nullptr) return {};
  return wrong(key, std::string(what) + " is not available in this version; take the line out");
}

Expected<void> ConfigReader::finish() const {
  for (const auto& [key, value] : object_.items())
    if (std::ranges::find(seen_, key) == seen_.end()) {
      std::string known;
      for (const std::string& name : seen_) known += (known.empty() ? "" : ", ") + name;
      return wrong(key, "unknown key; known here: " + known);
    }
  return {};
}

}  // namespace mayfly
