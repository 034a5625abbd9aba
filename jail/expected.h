// Expected<T>, Failure and TRY: the one error style of this project.
//
// A function that can fail returns Expected<T>. A Failure says what we were doing, to what, and why:
// an errno where the kernel answered one (0 where it did not), else a sentence in `why`.
// No two failures share a text. Nothing is thrown across a function of ours; exceptions of libraries are
// caught at the call that can raise them.
#pragma once

#include <cstring>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace mayfly {

struct Failure {
  std::string doing;    // "open lease socket": a verb and an object, no trailing punctuation
  int error = 0;        // errno, or 0 when the kernel did not refuse anything
  std::string subject;  // "/run/mayfly/lease.sock", "jail j_abc", "limits.wallMs"; may be empty
  std::string why{};    // for people, where errno says nothing: "allowed 1..60000, got 0"

  // One line: "open lease socket /run/mayfly/lease.sock: Permission denied".
  [[nodiscard]] std::string text() const {
    std::string line = doing;
    if (!subject.empty()) line += " " + subject;
    if (!why.empty()) line += ": " + why;
    if (error != 0) line += std::string(": ") + std::strerror(error);
    return line;
  }
};

template <typename T>
using Expected = tl::expected<T, Failure>;

inline tl::unexpected<Failure> failure(std::string doing, int error, std::string subject = {}, std::string why = {}) {
  return tl::make_unexpected(Failure{std::move(doing), error, std::move(subject), std::move(why)});
}

namespace detail {
template <typename T>
T take(Expected<T>&& value) {
  return std::move(*value);
}
inline void take(Expected<void>&&) {}
}  // namespace detail

}  // namespace mayfly

// Value of an Expected, or return its Failure from the enclosing function.
// `__extension__` because a statement expression is GNU C++; both compilers that we support have it.
// The counter in the name lets one TRY stand within another.
#define TRY(expression) MAYFLY_TRY_NAMED(MAYFLY_TRY_JOIN(try_result_, __COUNTER__), expression)
#define MAYFLY_TRY_JOIN(a, b) MAYFLY_TRY_JOIN_EXPANDED(a, b)
#define MAYFLY_TRY_JOIN_EXPANDED(a, b) a##b
#define MAYFLY_TRY_NAMED(result, expression)                            \
  __extension__({                                                       \
    auto result = (expression);                                         \
    if (!result) return tl::make_unexpected(std::move(result.error())); \
    ::mayfly::detail::take(std::move(result));                          \
  })
