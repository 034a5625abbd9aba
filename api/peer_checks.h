// What is judged of a message before its body is read: Host, Origin, Content-Type, framing (RFC 9112 section 6.3).
// Pure functions over header fields. hostile.md C03-C15: rebinding, CSRF, smuggling.
#pragma once

#include <boost/beast/http.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/problem.h"

namespace mayfly::api {

using Header = boost::beast::http::request_header<>;

// The first objection, or none.
std::optional<Problem> judge_host(const Header& header, const std::vector<std::string>& hosts);
std::optional<Problem> judge_origin(const Header& header, const std::vector<std::string>& hosts);
std::optional<Problem> judge_framing(const Header& header);
std::optional<Problem> judge_content_type(const Header& header);

}  // namespace mayfly::api
