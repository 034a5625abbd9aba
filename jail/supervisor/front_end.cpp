#include "jail/supervisor/front_end.h"

#include <algorithm>

namespace mayfly {

namespace {

std::string_view name(Message message) {
  switch (message) {
    case Message::Open:
      return "open";
    case Message::Cancel:
      return "cancel";
    case Message::Signal:
      return "signal";
    case Message::Resize:
      return "resize";
    case Message::AskHost:
      return "ask host";
    case Message::LogIn:
      return "log in";
    default:
      return "message";
  }
}

tl::unexpected<Failure> not_permitted(Message message) {
  return failure("accept message", 0, std::string(name(message)), "not permitted here and now");
}

}  // namespace

Expected<std::optional<JailId>> FrontEnd::judge(Message message, RunNumber run) const {
  const auto found = runs_.find(run);
  const bool was_there = any_ && run <= newest_;
  const RunPhase phase = found != runs_.end() ? RunPhase::Live : was_there ? RunPhase::Over : RunPhase::NoRun;
  if (!is_permitted(role_, message, phase)) return not_permitted(message);
  return found != runs_.end() ? std::optional<JailId>(found->second) : std::nullopt;
}

Expected<void> FrontEnd::frame_came(Frame frame) {
  FromFrontEnd message = TRY(decode_from_front_end(frame.body));
  if (auto* open = std::get_if<Open>(&message)) return take(std::move(*open), std::move(frame.fds));
  if (!frame.fds.empty()) return failure("accept message", 0, "descriptors", "only Open carries them");
  if (const auto* cancel = std::get_if<Cancel>(&message)) {
    if (const auto id = TRY(judge(Message::Cancel, cancel->run))) events_.run_cancelled(*id, cancel->why);
  } else if (const auto* signal = std::get_if<SignalRun>(&message)) {
    if (const auto id = TRY(judge(Message::Signal, signal->run))) events_.run_signalled(*id, signal->signal_number);
  } else if (const auto* resize = std::get_if<ResizeRun>(&message)) {
    if (const auto id = TRY(judge(Message::Resize, resize->run))) events_.run_resized(*id, resize->size);
  } else if (const auto* login = std::get_if<LogIn>(&message)) {
    if (identity_ || !is_permitted(role_, Message::LogIn, RunPhase::NoRun)) return not_permitted(Message::LogIn);
    events_.front_end_logs_in(*this, *login);
  } else {
    if (!is_permitted(role_, Message::AskHost, RunPhase::NoRun)) return not_permitted(Message::AskHost);
    events_.front_end_asks_host(*this);
  }
  return {};
}

Expected<void> FrontEnd::take(Open message, std::vector<Fd> fds) {
  const RunPhase phase = runs_.contains(message.run) ? RunPhase::Live : RunPhase::NoRun;
  const bool is_stranger = role_ == Role::Ssh && !identity_;
  if (is_stranger || !is_permitted(role_, Message::Open, phase)) return not_permitted(Message::Open);
  newest_ = std::max(newest_, message.run);
  any_ = true;
  return events_.front_end_opens(*this, std::move(message), std::move(fds));
}

}  // namespace mayfly
