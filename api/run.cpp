#include "api/run.h"

#include <array>

namespace mayfly::api {

namespace asio = boost::asio;

Run::Run(const std::shared_ptr<EngineLink>& link)
    : link_(link),
      out_(link->context()),
      err_(link->context()),
      in_(link->context()),
      complete_(link->context(), asio::steady_timer::time_point::max()) {}

Expected<std::shared_ptr<Run>> Run::start(const std::shared_ptr<EngineLink>& link, RunOrder order) {
  std::shared_ptr<Run> run(new Run(link));
  RunStreams streams =
      TRY(make_run_streams(WithStderr::Yes, order.stdin_bytes.empty() ? WithStdin::No : WithStdin::Yes));
  run->stdin_bytes_ = std::move(order.stdin_bytes);
  run->number_ = TRY(link->open(std::move(order.request), std::move(order.payload), std::move(streams.peer),
                                [run](const FromSupervisor* message) { run->hear(message); }));
  run->take_ends(std::move(streams.own));
  return run;
}

void Run::take_ends(OwnEnds ends) {
  out_.assign(ends.out.release());
  err_.assign(ends.err.release());
  open_streams_ = 2;
  for (asio::posix::stream_descriptor* end : {&out_, &err_}) end->non_blocking(true);  // our ends are that already
  read_when_ready(out_, captured_.out);
  read_when_ready(err_, captured_.err);
  if (ends.in) {
    in_.assign(ends.in.release());
    feed();
  }
}

// One buffer for all runs, used between two waits and never across one: 64 KiB of each run would be most of its memory,
// and clearing them a quarter of what a request costs.
bool Run::read_some(asio::posix::stream_descriptor& from, std::string& into) {
  constexpr int kAtOnce = 4;  // one run that writes much does not keep the others waiting
  static std::array<char, 65536> buffer;
  for (int i = 0; i < kAtOnce; ++i) {
    boost::system::error_code error;
    const std::size_t count = from.read_some(asio::buffer(buffer), error);
    if (error == asio::error::would_block || error == asio::error::interrupted) return true;
    if (error) return false;
    into.append(buffer.data(), count);
  }
  return true;
}

void Run::read_when_ready(asio::posix::stream_descriptor& from, std::string& into) {
  from.async_wait(asio::posix::descriptor_base::wait_read,
                  [self = shared_from_this(), &from, &into](const boost::system::error_code& stopped) {
                    if (!stopped && read_some(from, into)) return self->read_when_ready(from, into);
                    boost::system::error_code ignored;
                    from.close(ignored);
                    --self->open_streams_;
                    self->wake_if_complete();
                  });
}

void Run::feed() {
  if (fed_ == stdin_bytes_.size()) {
    boost::system::error_code ignored;
    in_.close(ignored);  // the program's end of input
    return;
  }
  in_.async_write_some(asio::buffer(stdin_bytes_.data() + fed_, stdin_bytes_.size() - fed_),
                       [self = shared_from_this()](const boost::system::error_code& error, std::size_t count) {
                         // A program that does not read its input closes the pipe: that is its affair.
                         self->fed_ = error ? self->stdin_bytes_.size() : self->fed_ + count;
                         self->feed();
                       });
}

void Run::hear(const FromSupervisor* message) {
  if (message == nullptr) {
    last_word_ = EngineGone{};
  } else if (const auto* ended = std::get_if<Ended>(message)) {
    last_word_ = Finished{ended->result, {}};
  } else if (const auto* refused = std::get_if<Refused>(message)) {
    last_word_ = *refused;
  } else {
    return;  // queued, running: nobody asks yet
  }
  boost::system::error_code ignored;
  in_.close(ignored);
  wake_if_complete();
}

void Run::wake_if_complete() {
  if (!last_word_) return;
  if (std::holds_alternative<Finished>(*last_word_) && open_streams_ > 0) return;
  complete_.cancel();
}

asio::awaitable<Outcome> Run::wait() {
  const auto self = shared_from_this();
  while (!last_word_ || (std::holds_alternative<Finished>(*last_word_) && open_streams_ > 0)) {
    boost::system::error_code woken;
    co_await complete_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
  boost::system::error_code ignored;
  out_.close(ignored);
  err_.close(ignored);
  if (auto* finished = std::get_if<Finished>(&*last_word_)) finished->captured = std::move(captured_);
  co_return std::move(*last_word_);
}

void Run::cancel(Ending why) { link_->cancel(number_, why); }

}  // namespace mayfly::api
