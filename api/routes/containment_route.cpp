// GET /api/containment: what this host holds, as mayfly-examiner found it by attacking real jails when the service
// started. Until it has, the caller waits a little.
#include <chrono>

#include "api/router.h"
#include "jail/os/memfd.h"
#include "jail/wire/startup.h"

namespace mayfly::api {

namespace asio = boost::asio;

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr int kLooks = 200;  // 20 s in all; an examination takes about two
constexpr std::uint64_t kMaxReport = 1u << 20;

// The whole report, or nothing while it is not there: it ends in a newline.
std::string report_so_far() {
  const Fd memfd(::dup(kApiExamination));
  const auto text = read_whole(memfd, kMaxReport);
  return text && text->ends_with('\n') ? *text : std::string();
}

}  // namespace

asio::awaitable<Reply> containment_route(Service&, Call&) {
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (int look = 0; look < kLooks; ++look) {
    std::string report = report_so_far();
    if (!report.empty()) co_return Answer{200, "application/json", std::move(report)};
    pause.expires_after(kLook);
    co_await pause.async_wait(asio::use_awaitable);
  }
  co_return Problem{503,
                    "no-examination",
                    "The jails of this service could not be examined",
                    "the service's log names the cause",
                    "",
                    10000};
}

}  // namespace mayfly::api
