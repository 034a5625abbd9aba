// GET /api/containment: what this host holds, found by attacking real jails. Kept for a minute: an examination takes
// about two seconds and several jails, and nobody may make the service examine itself all day.
#include <chrono>
#include <thread>

#include "api/router.h"
#include "jail/os/log.h"
#include "jail/probe/containment.h"

namespace mayfly::api {

namespace asio = boost::asio;

namespace {

constexpr auto kKept = std::chrono::minutes(1);

Expected<std::string> examine_now(const ApiConfig& config) {
  // A connection of its own: the examination waits for its runs, which the shared one must not.
  auto client = TRY(SupervisorClient::connect(config.lease));
  const Containment found = TRY(examine(client, config.probe));
  return containment_json(found).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Runs `work` on a thread of its own and resumes on the io_context.
asio::awaitable<Expected<std::string>> off_the_loop(Service& service) {
  const auto executor = co_await asio::this_coro::executor;
  Expected<std::string> outcome = failure("examine containment", 0);
  asio::steady_timer done(executor, asio::steady_timer::time_point::max());
  std::thread worker([&] {
    outcome = examine_now(service.config);
    asio::post(executor, [&] { done.cancel(); });
  });
  boost::system::error_code woken;
  co_await done.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  worker.join();
  co_return outcome;
}

}  // namespace

asio::awaitable<Reply> containment_route(Service& service, Call&) {
  auto& kept = service.containment;
  while (kept.examining) {
    asio::steady_timer pause(co_await asio::this_coro::executor, std::chrono::milliseconds(50));
    co_await pause.async_wait(asio::use_awaitable);
  }
  if (!kept.body.empty() && std::chrono::steady_clock::now() - kept.when < kKept)
    co_return Answer{200, "application/json", kept.body};
  kept.examining = true;
  auto outcome = co_await off_the_loop(service);
  kept.examining = false;
  if (!outcome) {
    log_failure("api.examination_failed", outcome.error());
    co_return Problem{503, "examination-failed", "No jail could be examined", "the service's log names the cause", "", 5000};
  }
  kept.body = std::move(*outcome);
  kept.when = std::chrono::steady_clock::now();
  co_return Answer{200, "application/json", kept.body};
}

}  // namespace mayfly::api
