#include "api/server.h"

#include "api/connection.h"
#include "jail/os/log.h"
#include "jail/os/peer.h"

namespace mayfly::api {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

namespace {

constexpr auto kLogEvery = std::chrono::seconds(1);  // refused connections, of which there may be very many

struct Count {
  std::size_t total = 0;
  std::size_t refused = 0;  // and not yet logged
  std::chrono::steady_clock::time_point logged_at{};
  std::map<std::string, std::size_t> by_source;
};

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\nConnection: "
    "close\r\n"
    "Content-Length: 105\r\n\r\n"
    "{\"type\":\"about:blank\",\"title\":\"Too many connections\",\"status\":503,\"code\":\"too-many-connections\"}    "
    "     \n";

void leave(const std::shared_ptr<Count>& count, const std::string& source) {
  --count->total;
  if (--count->by_source[source] == 0) count->by_source.erase(source);
}

void note_refused(Count& count, const std::string& source) {
  ++count.refused;
  const auto now = std::chrono::steady_clock::now();
  if (now - count.logged_at < kLogEvery) return;
  count.logged_at = now;
  log_line(Severity::Warning, "api.too_many_connections",
           {{"source", source}, {"refused", std::to_string(std::exchange(count.refused, 0))}});
}

void take(asio::ip::tcp::socket socket, const std::shared_ptr<Service>& service, const std::shared_ptr<Count>& count) {
  ErrorCode error;
  const auto peer = peer_of(socket.native_handle());
  if (!peer) return;  // gone already
  const std::string source = peer->source;
  if (count->total >= kMaxConnections || count->by_source[source] >= kMaxPerSource) {
    note_refused(*count, source);
    socket.write_some(asio::buffer(kTooMany), error);
    if (count->by_source[source] == 0) count->by_source.erase(source);
    return;
  }
  ++count->total;
  ++count->by_source[source];
  const auto executor = socket.get_executor();
  asio::co_spawn(executor, serve_connection(std::move(socket), service), [count, source](std::exception_ptr thrown) {
    leave(count, source);
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error_thrown) {
      log_line(Severity::Error, "api.connection_failed", {{"source", source}}, error_thrown.what());
    }
  });
}

}  // namespace

asio::awaitable<void> serve(asio::ip::tcp::acceptor acceptor, std::shared_ptr<Service> service) {
  const auto count = std::make_shared<Count>();
  for (;;) {
    ErrorCode error;
    asio::ip::tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      take(std::move(socket), service, count);
      continue;
    }
    if (error == asio::error::operation_aborted) co_return;
    log_line(Severity::Warning, "api.accept_failed", {}, error.message());
    asio::steady_timer pause(co_await asio::this_coro::executor, std::chrono::milliseconds(100));
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

}  // namespace mayfly::api
