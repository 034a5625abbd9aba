// JsonText: a JSON object written straight as text, member by member, for what every run sends. Without a tree: making
// one of a result's eighty nodes takes, with the caches cold, a tenth of what a jail does.
//   JsonText out;
//   out.put("id", id).open("limits").put("wallMs", 1000).close();
//   std::string text = out.take();
// Keys are ours: no duplicate is looked for, and nothing in them is escaped.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly {

class JsonText {
 public:
  JsonText() {
    text_.reserve(kUsualBytes);
    text_ += '{';
  }

  JsonText& put(std::string_view key, std::string_view value);  // bytes that are not UTF-8 become U+FFFD
  JsonText& put(std::string_view key, const char* value) { return put(key, std::string_view(value)); }
  JsonText& put(std::string_view key, std::nullptr_t);
  JsonText& put(std::string_view key, double value);  // without an exponent, 2.0 stays "2.0"; null if not finite
  template <std::same_as<bool> B>
  JsonText& put(std::string_view key, B value) {
    return put_plain(key, value ? "true" : "false");
  }
  template <std::integral N>
  requires(!std::same_as<N, bool>) JsonText& put(std::string_view key, N value) {
    return put_plain(key, std::to_string(value));
  }

  JsonText& open(std::string_view key);  // an object
  JsonText& open_item();                 // an object in a list
  JsonText& close();
  JsonText& open_list(std::string_view key);
  JsonText& item(std::string_view value);
  JsonText& close_list();

  std::string take();  // closes the object

 private:
  static constexpr std::size_t kUsualBytes = 1536;  // a result with little output, so that it is not moved on the way

  void begin(std::string_view key);
  void separate();
  JsonText& put_plain(std::string_view key, std::string_view value);

  std::string text_;
};

// A JSON string with its quotes, at the end of `text`.
void append_json_string(std::string& text, std::string_view value);

}  // namespace mayfly
