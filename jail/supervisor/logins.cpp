#include "jail/supervisor/logins.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "jail/os/fd.h"
#include "jail/os/log.h"
#include "jail/os/memfd.h"
#include "jail/spec/escape.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

// As sshd(8) with StrictModes: whoever else can write to the file chooses who comes in.
Expected<void> judge_key_file(const struct stat& found, const std::string& path) {
  if (!S_ISREG(found.st_mode)) return failure("read authorized keys", 0, path, "is not a regular file");
  if (found.st_uid != 0 && found.st_uid != ::geteuid())
    return failure("read authorized keys", 0, path, "belongs to another user; make it root's or the service's");
  if ((found.st_mode & 022) != 0)
    return failure("read authorized keys", 0, path, "others can write to it; chmod go-w it");
  if (static_cast<std::uint64_t>(found.st_size) > kMostKeyFileBytes)
    return failure("read authorized keys", 0, path, "is larger than 1 MiB");
  return {};
}

bool is_same(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

// stat(2): a file whose contents, owner or mode have changed has another ctime; another file has another number.
bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_size == other.st_size &&
         is_same(one.st_ctim, other.st_ctim) && is_same(one.st_mtim, other.st_mtim);
}

// The clock of ctime ticks in milliseconds: what has changed just now may change again within the same tick.
bool is_settled(const struct stat& found, std::uint64_t now_ms) {
  constexpr std::uint64_t kTicks = 1000;
  return static_cast<std::uint64_t>(found.st_ctim.tv_sec) * 1000 + kTicks < now_ms;
}

std::string_view why(KeyVerdict verdict) {
  switch (verdict) {
    case KeyVerdict::Unknown:
      return "unknown key";
    case KeyVerdict::Expired:
      return "expired key";
    case KeyVerdict::FromElsewhere:
      return "key not good from there";
    case KeyVerdict::Good:
      return "good key";
  }
  return "";
}

}  // namespace

std::string principal_of_invite(const std::string& name) { return "invite:" + name; }

Logins::Logins(SshAccess access, const Catalogue& catalogue, std::string directory, Clock now)
    : access_(std::move(access)), catalogue_(catalogue), now_(std::move(now)) {
  if (!access_.invites || directory.empty()) return;
  auto book = InviteBook::load(std::move(directory));
  if (book) {
    book_ = std::move(*book);
  } else {
    no_book_ = book.error().text();
    log_failure("invites.unreadable", book.error());
  }
}

std::optional<Identity> Logins::judge(const LogIn& login) {
  // The most particular way first: a good code is its bearer's also where everybody may come in.
  std::optional<Identity> found;
  if (login.way == LoginWay::Code) found = by_code(login);
  if (login.way == LoginWay::Key || login.way == LoginWay::KeyOffer) found = by_key(login);
  if (!found && access_.open) found = Identity{login.user, "anonymous@" + login.source, {}, {}};
  // A name that is no profile is looked for last, after the same work as every other.
  if (found && catalogue_.profile(login.user) == nullptr) found.reset();
  return found;
}

std::optional<Identity> Logins::by_code(const LogIn& login) {
  if (!book_) return std::nullopt;
  // No invite is for a name that is none, so that none is used up by it; the work is the same.
  const bool is_profile = catalogue_.profile(login.user) != nullptr;
  auto invite = book_->use(login.credential, is_profile ? login.user : "", now_());
  if (!invite) log_failure("invites.unwritable", invite.error());
  if (!invite || !*invite) return std::nullopt;
  return Identity{login.user, principal_of_invite((*invite)->name), {}, (*invite)->expires_unix_ms};
}

std::optional<Identity> Logins::by_key(const LogIn& login) {
  if (!access_.keys) return std::nullopt;
  const AuthorizedKeys* keys = read_keys();
  const auto blob = from_base64(login.credential);
  if (keys == nullptr || !blob) return std::nullopt;
  const KeyFound found = keys->find(*blob, login.host, static_cast<std::int64_t>(now_() / 1000));
  // Of keys that are only asked about the unknown ones are not worth a line: an agent offers all that it has.
  const bool is_told = login.way == LoginWay::Key || found.verdict != KeyVerdict::Unknown;
  if (is_told && found.verdict != KeyVerdict::Good && !access_.open)
    log_line(Severity::Info, "login.key_refused",
             {{"key", key_fingerprint(*blob)}, {"source", login.host}, {"why", std::string(why(found.verdict))}});
  if (found.verdict != KeyVerdict::Good) return std::nullopt;
  Identity identity{login.user, "key:" + key_fingerprint(*blob), found.key->command, {}, *blob, login.host};
  if (found.key->expires) identity.expires_unix_ms = static_cast<std::uint64_t>(*found.key->expires) * 1000;
  return identity;
}

// Looked at anew every time, so that a key that was taken out is gone; read when it has changed.
const AuthorizedKeys* Logins::read_keys() {
  const Fd file(::open(access_.authorized_keys.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0)
    return no_keys({"read authorized keys", errno, access_.authorized_keys, {}});
  if (keys_file_ && is_same(found, *keys_file_)) return keys_are_good_ ? &keys_ : nullptr;
  keys_file_.reset();
  if (is_settled(found, now_())) keys_file_ = found;
  keys_are_good_ = false;
  if (auto judged = judge_key_file(found, access_.authorized_keys); !judged) return no_keys(judged.error());
  const auto text = read_whole(file, kMostKeyFileBytes);
  if (!text) return no_keys(text.error());
  keys_ = AuthorizedKeys::parse(*text);
  keys_are_good_ = true;
  no_keys_told_.clear();
  for (const RefusedLine& line : keys_.refused())
    log_line(Severity::Error, "keys.line_refused",
             {{"file", access_.authorized_keys}, {"line", std::to_string(line.line)}}, line.why);
  return &keys_;
}

// Told once: every stranger with a key asks.
const AuthorizedKeys* Logins::no_keys(const Failure& why) {
  const std::string text = why.text();
  if (text != no_keys_told_) log_failure("keys.unreadable", why);
  no_keys_told_ = text;
  return nullptr;
}

bool Logins::is_over(const Identity& identity) {
  if (identity.is_over || (identity.expires_unix_ms && *identity.expires_unix_ms <= now_())) return true;
  if (identity.key.empty()) return false;
  const AuthorizedKeys* keys = read_keys();
  if (keys == nullptr) return true;
  const KeyFound found = keys->find(identity.key, identity.host, static_cast<std::int64_t>(now_() / 1000));
  return found.verdict != KeyVerdict::Good || found.key->command != identity.command;
}

Expected<void> Logins::judge_invites() const {
  if (!access_.invites)
    return failure("handle invites", 0, "access.ssh",
                   "invites are no way in here; add \"invites\" to access.ssh in the configuration, and restart");
  if (!book_) return failure("handle invites", 0, {}, no_book_);
  return {};
}

Expected<std::vector<InviteRow>> Logins::make_invites(const NewInvites& order) {
  TRY(judge_invites());
  if (catalogue_.profile(order.profile) == nullptr) {
    std::string known;
    for (const Profile& profile : catalogue_.profiles()) known += (known.empty() ? "" : ", ") + profile.name;
    return failure("make an invite", 0, "profile",
                   "\"" + escape(order.profile, 60) + "\" is not known; known here: " + known);
  }
  return book_->make(order, now_());
}

Expected<std::vector<InviteRow>> Logins::invites() const {
  TRY(judge_invites());
  return book_->list(now_());
}

Expected<bool> Logins::revoke(const std::string& name) {
  TRY(judge_invites());
  return book_->revoke(name);
}

}  // namespace mayfly
