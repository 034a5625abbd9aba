// A network part is furnished from within its own namespace, and from nowhere else: the settings would be the host's.
#include "jail/builder/outside/network_parts.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <string>

using namespace mayfly;

namespace {

Fd open_path(const char* path) { return Fd(::open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)); }

std::string somaxconn() {
  std::ifstream file("/proc/sys/net/core/somaxconn");
  std::string value;
  file >> value;
  return value;
}

}  // namespace

TEST_CASE("settings are made in the part's namespace alone", "[root]") {
  const Fd home(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const Fd proc = open_path("/proc");
  Nsids nsids = Nsids::open();
  const std::string before = somaxconn();
  REQUIRE(before != "16");
  NetworkPart part;
  REQUIRE(make_network_part(home.get(), proc.get(), nsids, Furnish::Later, part) == 0);
  CHECK(furnish_network(part, proc.get()) == EXDEV);
  CHECK(somaxconn() == before);
  REQUIRE(::setns(part.network.get(), CLONE_NEWNET) == 0);
  const int furnished = furnish_network(part, proc.get());
  const std::string inside = somaxconn();
  REQUIRE(::setns(home.get(), CLONE_NEWNET) == 0);
  CHECK(furnished == 0);
  CHECK(inside == "16");
  CHECK(somaxconn() == before);
}

TEST_CASE("without a namespace nothing is furnished", "[root]") {
  const Fd proc = open_path("/proc");
  const std::string before = somaxconn();
  CHECK(furnish_network(NetworkPart(), proc.get()) == EXDEV);
  CHECK(somaxconn() == before);
}
