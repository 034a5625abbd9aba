// Frames: JSON, one per SEQPACKET message, at most kMaxFrame bytes, depth at most kMaxFrameDepth, strictly decoded:
// an unknown field, a missing field, a wrong type or a duplicate key is a Failure that names the field.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

// ordered: members stay in the order in which they were put, so that texts are stable.
using Json = nlohmann::ordered_json;

// Parses with a depth limit and refuses duplicate keys, before any tree is kept. Comments are not allowed.
Expected<Json> parse_json(std::string_view text, std::size_t most_depth);

// An object made member by member. Its keys are ours and known to differ, so that none is compared with the others.
class JsonObject {
 public:
  JsonObject& put(std::string_view key, Json value) {
    members_.emplace_back(key, std::move(value));
    return *this;
  }
  Json take() { return Json(std::move(members_)); }

 private:
  Json::object_t members_;
};

struct Frame {
  Json body;
  std::vector<Fd> fds;
  bool closed = false;  // the peer has closed; body is null
};

// `text` is that of an object: what encode() made.
Expected<void> judge_frame(std::string_view text);  // EMSGSIZE
Expected<void> send_frame(int socket, std::string_view text, std::span<const int> fds = {});
// A tree as text. Bytes that are not UTF-8 were judged or escaped before; a replacement keeps it JSON all the same.
std::string text_of(const Json& body);
Expected<Frame> receive_frame(int socket);

// Reads the members of one object, each at most once; finish() refuses what was not read.
//   JsonReader in(frame.body, "");
//   auto run = TRY(in.number("run", 0, 255));
//   auto label = TRY(in.optional_text("label", 200));
//   TRY(in.finish());
class JsonReader {
 public:
  JsonReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[nodiscard]] bool has(std::string_view key) const;
  Expected<std::uint64_t> number(std::string_view key, std::uint64_t least, std::uint64_t most);
  Expected<std::optional<std::uint64_t>> optional_number(std::string_view key, std::uint64_t least, std::uint64_t most);
  // Of any size and sign: for whoever passes it on to the one who judges it.
  Expected<std::optional<std::int64_t>> optional_integer(std::string_view key);
  Expected<std::optional<double>> optional_real(std::string_view key, double least, double most);
  Expected<std::string> text(std::string_view key, std::size_t most_bytes);
  Expected<std::optional<std::string>> optional_text(std::string_view key, std::size_t most_bytes);
  Expected<bool> boolean(std::string_view key, bool otherwise);
  Expected<const Json*> object(std::string_view key);           // must be there
  Expected<const Json*> optional_object(std::string_view key);  // nullptr when absent
  Expected<const Json*> optional_array(std::string_view key, std::size_t most_items);
  const Json* any(std::string_view key) { return find(key); }  // nullptr when absent; the caller judges the type
  Expected<void> finish() const;                               // every member was read

  [[nodiscard]] std::string path(std::string_view key) const;  // "limits.wallMs"

 private:
  const Json* find(std::string_view key);
  const Json& object_;
  std::string where_;
  std::vector<bool> was_read_;  // by place in the object
};

}  // namespace mayfly
