#include "jail/supervisor/invites.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "jail/spec/escape.h"
#include "jail/supervisor/invite_file.h"
#include "jail/supervisor/sha256.h"

namespace mayfly {

namespace {

// Douglas Crockford's base 32: no i, l, o and u, so that a code can be read aloud and typed.
constexpr std::string_view kSymbols = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kCodeSymbols = 20;  // of 5 bits each
constexpr std::size_t kGroup = 5;
constexpr std::size_t kMostName = 40;

bool is_live(const Invite& invite, std::uint64_t now_ms) {
  return invite.expires_unix_ms > now_ms && invite.uses_left != 0u;
}

std::array<std::uint8_t, 32> digest_of(std::string_view code) { return sha256("mayfly invite\n" + plain_code(code)); }

Expected<std::string> random_code() {
  std::array<std::uint8_t, kCodeSymbols> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return failure("make a code", errno);
  std::string code;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && i % kGroup == 0) code += '-';
    code += kSymbols[bytes[i] % kSymbols.size()];
  }
  return code;
}

// "ana" alone; "ana-01".."ana-30" of thirty.
std::string numbered(const NewInvites& order, std::uint32_t number) {
  if (order.count == 1) return order.name;
  const std::size_t width = std::max<std::size_t>(2, std::to_string(order.count).size());
  const std::string digits = std::to_string(number);
  return order.name + "-" + std::string(width - digits.size(), '0') + digits;
}

InviteRow row_of(const Invite& invite) {
  return {invite.name, invite.profile, "", invite.created_unix_ms, invite.expires_unix_ms, invite.uses_left};
}

auto refuse(std::string field, std::string why) {
  return failure("make an invite", 0, std::move(field), std::move(why));
}

}  // namespace

bool is_invite_name(std::string_view name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > kMostName || !is_alphanumeric(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

std::string plain_code(std::string_view typed) {
  std::string plain;
  for (char c : typed) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c == 'o') c = '0';
    if (c == 'i' || c == 'l') c = '1';
    plain += c;
  }
  return plain;
}

Expected<InviteBook> InviteBook::load(std::string directory) {
  InviteBook book(std::move(directory));
  book.invites_ = TRY(read_invites(book.directory_));
  return book;
}

Expected<void> InviteBook::keep(std::vector<Invite> changed) {
  TRY(write_invites(directory_, changed));
  invites_ = std::move(changed);
  return {};
}

Expected<std::vector<InviteRow>> InviteBook::make(const NewInvites& order, std::uint64_t now_ms) {
  std::vector<Invite> changed = invites_;
  std::erase_if(changed, [now_ms](const Invite& invite) { return !is_live(invite, now_ms); });
  if (changed.size() + order.count > kMostInvites)
    return refuse("count", "at most " + std::to_string(kMostInvites) + " invites at once, there are " +
                               std::to_string(changed.size()));
  std::vector<InviteRow> rows;
  for (std::uint32_t number = 1; number <= order.count; ++number) {
    Invite invite{numbered(order, number), order.profile, {}, now_ms, now_ms + order.for_ms, order.uses};
    if (!is_invite_name(invite.name))
      return refuse("name", "\"" + escape(invite.name, 60) +
                                "\": allowed are letters, digits, . _ and -, a letter or digit first, 40 in all");
    if (std::ranges::find(changed, invite.name, &Invite::name) != changed.end())
      return refuse("name", "\"" + invite.name + "\" has an invite already; revoke that first");
    const std::string code = TRY(random_code());
    invite.digest = digest_of(code);
    rows.push_back(row_of(invite));
    rows.back().code = code;
    changed.push_back(std::move(invite));
  }
  TRY(keep(std::move(changed)));
  return rows;
}

std::vector<InviteRow> InviteBook::list(std::uint64_t now_ms) const {
  std::vector<InviteRow> rows;
  for (const Invite& invite : invites_)
    if (invite.expires_unix_ms > now_ms) rows.push_back(row_of(invite));
  return rows;
}

Expected<bool> InviteBook::revoke(std::string_view name) {
  if (std::erase_if(invites_, [name](const Invite& invite) { return invite.name == name; }) == 0) return false;
  TRY(write_invites(directory_, invites_));
  return true;
}

Expected<std::optional<Invite>> InviteBook::use(std::string_view typed_code, std::string_view profile,
                                                std::uint64_t now_ms) {
  const std::array<std::uint8_t, 32> digest = digest_of(typed_code);
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < invites_.size(); ++i)
    if (is_same_digest(digest, invites_[i].digest)) found = i;
  if (!found || !is_live(invites_[*found], now_ms) || invites_[*found].profile != profile)
    return std::optional<Invite>();
  if (invites_[*found].uses_left) {
    std::vector<Invite> changed = invites_;
    --*changed[*found].uses_left;
    TRY(keep(std::move(changed)));
  }
  return std::optional<Invite>(invites_[*found]);
}

}  // namespace mayfly
