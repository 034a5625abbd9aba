// Run: one jail from the api's side: its streams are captured, its stdin is fed, its last word is awaited.
// Complete when the supervisor has spoken its last word and, after Ended, both streams are at their end.
// Owner: whoever awaits it; lives on by itself until complete (shared_ptr).
#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "api/engine_link.h"
#include "api/request_body.h"
#include "jail/wire/result_json.h"

namespace mayfly::api {

struct Finished {
  Result result;
  Captured captured;
};
struct EngineGone {};
using Outcome = std::variant<Finished, Refused, EngineGone>;

class Run : public std::enable_shared_from_this<Run> {
 public:
  static Expected<std::shared_ptr<Run>> start(const std::shared_ptr<EngineLink>& link, RunOrder order);

  boost::asio::awaitable<Outcome> wait();  // once
  void cancel(Ending why);                 // Cancelled or Disconnected; idempotent

 private:
  explicit Run(const std::shared_ptr<EngineLink>& link);
  void take_ends(OwnEnds ends);
  void hear(const FromSupervisor* message);
  void read_when_ready(boost::asio::posix::stream_descriptor& from, std::string& into);
  // False: at its end.
  static bool read_some(boost::asio::posix::stream_descriptor& from, std::string& into);
  void feed();
  void wake_if_complete();

  std::shared_ptr<EngineLink> link_;
  RunNumber number_ = 0;
  boost::asio::posix::stream_descriptor out_, err_, in_;
  std::string stdin_bytes_;
  std::size_t fed_ = 0;
  Captured captured_;
  unsigned open_streams_ = 0;
  std::optional<Outcome> last_word_;
  boost::asio::steady_timer complete_;  // never expires; cancelled when the run is complete
};

}  // namespace mayfly::api
