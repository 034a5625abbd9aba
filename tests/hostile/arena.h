// Arena: one resident engine with a canary jail and a canary host process, in which hostile programs are let loose one
// after the other. Each attack is watched: the canaries must answer within a bound all the while, and afterwards the
// engine must hold exactly what it held before.
//   const Outcome outcome = arena().attack({.program = "mounts"});
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "jail/cli/private_engine.h"
#include "tests/hostile/attack.h"
#include "tests/hostile/base_line.h"
#include "tests/hostile/control_run.h"
#include "tests/hostile/engine_runs.h"

namespace mayfly::test {

class Arena {
 public:
  static Expected<std::unique_ptr<Arena>> open();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Runs it in a new jail to its end, and checks the neighbours and the base line (CHECK of Catch).
  Outcome attack(const Attack& attack);
  // Several at once, each in a jail of its own.
  std::vector<Outcome> attack_all(const std::vector<Attack>& attacks);
  // As attack; `meddle` is called again and again while the jail runs.
  Outcome attack_while(const Attack& attack, const std::function<void(EngineRuns&, RunNumber)>& meddle);

  // Outside of every jail (control_run.h).
  OutsideRun control(const std::vector<std::string>& arguments) const;
  [[nodiscard]] const PrivateEngine& engine() const { return engine_; }
  [[nodiscard]] bool as_root() const { return engine_.privilege() == Privilege::Root; }
  [[nodiscard]] bool has_cgroups() const;

 private:
  // What a rootless engine keeps; removed when everything else of the arena is gone.
  struct OwnDirectory {
    std::string path;
    ~OwnDirectory();
  };
  explicit Arena(PrivateEngine engine) : engine_(std::move(engine)), runs_(engine_) {}
  Expected<void> begin();
  Expected<void> start_host_canary();
  void ask_canaries();
  void hear_canaries();
  void watch(std::vector<RunNumber> numbers, const std::function<void(EngineRuns&, RunNumber)>& meddle);
  void check_base_line(const BaseLine& before);
  Outcome outcome_of(RunNumber number);

  OwnDirectory directory_;
  PrivateEngine engine_;
  EngineRuns runs_;
  std::string program_path_, program_;
  RunNumber canary_ = 0;
  std::size_t canary_heard_ = 0;
  pid_t host_canary_ = -1;
  Fd host_in_, host_out_;
  Microseconds asked_{0};
  bool jail_answered_ = true, host_answered_ = true;
  Microseconds slowest_jail_{0}, slowest_host_{0};
};

// The one of this test executable; made at the first call, taken down at exit.
Arena& arena();

}  // namespace mayfly::test
