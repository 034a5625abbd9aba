#include "jail/witness/reporter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "jail/witness/fixed_message.h"

namespace mayfly {

void Reporter::say(RelaySays says, int error, const char* text) {
  if (count_ < said_.size()) said_[count_++] = Said{says, error, text};
  flush();
}

int Reporter::send_report() const {
  if (has_tail(report_)) return send_fixed(control_, &report_, sizeof report_);
  const auto packed = short_report(report_);
  return send_fixed(control_, packed.data(), packed.size());
}

void Reporter::flush() {
  std::size_t sent = 0;
  for (; sent < count_; ++sent) {
    report_.says = said_[sent].says;
    report_.error = said_[sent].error;
    std::memset(report_.text, 0, sizeof report_.text);
    std::strncpy(report_.text, said_[sent].text, sizeof report_.text - 1);
    const int error = send_report();
    // A supervisor that is gone is noticed elsewhere; what was to be said is pointless then.
    if (error == EAGAIN || error == EINTR) break;
  }
  std::copy(said_.begin() + static_cast<std::ptrdiff_t>(sent), said_.begin() + static_cast<std::ptrdiff_t>(count_),
            said_.begin());
  count_ -= sent;
}

}  // namespace mayfly
