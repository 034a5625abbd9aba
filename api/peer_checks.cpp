#include "api/peer_checks.h"

#include <algorithm>

namespace mayfly::api {

namespace http = boost::beast::http;

namespace {

std::size_t count_of(const Header& header, http::field field) {
  const auto [first, last] = header.equal_range(field);
  return static_cast<std::size_t>(std::distance(first, last));
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// "localhost:8802" -> "localhost", "[::1]:8802" -> "[::1]". Nothing when the port is not a number.
std::optional<std::string> host_without_port(std::string_view value) {
  const auto closing = value.find(']');
  const auto colon = value.find(':', closing == std::string_view::npos ? 0 : closing);
  if (colon == std::string_view::npos) return lower(value);
  const std::string_view port = value.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return lower(value.substr(0, colon));
}

bool is_ours(std::string_view value, const std::vector<std::string>& hosts) {
  const auto host = host_without_port(value);
  return host && std::ranges::find(hosts, *host) != hosts.end();
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::optional<Problem> judge_host(const Header& header, const std::vector<std::string>& hosts) {
  if (count_of(header, http::field::host) != 1)
    return Problem{400, "bad-host", "Exactly one Host header is needed", "", "Host", 0};
  if (!is_ours(view(header[http::field::host]), hosts))
    return Problem{421,
                   "foreign-host",
                   "This service does not answer for that host",
                   "use localhost, or the address that it listens on",
                   "Host",
                   0};
  return std::nullopt;
}

std::optional<Problem> judge_origin(const Header& header, const std::vector<std::string>& hosts) {
  const std::size_t count = count_of(header, http::field::origin);
  if (count == 0) return std::nullopt;
  const std::string_view origin = view(header[http::field::origin]);
  const std::string_view scheme = "http://";
  // Another port of the same host is another origin (RFC 6454 4).
  const bool is_own = origin.starts_with(scheme) && is_ours(origin.substr(scheme.size()), hosts) &&
                      lower(origin.substr(scheme.size())) == lower(view(header[http::field::host]));
  if (count == 1 && is_own) return std::nullopt;
  return Problem{403, "foreign-origin", "Web pages of other origins may not use this service", "", "Origin", 0};
}

std::optional<Problem> judge_framing(const Header& header) {
  const std::size_t lengths = count_of(header, http::field::content_length);
  const std::size_t codings = count_of(header, http::field::transfer_encoding);
  if (lengths > 1 || codings > 1 || (lengths == 1 && codings == 1))
    return Problem{400,
                   "bad-framing",
                   "The length of the body is not clear",
                   "send one Content-Length, or Transfer-Encoding: chunked alone",
                   "",
                   0};
  const std::string_view length = view(header[http::field::content_length]);
  if (lengths == 1 && length.find_first_not_of("0123456789") != std::string_view::npos)
    return Problem{400, "bad-framing", "Content-Length must be one whole number", "", "Content-Length", 0};
  if (codings == 1 && lower(view(header[http::field::transfer_encoding])) != "chunked")
    return Problem{400, "bad-framing",       "Only the transfer coding \"chunked\" is understood",
                   "",  "Transfer-Encoding", 0};
  if (count_of(header, http::field::content_encoding) != 0)
    return Problem{415, "bad-content-encoding", "Bodies are not compressed here", "", "Content-Encoding", 0};
  if (count_of(header, http::field::expect) > 1)
    return Problem{417, "bad-expect", "Only one Expect header is understood", "", "Expect", 0};
  if (header.find(http::field::expect) != header.end() && lower(view(header[http::field::expect])) != "100-continue")
    return Problem{417, "bad-expect", "Only 100-continue is understood", "", "Expect", 0};
  return std::nullopt;
}

std::optional<Problem> judge_content_type(const Header& header) {
  const Problem problem{415, "bad-content-type", "Content-Type: application/json is needed", "", "Content-Type", 0};
  if (count_of(header, http::field::content_type) != 1) return problem;
  std::string value = lower(view(header[http::field::content_type]));
  const auto parameters = value.find(';');
  const std::string rest = parameters == std::string::npos ? "" : value.substr(parameters + 1);
  value.resize(std::min(parameters, value.size()));
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.pop_back();
  if (value != "application/json") return problem;
  const auto charset = rest.find("charset=");
  if (charset != std::string::npos && rest.find("utf-8", charset) == std::string::npos) return problem;
  return std::nullopt;
}

}  // namespace mayfly::api
