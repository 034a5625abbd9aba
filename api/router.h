// The routes of this version. A table; anything else is 404, a known path with another method 405 with Allow.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "api/body_budget.h"
#include "api/config.h"
#include "api/engine_link.h"
#include "api/language_versions.h"
#include "api/problem.h"

namespace mayfly::api {

// What all routes share. Owner: Server.
struct Service {
  ApiConfig config;
  std::shared_ptr<EngineLink> link;
  LanguageVersions versions;
  BodyBudget bodies{};
};

struct Answer {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
};
using Reply = std::variant<Answer, Problem>;

// What a route gets of its message.
struct Call {
  std::string body;
  BodyBudget::Share share;  // of the memory that `body` takes
  std::string peer;         // "127.0.0.1:50422"
  std::string source;       // "127.0.0.1"
  // Set by a route that can be cancelled; called (at most once) when the peer has gone before the answer.
  std::function<void()> on_peer_gone;
};

using Route = boost::asio::awaitable<Reply> (*)(Service&, Call&);

struct Found {
  Route route = nullptr;
  bool needs_json = false;
  std::optional<Problem> problem;  // 404 or 405
  std::string allow;               // with 405
};
Found find_route(boost::beast::http::verb method, std::string_view target);

boost::asio::awaitable<Reply> run_route(Service& service, Call& call);
boost::asio::awaitable<Reply> containment_route(Service& service, Call& call);
boost::asio::awaitable<Reply> health_route(Service& service, Call& call);

}  // namespace mayfly::api
