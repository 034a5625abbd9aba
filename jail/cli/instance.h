// Instance: one running engine (service or `mayfly run`), its name and its locks.
//   <runtime>/instances/<id>.lock   flock(2)ed as long as the engine lives; cgroups carry the id, and only what belongs
//                                   to an instance whose lock is free is ever cleaned up by another one
//   <state>/lock                    flock(2)ed by the service that uses this state directory; holds "pid instance\n"
// Owner: the keeper. A lock is free as soon as the keeper is dead, however it died.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

class Instance {
 public:
  static Expected<Instance> claim(const std::string& runtime_directory);
  Instance(Instance&& other) noexcept;
  Instance& operator=(Instance&&) = delete;
  ~Instance();  // takes the lock file away, unless a supervisor may have left cgroups in its name

  // A supervisor works under this id. Should it not end by itself, its cgroups stay, and only the lock file names them
  // to the next start (supervisor/stale.h).
  void may_leave_cgroups() { leaves_ = true; }
  void leaves_nothing() { leaves_ = false; }  // it has ended well

  [[nodiscard]] const std::string& id() const { return id_; }  // 12 lower-case hex digits

 private:
  Instance(std::string id, std::string path, Fd lock)
      : id_(std::move(id)), path_(std::move(path)), lock_(std::move(lock)) {}
  std::string id_, path_;
  Fd lock_;
  bool leaves_ = false;
};

// Takes away the sockets that dead instances have left in the runtime directory. Their cgroups, and then the lock files
// that name these, are the supervisor's to remove (supervisor/stale.h).
void sweep_instances(const std::string& runtime_directory);

class StateLock {
 public:
  // Refused, naming the holder's pid, while another service holds it.
  static Expected<StateLock> take(const std::string& state_directory, const std::string& instance);

 private:
  explicit StateLock(Fd lock) : lock_(std::move(lock)) {}
  Fd lock_;
};

struct Holder {
  pid_t pid = 0;
  std::string instance;
  Fd pidfd;
};
// The service that holds this state directory now; nullopt when none does. The pidfd is that process's for certain:
// it was opened before the lock was seen held and the file unchanged.
Expected<std::optional<Holder>> holder_of(const std::string& state_directory);

}  // namespace mayfly
