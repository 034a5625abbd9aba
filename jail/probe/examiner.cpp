// mayfly-examiner: attacks real jails of this service once after its start, and the same outside for comparison, for
// GET /api/containment. A process of its own, because the api may start no program and open no socket, and the control
// runs need both. Started by the keeper under the keeper's own uid, with the descriptors of jail/wire/startup.h; its
// lease connection has the role of the command line. Writes one JSON object and a newline, then ends.
#include <unistd.h>

#include <cerrno>

#include "jail/os/log.h"
#include "jail/os/memfd.h"
#include "jail/probe/containment.h"
#include "jail/wire/startup.h"

namespace {

using namespace mayfly;

Expected<void> write_report(const std::string& text) {
  // Emptied first and written at once: whoever reads meanwhile sees nothing, or the whole, which ends in a newline.
  if (::ftruncate(kExaminerReport, 0) != 0) return failure("empty the report", errno);
  if (::pwrite(kExaminerReport, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return failure("write the report", errno);
  return {};
}

Expected<void> examine_service() {
  const Fd config(kExaminerConfig);
  const Json tree = TRY(parse_json(TRY(read_whole(config, kMaxFrame.count)), kMaxFrameDepth));
  JsonReader in(tree, "");
  const std::string lease = TRY(in.text("lease", 107));
  const std::string probe = TRY(in.text("probe", 4096));
  TRY(in.finish());
  auto client = TRY(SupervisorClient::connect(lease));
  const Containment found = TRY(examine(client, probe));
  for (const std::string& problem : found.problems)
    log_line(Severity::Error, "containment.not_as_promised", {}, problem);
  return write_report(containment_json(found).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

int main() {
  if (const auto done = examine_service(); !done) {
    log_failure("containment.examination_failed", done.error());
    return 1;
  }
  return 0;
}
