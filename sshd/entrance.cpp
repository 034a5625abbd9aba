#include "sshd/entrance.h"

namespace mayfly {

std::optional<Refusal> Entrance::judge(const Peer& peer, Microseconds now) {
  if (counts_penalties(peer.loopback) && penalties_.refuses(peer.source, now)) return Refusal::Penalty;
  // The kernel is asked for randomness only when it matters.
  const std::uint32_t waiting = limits_.unauthenticated();
  if (early_drop_.percent(waiting) > 0 && early_drop_.drops(waiting, random_())) return Refusal::EarlyDrop;
  switch (limits_.enter(peer.source)) {
    case Entry::Admitted:
      return std::nullopt;
    case Entry::Full:
      return Refusal::TooManyConnections;
    case Entry::SourceFull:
      return Refusal::TooManyFromSource;
  }
  return Refusal::TooManyConnections;
}

void Entrance::admitted(Guest& guest) {
  if (guest.standing == Standing::Authenticated) return;
  limits_.authenticated(guest.source);
  guest.standing = Standing::Authenticated;
}

void Entrance::left(const Guest& guest, SessionEnd end, Microseconds now) {
  limits_.leave(guest.source, guest.standing);
  // Where somebody of a source is in, who mistypes there is no stranger: a class stands behind one address, and must
  // not be locked out by two who are slow. Whoever got in by guessing gains no more by it than the places that he has.
  const bool is_spared = end != SessionEnd::Crashed && limits_.has_authenticated(guest.source);
  if (counts_penalties(guest.loopback) && !is_spared)
    penalties_.add(guest.source, penalty::for_end(end, guest.standing), now);
}

}  // namespace mayfly
