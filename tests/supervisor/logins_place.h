// A folder with the two files that logins are judged by, as long as a test runs; the log says errors only meanwhile.
#pragma once

#include <stdlib.h>  // mkdtemp
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "jail/os/log.h"
#include "jail/spec/profile.h"

namespace mayfly {

struct LoginsPlace {
  char path[32] = "/tmp/mayfly-test-XXXXXX";
  Catalogue catalogue = Catalogue::built_in();

  LoginsPlace() {
    REQUIRE(::mkdtemp(path) != nullptr);
    set_log_threshold(Severity::Error);
  }
  LoginsPlace(const LoginsPlace&) = delete;
  LoginsPlace& operator=(const LoginsPlace&) = delete;
  ~LoginsPlace() {
    for (const char* name : {"/invites.json", "/keys"}) std::remove((std::string(path) + name).c_str());
    std::remove(path);
  }
  [[nodiscard]] std::string keys() const { return std::string(path) + "/keys"; }
  void authorize(const std::string& lines) const {
    std::ofstream(keys()) << lines;
    REQUIRE(::chmod(keys().c_str(), 0600) == 0);
  }
};

}  // namespace mayfly
