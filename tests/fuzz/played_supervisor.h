// PlayedSupervisor: the other end of the lease. Judges logins, plays jails as the scenario says, and holds what the
// session asks for to the rules of wire/lease.h and to those of the SSH front end:
//   no jail before a login was judged good, and in nobody else's name; no login after that; at most ten jails at once;
//   at most the attempts that are allowed; every request whole and within its limits.
// Never waits.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "jail/os/fd.h"
#include "jail/wire/lease.h"
#include "tests/fuzz/reached.h"
#include "tests/fuzz/scenario.h"

namespace mayfly::fuzz {

enum class JailEnding : std::uint8_t { Exit, Signal, TimeLimit, Incomplete, Failed, Refused, Count };

class PlayedSupervisor {
 public:
  PlayedSupervisor(Fd lease, const Scenario& scenario, Reached& reached);

  bool step();  // hears, answers, moves bytes; true: something moved
  void write_from_jail(std::string_view record);
  void end_jail(std::string_view record);
  void stop();  // closes the lease, and with it every stream

 private:
  struct Jail {
    Play play = Play::Silent;
    Fd out, err, in;
    std::string to_out, to_err;
    std::optional<Result> ending;  // what is said once everything is written
    bool ran = false;
    bool told = false;
  };

  bool hear();
  void on(const LogIn& login);
  void on(const Open& open, std::vector<Fd> fds);
  void on(const Cancel& cancel);
  void on(const SignalRun& signal);
  void on(const ResizeRun& resize);
  void judge_request(const Open& open, const std::vector<Fd>& fds) const;
  void judge_command(const Open& open, const Fd& payload) const;
  void begin(RunNumber run, Jail& jail);
  bool move_bytes(RunNumber run, Jail& jail);
  bool echo(Jail& jail);
  void finish(RunNumber run, Jail& jail, Ending ending, std::optional<int> number = {});
  void say(const FromSupervisor& message);
  [[nodiscard]] Jail* jail_of(std::string_view record);

  Fd lease_;
  const Scenario& scenario_;
  Reached& reached_;
  std::optional<LogIn> admitted_;
  std::uint32_t asked_ = 0;
  RunNumber last_run_ = 0;
  std::map<RunNumber, Jail> jails_;
};

}  // namespace mayfly::fuzz
