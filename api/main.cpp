// mayfly-api: HTTP in, JSON out (:8802). Started by the keeper under a uid of its own, with the descriptors of
// jail/wire/startup.h; ends when the keeper or the supervisor is gone, and is then started anew.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iostream>

#include "api/confinement.h"
#include "api/server.h"
#include "jail/os/log.h"
#include "jail/os/unix_socket.h"
#include "jail/wire/startup.h"

namespace {

namespace asio = boost::asio;

// 512 connections, the pipes of their runs, and the memory of their bodies and outputs, with room to spare.
mayfly::Expected<void> limit_ourselves() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return mayfly::failure("read descriptor limit", errno);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) return mayfly::failure("raise descriptor limit", errno);
#ifndef __SANITIZE_ADDRESS__  // its shadow memory alone is larger
  const rlimit memory{4ull << 30, 4ull << 30};
  if (::setrlimit(RLIMIT_AS, &memory) != 0) return mayfly::failure("limit address space", errno);
#endif
  return {};
}

// Reads what it must know, then narrows itself before any byte of a peer is read.
mayfly::Expected<mayfly::api::ApiConfig> narrow_down() {
  const mayfly::Fd config_memfd(mayfly::kApiConfig);
  mayfly::api::ApiConfig config = TRY(mayfly::api::read_config(config_memfd));
  mayfly::set_log_threshold(config.log_level);
  using Access = mayfly::Reach::Access;
  TRY(mayfly::lock_down(mayfly::confinement::api({{config.lease.substr(0, config.lease.rfind('/')), Access::Read}})));
  return config;
}

mayfly::Expected<std::shared_ptr<mayfly::api::Service>> make_service(asio::io_context& context,
                                                                     mayfly::api::ApiConfig config) {
  auto client = TRY(mayfly::SupervisorClient::connect(config.lease));
  auto link = mayfly::api::EngineLink::make(context, std::move(client), [&context] {
    // Answers that tell of the loss still go out; then the keeper starts us anew.
    auto timer = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(200));
    timer->async_wait([timer, &context](const boost::system::error_code&) { context.stop(); });
  });
  link->start();
  return std::shared_ptr<mayfly::api::Service>(
      new mayfly::api::Service{std::move(config), link, mayfly::api::LanguageVersions(link)});
}

mayfly::Expected<void> run() {
  TRY(limit_ourselves());
  mayfly::api::ApiConfig config = TRY(narrow_down());
  asio::io_context context(1);
  asio::posix::stream_descriptor keeper(context, mayfly::kKeeperPidfd);
  keeper.async_wait(asio::posix::descriptor_base::wait_read, [&](const boost::system::error_code&) { context.stop(); });
  asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code&, int) { context.stop(); });

  int family = 0;
  socklen_t length = sizeof family;
  if (::getsockopt(mayfly::kApiListener, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0)
    return mayfly::failure("read family of the listener", errno);
  asio::ip::tcp::acceptor acceptor(context);
  boost::system::error_code error;
  acceptor.assign(family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), mayfly::kApiListener, error);
  if (error) return mayfly::failure("take over the listener", error.value());
  auto service = TRY(make_service(context, std::move(config)));
  asio::co_spawn(context, mayfly::api::serve(std::move(acceptor), service), asio::detached);
  mayfly::log_line(mayfly::Severity::Info, "api.ready", {});
  context.run();
  return {};
}

}  // namespace

int main() {
  ::signal(SIGPIPE, SIG_IGN);
  // Otherwise each request gives its memory back to the kernel and faults it in again for the next.
  constexpr int kKeptFree = 4 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKeptFree);
  try {
    if (auto ended = run(); !ended) {
      mayfly::log_failure("api.failed", ended.error());
      return 125;
    }
  } catch (const std::exception& error) {
    mayfly::log_line(mayfly::Severity::Error, "api.failed", {}, error.what());
    return 125;
  }
  return 0;
}
