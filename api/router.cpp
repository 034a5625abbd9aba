#include "api/router.h"

#include <array>

namespace mayfly::api {

namespace http = boost::beast::http;

namespace {

struct Row {
  http::verb method;
  std::string_view path;
  Route route;
  bool needs_json;
};

constexpr std::array kRoutes = {
    Row{http::verb::post, "/api/run", run_route, true},
    Row{http::verb::get, "/api/containment", containment_route, false},
    Row{http::verb::get, "/healthz", health_route, false},
};

}  // namespace

Found find_route(http::verb method, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  Found found;
  for (const Row& row : kRoutes) {
    if (row.path != path) continue;
    const http::verb asked = method == http::verb::head ? http::verb::get : method;
    if (row.method == asked) {
      found.route = row.route;
      found.needs_json = row.needs_json;
      return found;
    }
    found.allow = std::string(http::to_string(row.method));
  }
  found.problem =
      found.allow.empty()
          ? Problem{404, "not-found", "There is nothing at this path", "", "", 0}
          : Problem{405, "bad-method", "This path does not take that method", "allowed: " + found.allow, "", 0};
  return found;
}

boost::asio::awaitable<Reply> health_route(Service& service, Call&) {
  if (service.link->is_gone()) co_return engine_gone();
  co_return Answer{200, "application/json", "{\"status\":\"ok\"}\n"};
}

}  // namespace mayfly::api
