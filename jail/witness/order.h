// What the template accepts from the supervisor: one RelayOrder (wire/relay.h) with its descriptors. The supervisor is
// trusted to decide, but a message that is not exactly what the contract says starts nothing.
#pragma once

#include "jail/os/fd.h"
#include "jail/wire/relay.h"
#include "jail/witness/fixed_message.h"

namespace mayfly {

// Everything that one relay is given.
struct RelayJob {
  RelayOrder order;
  Fd control;       // with the supervisor
  Fd stream;        // from the inside of the jail, once
  Fd out, err, in;  // the peer's
};

enum class OrderVerdict { Good, BadMagic, BadFlags, BadIds, BadTimes, BadDescriptorCount };

OrderVerdict judge(const RelayOrder& order, std::size_t descriptors);
// Only for an order and a list that were judged good.
RelayJob make_job(const RelayOrder& order, FdList& fds);

}  // namespace mayfly
