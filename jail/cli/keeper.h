// Keeper: `mayfly serve`. Starts the other processes from a fixed table, hands each its descriptors, starts again what
// dies, adopts and reaps orphans (PR_SET_CHILD_SUBREAPER, prctl(2)). Parses nothing after its start.
//
//   Running     a front end, builder or witness that dies is started anew (RestartPace)
//   Rebuilding  the supervisor has died: its jails die by themselves within 2 s; when nothing of it is left, everything
//               is started anew on the same sockets
//   SIGHUP      `mayfly settings` reads the configuration anew, and the supervisor takes what can be changed. The
//   kernel's
//               own SIGHUP (the terminal that a service was started on is gone) stops it
//   Stopping    SIGTERM: the supervisor ends every jail, then all others end; kStopTotal at most, a second signal
//   hurries
//
// Everybody holds our pidfd: when we die, all of them end.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "jail/cli/config.h"
#include "jail/cli/core_processes.h"
#include "jail/cli/front_ends.h"
#include "jail/cli/instance.h"
#include "jail/cli/listeners.h"
#include "jail/cli/restart_pace.h"
#include "jail/cli/uid_blocks.h"
#include "jail/os/event_loop.h"

namespace mayfly {

class Keeper {
 public:
  struct Orders {
    Settings settings;
    Paths paths;
    Privilege privilege = Privilege::Rootless;
    bool use_cgroups = true;
    std::string settings_file;  // what a reload reads: as --config named it, else the usual one
  };
  // Takes the locks, opens the sockets, makes the host key; starts nothing yet.
  static Expected<Keeper> make(Orders orders, const Programs& programs);
  Keeper(Keeper&&) = default;
  Keeper& operator=(Keeper&&) = delete;
  ~Keeper();  // takes the socket files away

  // Until the service has ended. 0: ended cleanly; 1: something had to be killed at the end.
  Expected<int> run();

 private:
  enum class Mode : unsigned char { Running, Rebuilding, Stopping };
  // A process that is started anew when it dies.
  struct Kept {
    std::optional<Child> child;
    RestartPace pace;
    bool restart_is_due = false;
    int failures = 0;  // of a task
  };

  Keeper(Orders orders, CorePrograms programs, EventLoop loop, Instance instance, StateLock lock)
      : orders_(std::move(orders)),
        programs_(std::move(programs)),
        loop_(std::move(loop)),
        instance_(std::move(instance)),
        lock_(std::move(lock)) {}

  Expected<void> prepare(const Programs& programs);
  Expected<void> prepare_front_ends(const Programs& programs);
  Expected<void> watch_signals();
  void take_signals();
  [[nodiscard]] CoreDescriptors descriptors() const;

  // keeper_processes.cpp
  Expected<void> start_everything();
  Expected<void> start_front_end(std::size_t index);
  Expected<void> restart_core_part(KeeperSays what);
  void reap();
  void process_ended(pid_t pid);
  static bool is_to_be_tried_again(Kept& task, int status);
  void supervisor_ended(int status);
  void part_ended(Kept& kept, const std::string& name, int status, std::function<Expected<void>()> restart);
  void nothing_is_left();
  void rebuild();
  bool tell(KeeperSays what, const FrontEnd* front_end, pid_t pid, int fd);
  void signal_others(int number);

  // keeper_reload.cpp
  void begin_reload();
  Expected<void> read_settings_anew();
  void settings_read(int status);

  // keeper_stop.cpp
  void begin_stop();
  void hurry();
  void kill_children() const;
  void give_up(const Failure& why);

  Orders orders_;
  std::string own_program_;
  CorePrograms programs_;
  EventLoop loop_;
  Instance instance_;
  StateLock lock_;
  std::optional<UidBlock> block_;
  Fd self_pidfd_, signals_, bind_table_, config_;
  UnixListeners sockets_;
  std::string ssh_at_ = "off", http_at_ = "off";  // where they listen
  std::string host_key_;                          // its fingerprint
  Fd examination_;                                // what mayfly-examiner found, for the api
  std::vector<FrontEnd> front_ends_;

  Mode mode_ = Mode::Running;
  Fd channel_;  // to the supervisor
  Kept supervisor_, builder_, witness_;
  std::vector<Kept> front_end_processes_;
  std::optional<Child> reader_;  // `mayfly settings`, while it runs
  Fd read_settings_;             // what it writes to
  bool reload_again_ = false;    // asked for while it ran
  Fd settings_;                  // what was read last, sealed: a supervisor that is started anew is told it again
  Microseconds stop_asked_{};
  int status_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace mayfly
