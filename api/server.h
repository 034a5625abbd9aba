// Server: the listener of the api process and its connections. At most kMaxConnections at once, kMaxPerSource of one
// source; more are answered with 503 and closed. Out of descriptors: waits 100 ms, never spins.
#pragma once

#include <boost/asio.hpp>
#include <map>
#include <memory>
#include <string>

#include "api/router.h"

namespace mayfly::api {

inline constexpr std::size_t kMaxConnections = 512;
inline constexpr std::size_t kMaxPerSource = 256;

boost::asio::awaitable<void> serve(boost::asio::ip::tcp::acceptor acceptor, std::shared_ptr<Service> service);

}  // namespace mayfly::api
