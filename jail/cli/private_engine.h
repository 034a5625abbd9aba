// PrivateEngine: a supervisor, a builder and a witness of one's own, for `mayfly run`, `mayfly shell`, `mayfly doctor`,
// the tests and the benchmark. No service is needed, none is touched: it has its own instance, cgroups and uids.
//
//   auto engine = TRY(PrivateEngine::start(options));
//   auto run = TRY(engine.client.open(request, payload, ends));
//   ...
//   TRY(engine.stop());   // or let it go out of scope
//
// Owner: one process, which becomes a child subreaper (prctl(2)): what the engine leaves is adopted and reaped here.
// Fails when a program is missing, a lock cannot be had, or a process does not start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jail/cli/core_processes.h"
#include "jail/cli/instance.h"
#include "jail/cli/paths.h"
#include "jail/cli/programs.h"
#include "jail/cli/uid_blocks.h"
#include "jail/client/supervisor_client.h"
#include "jail/spec/policy.h"

namespace mayfly {

// A policy for a private engine: the built-in one with this host's processors, and the ceilings of Door::Run raised to
// what the host has (design section 5).
Policy policy_of_this_host();
void raise_run_ceilings(Policy& policy);

struct EngineOptions {
  std::string programs;                        // directory of our programs; "": found through /proc/self/exe
  std::string builder;                         // absolute; "": mayfly-builder in there
  std::vector<std::string> builder_arguments;  // tests: what mayfly-builder-faulty is to make fail
  bool use_cgroups = true;                     // false: as on a host without
  bool made_ahead = false;                     // a run of one jail gains nothing from parts made ahead
  bool usr_local = false;                      // true: jails see /usr/local
  Policy policy = policy_of_this_host();
  std::optional<Privilege> privilege;  // absent: what this process has
  std::string runtime_directory;       // "": where every engine of this user has its locks
};

class PrivateEngine {
 public:
  static Expected<PrivateEngine> start(const EngineOptions& options);
  PrivateEngine(PrivateEngine&& other) noexcept;
  PrivateEngine& operator=(PrivateEngine&&) = delete;
  ~PrivateEngine();  // stop(); a failure is logged

  SupervisorClient client;

  // Ends every run, then the three processes, and waits until they and all that they left are reaped: 15 s at most.
  // Idempotent.
  Expected<void> stop();

  [[nodiscard]] const std::string& instance() const { return instance_.id(); }
  [[nodiscard]] Privilege privilege() const { return privilege_; }
  [[nodiscard]] std::uint32_t uid_base() const { return block_ ? block_->base() : 0; }
  [[nodiscard]] const Child& supervisor() const { return core_->supervisor; }  // not after stop()
  [[nodiscard]] const Child& builder() const { return core_->builder; }
  [[nodiscard]] const Child& witness() const { return core_->witness; }

 private:
  PrivateEngine(SupervisorClient connected, Instance instance, std::optional<UidBlock> block, Privilege privilege,
                Core core)
      : client(std::move(connected)),
        instance_(std::move(instance)),
        block_(std::move(block)),
        privilege_(privilege),
        core_(std::move(core)) {}

  Instance instance_;
  std::optional<UidBlock> block_;
  Privilege privilege_;
  std::optional<Core> core_;
};

}  // namespace mayfly
