#include "jail/client/supervisor_client.h"
#include "jail/os/memfd.h"

namespace mayfly {

void PayloadBuilder::add(PayloadKind kind, std::string_view bytes, std::string name, bool executable) {
  parts_.push_back(PayloadPart{kind, std::move(name), bytes_.size(), bytes.size(), executable});
  bytes_ += bytes;
}

Expected<Fd> PayloadBuilder::seal_into(Request& request) {
  request.payload = std::move(parts_);
  request.payload_bytes = bytes_.size();
  if (bytes_.empty()) return Fd();
  return make_sealed_memfd("mayfly-payload", bytes_);
}

}  // namespace mayfly
