// Bench: plays keeper, supervisor and relay for a real mayfly-builder, in one process. A workbench, not a stopwatch.
//   Bench bench = TRY(Bench::start({}));
//   Built jail = bench.build(plan_for({"/usr/bin/echo", "hello"}));
//   Outcome outcome = bench.run(jail);        opens the gate, reads the streams to their end, kills pid 1
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "jail/expected.h"
#include "jail/os/child.h"
#include "jail/os/fd.h"
#include "jail/wire/bind_table.h"
#include "jail/wire/gate.h"
#include "jail/wire/plan.h"

namespace mayfly::bench {

struct BenchOptions {
  std::string program = "mayfly-builder";
  std::vector<std::string> arguments;  // of the faulty builder
  bool rootless = false;
  bool made_ahead = false;
  uid_t uid = static_cast<uid_t>(-1);
  std::vector<std::string> hidden;
  std::string data;  // bound at /data; empty: nothing
  std::string seed;  // bound at /seed and copied into the home directory; empty: nothing
};

// A plan, and what travels with it.
struct Job {
  Plan plan;
  std::string payload;
  std::vector<int> cgroup_fds;
};
Job job_for(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});
void add_file(Job& job, const std::string& name, const std::string& bytes, bool executable);
void add_payload_argument(Job& job, const std::string& text);

// A jail that was ordered. `failed` is set when either side said so.
struct Built {
  BuilderReply reply;
  std::optional<GateMessage> placed, at_gate;
  std::optional<GateMessage> failed;
  pid_t program = 0;  // host pid of the process at the gate
  Fd pidfd, gate, stream;
  std::vector<Fd> outer;  // stdin, stdout, stderr or the master
};

struct Outcome {
  std::string out, err;
  std::optional<GateMessage> ended;
  std::optional<GateMessage> failed;
};

class Bench {
 public:
  static Expected<Bench> start(const BenchOptions& options);
  Bench(Bench&&) = default;
  ~Bench();

  [[nodiscard]] pid_t pid() const { return builder_->pid(); }
  [[nodiscard]] const BuilderReply& ready() const { return ready_; }

  void prepare();  // sends a Prepare
  Built build(const Job& job);
  Outcome run(Built& jail, const std::string& input = {});
  void open_gate(Built& jail);
  std::optional<GateMessage> next_from_gate(Built& jail);
  void destroy(Built& jail);
  // Waits for a Released of that slot, 5 s at most.
  bool wait_released(std::uint32_t slot);
  void kill_supervisor();  // its pidfd becomes readable

 private:
  Bench() = default;
  std::optional<BuilderReply> reply(Fd* pidfd, int patience_ms);

  Fd control_;
  BuilderReply ready_;
  std::optional<Child> builder_;
  std::optional<Child> supervisor_;  // a process that sleeps: whose pidfd the jails watch
  std::vector<std::uint32_t> released_;
};

std::string program_path(const std::string& name);
std::string read_text(const std::string& path);

}  // namespace mayfly::bench
