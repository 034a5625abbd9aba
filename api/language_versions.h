// The version of each language as its own interpreter tells it, in a jail, once per language and life of the process.
// It cannot be read from a package database: what answers is what will run.
#pragma once

#include <boost/asio.hpp>
#include <map>
#include <memory>
#include <string>

#include "api/engine_link.h"

namespace mayfly::api {

class LanguageVersions {
 public:
  explicit LanguageVersions(std::shared_ptr<EngineLink> link) : link_(std::move(link)) {}
  // "3.11.2"; "" when the language is unknown or did not answer (asked again next time).
  boost::asio::awaitable<std::string> of(std::string language);

 private:
  std::shared_ptr<EngineLink> link_;
  std::map<std::string, std::string> known_;
};

// The first word that starts with a digit: "Python 3.11.2\n" -> "3.11.2".
std::string version_in(std::string_view text);

}  // namespace mayfly::api
