#include "api/engine_link.h"

#include <fcntl.h>

#include "jail/os/log.h"

namespace mayfly::api {

namespace asio = boost::asio;

namespace {

std::optional<RunNumber> run_of(const FromSupervisor& message) {
  return std::visit(
      [](const auto& m) -> std::optional<RunNumber> {
        if constexpr (requires { m.run; })
          return m.run;
        else
          return std::nullopt;
      },
      message);
}

}  // namespace

EngineLink::EngineLink(asio::io_context& context, SupervisorClient client, std::function<void()> on_gone)
    : context_(context),
      client_(std::move(client)),
      descriptor_(context, ::fcntl(client_.descriptor(), F_DUPFD_CLOEXEC, 3)),
      on_gone_(std::move(on_gone)) {}

std::shared_ptr<EngineLink> EngineLink::make(asio::io_context& context, SupervisorClient client,
                                             std::function<void()> on_gone) {
  return std::shared_ptr<EngineLink>(new EngineLink(context, std::move(client), std::move(on_gone)));
}

void EngineLink::start() { wait(); }

void EngineLink::wait() {
  descriptor_.async_wait(asio::posix::descriptor_base::wait_read,
                         [self = shared_from_this()](const boost::system::error_code& error) {
                           if (error || self->gone_) return;
                           self->take_messages();
                           if (!self->gone_) self->wait();
                         });
}

// The supervisor does not read at the moment: what it is owed goes out when it does.
void EngineLink::wait_for_room() {
  if (gone_ || !client_.wants_write() || std::exchange(waits_for_room_, true)) return;
  descriptor_.async_wait(asio::posix::descriptor_base::wait_write,
                         [self = shared_from_this()](const boost::system::error_code& error) {
                           self->waits_for_room_ = false;
                           if (error || self->gone_) return;
                           if (auto sent = self->client_.flush(); !sent) return self->lose(sent.error());
                           self->wait_for_room();
                         });
}

void EngineLink::take_messages() {
  for (;;) {
    auto message = client_.receive();
    if (!message) return lose(message.error());
    if (!*message) return;
    give(**message);
  }
}

void EngineLink::give(const FromSupervisor& message) {
  if (const auto* fault = std::get_if<Fault>(&message))
    return lose(Failure{"speak with the supervisor", 0, "", fault->text});
  const auto run = run_of(message);
  if (!run) return;
  const auto found = listeners_.find(*run);
  if (found == listeners_.end()) return;
  const Listener listener = found->second;
  if (std::holds_alternative<Ended>(message) || std::holds_alternative<Refused>(message)) listeners_.erase(found);
  listener(&message);
}

void EngineLink::lose(const Failure& why) {
  // Without a run that is lost this is how a stop of the whole service looks from here; a crash is the keeper's to
  // tell.
  if (listeners_.empty() && why.error == EPIPE)
    log_line(Severity::Info, "api.engine_ended", {});
  else
    log_failure("api.engine_lost", why);
  gone_ = true;
  const auto listeners = std::exchange(listeners_, {});
  for (const auto& [run, listener] : listeners) listener(nullptr);
  boost::system::error_code ignored;
  descriptor_.cancel(ignored);
  on_gone_();
}

Expected<RunNumber> EngineLink::open(Request request, PayloadBuilder payload, PeerEnds ends, Listener listener) {
  const RunNumber run = TRY(client_.open(std::move(request), std::move(payload), std::move(ends)));
  listeners_[run] = std::move(listener);
  wait_for_room();
  return run;
}

void EngineLink::cancel(RunNumber run, Ending why) {
  if (gone_ || !listeners_.contains(run)) return;
  if (auto sent = client_.cancel(run, why); !sent) return lose(sent.error());
  wait_for_room();
}

void EngineLink::forget(RunNumber run) { listeners_.erase(run); }

}  // namespace mayfly::api
