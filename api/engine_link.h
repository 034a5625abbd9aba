// EngineLink: the api's one connection to the supervisor, shared by all runs; gives each message to its run.
// Single-threaded: everything happens on the io_context's thread. When the supervisor is gone every run is told,
// and on_gone is called once: the process then ends and the keeper starts it anew.
#pragma once

#include <boost/asio.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "jail/client/supervisor_client.h"

namespace mayfly::api {

class EngineLink : public std::enable_shared_from_this<EngineLink> {
 public:
  using Listener = std::function<void(const FromSupervisor* message)>;  // nullptr: the supervisor is gone
  using HostListener = std::function<void(const Host* host)>;

  static std::shared_ptr<EngineLink> make(boost::asio::io_context& context, SupervisorClient client,
                                          std::function<void()> on_gone);
  void start();

  Expected<RunNumber> open(Request request, PayloadBuilder payload, PeerEnds ends, Listener listener);
  void cancel(RunNumber run, Ending why);  // the listener still gets its last word
  void forget(RunNumber run);              // nobody listens any more
  [[nodiscard]] bool is_gone() const { return gone_; }
  boost::asio::io_context& context() { return context_; }

 private:
  EngineLink(boost::asio::io_context& context, SupervisorClient client, std::function<void()> on_gone);
  void wait();
  void wait_for_room();
  void take_messages();
  void give(const FromSupervisor& message);
  void lose(const Failure& why);

  boost::asio::io_context& context_;
  SupervisorClient client_;
  boost::asio::posix::stream_descriptor descriptor_;  // a duplicate, only to wait on
  std::unordered_map<RunNumber, Listener> listeners_;
  std::function<void()> on_gone_;
  bool gone_ = false, waits_for_room_ = false;
};

}  // namespace mayfly::api
