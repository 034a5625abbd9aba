#include "tests/fuzz/text_target.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "jail/supervisor/authorized_keys.h"
#include "jail/supervisor/invite_file.h"
#include "jail/supervisor/source_pattern.h"
#include "jail/wire/lease.h"
#include "tests/fuzz/violation.h"

namespace mayfly::fuzz {

namespace {

constexpr std::int64_t kNow = 1'800'000'000;

void require(bool holds, const char* rule) {
  if (!holds) violated(rule);
}

bool play_keys(std::string_view text) {
  const AuthorizedKeys keys = AuthorizedKeys::parse(text);
  int last = 0;
  for (const AuthorizedKey& key : keys.keys()) {
    require(!key.blob.empty() && key.line > last, "a key has its bytes and a line of its own");
    require(keys.find(key.blob, "192.0.2.1", kNow).verdict != KeyVerdict::Unknown, "a key of the file is found in it");
    require(!key.command || key.command->find('\0') == std::string::npos, "a forced command has a NUL");
    require(key_fingerprint(key.blob).starts_with("SHA256:"), "a key has a fingerprint");
    last = key.line;
  }
  require(keys.find("", "192.0.2.1", kNow).verdict == KeyVerdict::Unknown, "an empty key is nobody's");
  for (const RefusedLine& line : keys.refused()) require(!line.why.empty(), "a refused line says why");
  return keys.refused().empty() && !keys.keys().empty();
}

// In memory where there is such a place: the file is flushed to the disk at each write. Removed at the end.
class Directory {
 public:
  Directory() {
    char in_memory[] = "/dev/shm/mayfly-fuzz-XXXXXX", on_disk[] = "/tmp/mayfly-fuzz-XXXXXX";
    const char* name = ::mkdtemp(in_memory);
    if (name == nullptr) name = ::mkdtemp(on_disk);
    if (name == nullptr) violated("the harness has a directory");
    name_ = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    (void)std::remove((name_ + "/invites.json").c_str());
    (void)std::remove(name_.c_str());
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

const std::string& directory() {
  static const Directory made;
  return made.name();
}

bool same(const Invite& a, const Invite& b) {
  return a.name == b.name && a.profile == b.profile && a.digest == b.digest && a.created_unix_ms == b.created_unix_ms &&
         a.expires_unix_ms == b.expires_unix_ms && a.uses_left == b.uses_left;
}

bool play_invites(std::string_view text) {
  std::ofstream(directory() + "/invites.json", std::ios::binary | std::ios::trunc) << text;
  const auto invites = read_invites(directory());
  if (!invites) return false;
  require(invites->size() <= kMostInvites, "more invites than may be");
  require(write_invites(directory(), *invites).has_value(), "invites that were read can be written");
  const auto again = read_invites(directory());
  require(again && again->size() == invites->size(), "invites that were written can be read");
  for (std::size_t i = 0; i < invites->size(); ++i)
    require(same((*invites)[i], (*again)[i]), "an invite is another one when read again");
  return true;
}

template <typename Decode>
bool play_message(std::string_view text, Decode decode) {
  if (text.size() > kMaxFrame.count) return false;
  const auto tree = parse_json(text, kMaxFrameDepth);
  if (!tree) return false;
  const auto message = decode(*tree);
  if (!message) return false;
  const std::string written = encode(*message);
  const auto again = parse_json(written, kMaxFrameDepth);
  require(again.has_value(), "a message that was written is JSON");
  const auto read = decode(*again);
  require(read && encode(*read) == written, "a message means the same when it is written and read again");
  return true;
}

bool play_source(std::string_view text) {
  const std::size_t end = text.find('\n');
  const std::string_view source = end == std::string_view::npos ? "192.0.2.1" : text.substr(end + 1);
  const auto patterns = read_source_patterns(text.substr(0, end));
  if (!patterns) return false;
  const bool comes = comes_from(*patterns, source);
  require(!comes || read_address(source), "a source that is no address comes from somewhere");
  return true;
}

}  // namespace

bool play_text(std::span<const std::uint8_t> input) {
  if (input.empty()) return false;
  const std::string_view text(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  switch (input[0] % 5) {
    case 0:
      return play_keys(text);
    case 1:
      return play_invites(text);
    case 2:
      return play_message(text, decode_from_front_end);
    case 3:
      return play_message(text, decode_from_supervisor);
    default:
      return play_source(text);
  }
}

}  // namespace mayfly::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  (void)mayfly::fuzz::play_text({bytes, size});
  return 0;
}
