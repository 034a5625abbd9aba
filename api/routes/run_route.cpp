// POST /api/run: one program in one brand-new jail, synchronous.
#include "api/request_body.h"
#include "api/router.h"
#include "api/run.h"

namespace mayfly::api {

boost::asio::awaitable<Reply> run_route(Service& service, Call& call) {
  auto order = read_run_body(call.body, call.peer, call.source);
  if (!order) co_return bad_field(order.error());
  const std::string language = order->request.language;
  std::string().swap(call.body);  // clear() would keep its memory for as long as the jail lives
  auto run = Run::start(service.link, std::move(*order));
  call.share.reset();
  if (!run) co_return engine_gone();
  call.on_peer_gone = [running = *run] { running->cancel(Ending::Disconnected); };
  Outcome outcome = co_await (*run)->wait();
  call.on_peer_gone = nullptr;
  if (const auto* refused = std::get_if<Refused>(&outcome)) co_return from_refusal(*refused);
  const auto* finished = std::get_if<Finished>(&outcome);
  if (!finished) co_return engine_gone();
  const std::string version = co_await service.versions.of(language);
  co_return Answer{200, "application/json", result_public(finished->result, finished->captured, version) + "\n"};
}

}  // namespace mayfly::api
