// One HTTP connection: reads one message at a time, judges it, lets its route answer, writes. HTTP/1.1 keep-alive.
// Times: headers 10 s, body 30 s, a write that makes no progress 60 s. A refused body is never read as the next
// request: the connection is closed. While a route works the peer is watched: FIN or RST calls Call::on_peer_gone.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <memory>

#include "api/router.h"

namespace mayfly::api {

boost::asio::awaitable<void> serve_connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service);

}  // namespace mayfly::api
