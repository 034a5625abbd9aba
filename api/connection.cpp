#include "api/connection.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "api/peer_checks.h"
#include "api/request_body.h"
#include "jail/os/log.h"
#include "jail/os/peer.h"

namespace mayfly::api {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Stream = beast::tcp_stream;
using Parser = http::request_parser<http::string_body>;
using ErrorCode = boost::system::error_code;

namespace {

constexpr auto kHeaderTime = std::chrono::seconds(10);
constexpr auto kBodyTime = std::chrono::seconds(30);
constexpr auto kIdleTime = std::chrono::seconds(75);  // between two requests of one connection
constexpr auto kWriteTime = std::chrono::seconds(60);
constexpr auto kPeerWatch = std::chrono::milliseconds(500);  // a vanished peer is noticed within this
constexpr std::uint32_t kMaxHeader = 16 * 1024;
// Read and not yet understood: a header, or the head or the trailers of a chunk; bodies are taken out at once.
constexpr std::size_t kMaxUnparsed = 64 * 1024;
constexpr std::size_t kWriteChunk = 256 * 1024;  // progress is asked of every chunk

auto quiet(ErrorCode& error) { return asio::redirect_error(asio::use_awaitable, error); }

enum class Next : bool { Close, KeepAlive };

struct Wire {
  Stream stream;
  beast::flat_buffer buffer;
  std::string peer, source;
};

std::string render(const Answer& answer, unsigned version, Next next, std::string_view extra) {
  std::string head = std::string(version == 10 ? "HTTP/1.0 " : "HTTP/1.1 ") + std::to_string(answer.status) + " " +
                     std::string(http::obsolete_reason(http::int_to_status(answer.status))) + "\r\n";
  head += "Content-Type: " + answer.content_type + "\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n";
  head += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  head += extra;
  head += next == Next::KeepAlive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

asio::awaitable<bool> write_all(Wire& wire, std::string bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    ErrorCode error;
    wire.stream.expires_after(kWriteTime);
    const std::size_t count = std::min(kWriteChunk, bytes.size() - done);
    done += co_await wire.stream.async_write_some(asio::buffer(bytes.data() + done, count), quiet(error));
    if (error) co_return false;
  }
  co_return true;
}

struct Heading {
  unsigned version = 11;
  bool is_head = false;
  Next next = Next::Close;
};

asio::awaitable<bool> write_reply(Wire& wire, const Reply& reply, const Heading& heading, std::string extra) {
  Answer answer;
  if (const auto* problem = std::get_if<Problem>(&reply)) {
    answer = {problem->status, "application/problem+json", problem_json(*problem)};
    if (problem->retry_after_ms > 0)
      extra += "Retry-After: " + std::to_string((problem->retry_after_ms + 999) / 1000) + "\r\n";
  } else {
    answer = std::get<Answer>(reply);
  }
  std::string bytes = render(answer, heading.version, heading.next, extra);
  if (!heading.is_head) bytes += answer.body;
  const bool written = co_await write_all(wire, std::move(bytes));
  co_return written;
}

// FIN, RST or an error of the socket. Unread bytes (a pipelined request) hide neither: the TCP state tells.
bool peer_is_gone(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return true;
  return info.tcpi_state != TCP_ESTABLISHED;
}

// What the route and its watcher share. `answered` is what ends the watching: a timer that has fired already cannot be
// cancelled any more.
struct Watching {
  explicit Watching(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  bool answered = false;
};

asio::awaitable<void> watch_peer(Wire& wire, Call& call, std::shared_ptr<Watching> watching) {
  while (!watching->answered) {
    ErrorCode error;
    watching->timer.expires_after(kPeerWatch);
    co_await watching->timer.async_wait(quiet(error));
    if (watching->answered) co_return;
    if (!peer_is_gone(wire.stream.socket().native_handle())) continue;
    if (call.on_peer_gone) std::exchange(call.on_peer_gone, nullptr)();
    // Not set yet: the route is still before its run; look again.
  }
}

asio::awaitable<Reply> answer_call(Wire& wire, Service& service, Route route, Call& call) {
  const auto executor = co_await asio::this_coro::executor;
  auto watching = std::make_shared<Watching>(executor);
  auto done = std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
  bool is_watched = true;
  asio::co_spawn(executor, watch_peer(wire, call, watching), [&is_watched, done](std::exception_ptr) {
    is_watched = false;
    done->cancel();
  });
  Reply reply = co_await route(service, call);
  watching->answered = true;
  watching->timer.cancel();
  // The watcher holds references into this frame: it must be over before we go.
  while (is_watched) {
    ErrorCode woken;
    co_await done->async_wait(quiet(woken));
  }
  co_return reply;
}

std::optional<Problem> judge_header(const Parser& parser, const Service& service, const Found& found) {
  const auto& header = parser.get().base();
  if (auto problem = judge_framing(header)) return problem;
  if (auto problem = judge_host(header, service.config.hosts)) return problem;
  if (auto problem = judge_origin(header, service.config.hosts)) return problem;
  if (found.problem) return found.problem;
  if (found.needs_json)
    if (auto problem = judge_content_type(header)) return problem;
  const auto length = parser.content_length();
  if (length && *length > kMaxBody)
    return Problem{413, "body-too-large", "The body is too large", "allowed 0..16777216 bytes", "", 0};
  return std::nullopt;
}

Problem problem_of(const ErrorCode& error) {
  if (error == http::error::header_limit)
    return {431, "header-too-large", "The header is too large", "allowed 0..16384 bytes", "", 0};
  if (error == http::error::buffer_overflow)
    return {431, "header-too-large", "The header of a chunk, or what follows the last, is too large", "", "", 0};
  if (error == http::error::body_limit)
    return {413, "body-too-large", "The body is too large", "allowed 0..16777216 bytes", "", 0};
  if (error == beast::error::timeout) return {408, "too-slow", "The request did not arrive in time", "", "", 0};
  return {400, "bad-message", "This is not a valid HTTP/1.1 request", "", "", 0};
}

// Chunks do not tell how many will come. Small bodies need no share: peers that announce large ones and send nothing
// must not keep everybody else out.
std::uint64_t length_to_reserve(const Parser& parser) {
  constexpr std::uint64_t kSmallBody = 64 * 1024;
  const std::uint64_t length = parser.chunked() ? kMaxBody : parser.content_length().value_or(0);
  return length <= kSmallBody ? 0 : length;
}

Problem too_many_bodies() {
  constexpr std::uint64_t kRetryMs = 1000;
  return {503, "too-many-bodies", "Too many request bodies are arriving", "", "", kRetryMs};
}

// Nothing is owed to a peer that has simply closed.
bool is_farewell(const ErrorCode& error) {
  return error == http::error::end_of_stream || error == asio::error::eof || error == asio::error::connection_reset ||
         error == asio::error::operation_aborted;
}

asio::awaitable<bool> read_body(Wire& wire, Parser& parser, ErrorCode& error) {
  wire.stream.expires_after(kBodyTime);
  if (parser.get().find(http::field::expect) != parser.get().end() && !parser.is_done()) {
    const bool written = co_await write_all(wire, "HTTP/1.1 100 Continue\r\n\r\n");
    if (!written) co_return false;
  }
  wire.stream.expires_after(kBodyTime);
  co_await http::async_read(wire.stream, wire.buffer, parser, quiet(error));
  co_return !error;
}

asio::awaitable<void> refuse(Wire& wire, Problem problem, std::string allow = {}) {
  Heading heading;
  const std::string extra = allow.empty() ? "" : "Allow: " + allow + "\r\n";
  const Reply reply = std::move(problem);
  const bool written = co_await write_reply(wire, reply, heading, extra);
  if (written) {
    // Let the answer arrive before the unread rest of the request turns the close into a reset (RFC 9112 9.6).
    ErrorCode error;
    wire.stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    std::array<char, 4096> scrap{};
    wire.stream.expires_after(std::chrono::seconds(1));
    for (int i = 0; i < 64 && !error; ++i) co_await wire.stream.async_read_some(asio::buffer(scrap), quiet(error));
  }
}

asio::awaitable<Next> serve_one(Wire& wire, Service& service, std::chrono::seconds patience) {
  Parser parser;
  parser.header_limit(kMaxHeader);
  parser.body_limit(kMaxBody);
  ErrorCode error;
  wire.stream.expires_after(patience);
  if (wire.buffer.size() == 0) {
    // The first byte may take its time on a kept connection; from then on the header has kHeaderTime.
    const auto room = wire.buffer.prepare(4096);
    const std::size_t count = co_await wire.stream.async_read_some(room, quiet(error));
    wire.buffer.commit(count);
    if (error) co_return Next::Close;
  }
  wire.stream.expires_after(kHeaderTime);
  co_await http::async_read_header(wire.stream, wire.buffer, parser, quiet(error));
  if (is_farewell(error)) co_return Next::Close;
  if (error) {
    co_await refuse(wire, problem_of(error));
    co_return Next::Close;
  }
  const auto target = parser.get().target();
  const Found found = find_route(parser.get().method(), {target.data(), target.size()});
  if (const auto problem = judge_header(parser, service, found)) {
    co_await refuse(wire, *problem, found.allow);
    co_return Next::Close;
  }
  auto share = service.bodies.reserve(length_to_reserve(parser));
  if (!share) {
    co_await refuse(wire, too_many_bodies());
    co_return Next::Close;
  }
  const bool whole = co_await read_body(wire, parser, error);
  if (!whole) {
    if (error && !is_farewell(error)) co_await refuse(wire, problem_of(error));
    co_return Next::Close;
  }
  auto message = parser.release();
  Heading heading{message.version(), message.method() == http::verb::head,
                  message.keep_alive() ? Next::KeepAlive : Next::Close};
  Call call{std::move(message.body()), std::move(*share), wire.peer, wire.source, nullptr};
  wire.stream.expires_never();
  const Reply reply = co_await answer_call(wire, service, found.route, call);
  const bool written = co_await write_reply(wire, reply, heading, "");
  co_return written ? heading.next : Next::Close;
}

}  // namespace

asio::awaitable<void> serve_connection(asio::ip::tcp::socket socket, std::shared_ptr<Service> service) {
  ErrorCode error;
  socket.set_option(asio::ip::tcp::no_delay(true), error);
  const auto peer = peer_of(socket.native_handle());
  if (!peer) co_return;
  Wire wire{Stream(std::move(socket)), beast::flat_buffer(kMaxUnparsed), {}, {}};
  wire.source = peer->source;
  wire.peer = peer->text;
  std::chrono::seconds patience = kHeaderTime;
  for (;;) {
    const Next next = co_await serve_one(wire, *service, patience);
    if (next == Next::Close) break;
    patience = kIdleTime;
  }
  wire.stream.socket().shutdown(asio::ip::tcp::socket::shutdown_both, error);
}

}  // namespace mayfly::api
