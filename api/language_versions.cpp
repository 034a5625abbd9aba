#include "api/language_versions.h"

#include "api/run.h"
#include "jail/spec/profile.h"

namespace mayfly::api {

std::string version_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n\t", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!word.empty() && word[0] >= '0' && word[0] <= '9') return std::string(word.substr(0, 40));
    at = end + 1;
  }
  return "";
}

boost::asio::awaitable<std::string> LanguageVersions::of(std::string language) {
  if (const auto found = known_.find(language); found != known_.end()) co_return found->second;
  const Catalogue catalogue = Catalogue::built_in();
  const Language* row = catalogue.language(language);
  if (!row) co_return "";
  RunOrder order;
  order.request.origin = OriginKind::Api;
  order.request.principal = "mayfly";
  order.request.label = "language version";
  for (const std::string& word : row->version) order.payload.add(PayloadKind::Argument, word);
  auto run = Run::start(link_, std::move(order));
  if (!run) co_return "";
  const Outcome outcome = co_await (*run)->wait();
  const auto* finished = std::get_if<Finished>(&outcome);
  if (!finished || finished->result.exit_code != 0) co_return "";
  const std::string version = version_in(finished->captured.out);
  if (!version.empty()) known_[language] = version;
  co_return version;
}

}  // namespace mayfly::api
