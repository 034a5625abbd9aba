// EngineRuns: several runs at once on one private engine, by one thread: opens them, collects what they write, and
// hears how they end. Owner: the test.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "jail/cli/private_engine.h"
#include "tests/hostile/attack.h"

namespace mayfly::test {

class EngineRuns {
 public:
  explicit EngineRuns(PrivateEngine& engine) : engine_(engine) {}

  struct Run {
    OwnEnds own;
    std::string out, err;
    std::optional<Result> result;
    bool running = false;
    std::string trouble;
    [[nodiscard]] bool over() const { return !trouble.empty() || (result && !own.out && !own.err); }
  };

  // With stdin kept open; `hostile` is the program's bytes.
  Expected<RunNumber> open(const Attack& attack, const std::string& hostile);
  Run& run(RunNumber number) { return runs_.at(number); }
  void drop(RunNumber number) { runs_.erase(number); }
  Expected<void> cancel(RunNumber number) { return engine_.client.cancel(number, Ending::Cancelled); }

  // One wait of at most `most` for anything to happen, and what follows from it.
  Expected<void> turn(Milliseconds most);
  // Reading stops for a run whose reader is to be slow.
  void stop_reading(RunNumber number) { unread_ = number; }
  void read_again() { unread_ = 0; }

 private:
  Expected<void> take_messages();
  void broken(const std::string& why);

  PrivateEngine& engine_;
  std::map<RunNumber, Run> runs_;
  RunNumber unread_ = 0;
};

}  // namespace mayfly::test
