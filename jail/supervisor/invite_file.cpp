#include "jail/supervisor/invite_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "jail/os/fd.h"
#include "jail/os/memfd.h"
#include "jail/wire/frame.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kMostBytes = 8u << 20;
constexpr std::uint64_t kLatest = 1ull << 53;  // exact as a double too, and far enough away
constexpr std::string_view kHex = "0123456789abcdef";

std::string hex(const std::array<std::uint8_t, 32>& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

Expected<std::array<std::uint8_t, 32>> digest_from(const std::string& text) {
  std::array<std::uint8_t, 32> digest{};
  bool good = text.size() == 2 * digest.size();
  for (std::size_t i = 0; good && i < digest.size(); ++i) {
    const std::size_t high = kHex.find(text[2 * i]), low = kHex.find(text[2 * i + 1]);
    good = high != std::string_view::npos && low != std::string_view::npos;
    digest[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (!good) return failure("read field", 0, "sha256", "64 hex digits are needed");
  return digest;
}

Expected<Invite> invite_from(const Json& object) {
  JsonReader in(object, "invites");
  Invite invite;
  invite.name = TRY(in.text("name", 64));
  invite.profile = TRY(in.text("profile", 64));
  invite.digest = TRY(digest_from(TRY(in.text("sha256", 64))));
  invite.created_unix_ms = TRY(in.number("createdUnixMs", 0, kLatest));
  invite.expires_unix_ms = TRY(in.number("expiresUnixMs", 0, kLatest));
  if (const auto uses = TRY(in.optional_number("usesLeft", 0, UINT32_MAX)))
    invite.uses_left = static_cast<std::uint32_t>(*uses);
  TRY(in.finish());
  return invite;
}

Expected<std::vector<Invite>> invites_from(std::string_view text) {
  const Json tree = TRY(parse_json(text, 4));
  JsonReader in(tree, "");
  TRY(in.number("version", 1, 1));
  std::vector<Invite> invites;
  if (const Json* list = TRY(in.optional_array("invites", kMostInvites)))
    for (const Json& object : *list) invites.push_back(TRY(invite_from(object)));
  TRY(in.finish());
  return invites;
}

std::string text_from(const std::vector<Invite>& invites) {
  Json list = Json::array();
  for (const Invite& invite : invites) {
    Json object = {{"name", invite.name},
                   {"profile", invite.profile},
                   {"sha256", hex(invite.digest)},
                   {"createdUnixMs", invite.created_unix_ms},
                   {"expiresUnixMs", invite.expires_unix_ms}};
    if (invite.uses_left) object["usesLeft"] = *invite.uses_left;
    list.push_back(std::move(object));
  }
  return Json({{"version", 1}, {"invites", std::move(list)}}).dump(1) + "\n";
}

Expected<void> write_all(const Fd& file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write invites", errno, path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file.get()) != 0) return failure("write invites", errno, path);
  return {};
}

}  // namespace

Expected<std::vector<Invite>> read_invites(const std::string& directory) {
  const std::string path = directory + "/invites.json";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return std::vector<Invite>();
  if (!file) return failure("read invites", errno, path);
  const std::string text = TRY(read_whole(file, kMostBytes));
  auto invites = invites_from(text);
  if (!invites) return failure("read invites", 0, path, invites.error().text());
  return invites;
}

Expected<void> write_invites(const std::string& directory, const std::vector<Invite>& invites) {
  const std::string path = directory + "/invites.json", beside = path + ".new";
  const Fd folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!folder || !file) return failure("write invites", errno, beside);
  TRY(write_all(file, text_from(invites), beside));
  if (::rename(beside.c_str(), path.c_str()) != 0 || ::fsync(folder.get()) != 0)
    return failure("write invites", errno, path);
  return {};
}

}  // namespace mayfly
