// What one hostile program is asked to do, and what came of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jail/spec/limits.h"
#include "jail/spec/result.h"

namespace mayfly::test {

enum class Streams : unsigned char { Pipes, Terminal };

struct Attack {
  std::string program;  // a name of tests/hostile/programs/hostile.c
  std::vector<std::string> arguments{};
  LimitRequest limits{};
  Streams streams = Streams::Pipes;
  std::vector<std::string> command{};  // instead of the program: argv of something below /usr
};

// "NAME=VALUE" lines, in order; what is not such a line is left out.
class Lines {
 public:
  explicit Lines(const std::string& text);
  // Of the last line with that name; "" when there is none.
  [[nodiscard]] std::string of(const std::string& name) const;
  [[nodiscard]] long number(const std::string& name) const;  // -1 when there is none
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
  [[nodiscard]] std::size_t count() const { return lines_.size(); }
  // Names whose value is `value`, sorted and joined by blanks: what is compared with "" reads well when it fails.
  [[nodiscard]] std::string named_with(const std::string& value) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

struct Outcome {
  Result result;
  std::string out, err;
  std::string trouble;  // not "" when the run was refused, or the engine broke; nothing else is valid then
  Lines lines{""};

  [[nodiscard]] bool ended(Ending ending) const { return trouble.empty() && result.ending == ending; }
  [[nodiscard]] bool exited(int code) const { return ended(Ending::Exited) && result.exit_code == code; }
  [[nodiscard]] bool reached(LimitReached limit) const;
  [[nodiscard]] std::string story() const;  // for INFO: how it ended, and what it wrote
};

}  // namespace mayfly::test
