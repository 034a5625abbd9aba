// Inside: everything that pid 1 and the program's process of one jail know. Made by the outside just before the clone,
// copied by it, never returned from: after the clone nothing returns an error, allocates, locks, throws or logs.
// A step that fails says so on the gate socket and ends the process, and with pid 1 the jail.
#pragma once

#include <array>
#include <cstdint>

#include "jail/builder/host_facts.h"
#include "jail/builder/step_clock.h"
#include "jail/wire/gate.h"
#include "jail/wire/plan.h"

namespace mayfly {

struct Inside {
  static constexpr std::size_t kMostCgroupFds = 6;

  const HostFacts& host;
  const Plan& plan;
  const PreparedRow& row;

  // Descriptors, by the numbers they had outside.
  int gate = -1, stream = -1, payload = -1;
  int ids_ready = -1;   // at its end, without a byte: the builder is gone; a byte: the id maps are there
  int supervisor = -1;  // pidfd
  int root = -1;        // detached, fitted before the byte of ids_ready
  int ruleset = -1;     // of Landlock, complete but for /proc; none where the kernel has no Landlock
  std::array<int, kMostCgroupFds> tasks{};  // v1
  std::uint32_t task_count = 0;
  std::array<int, PreparedRow::kMostTrees> trees{};  // copies, in the order of row.trees
  bool leaves_mounts = false;                        // left_mounts.h
  StepClock steps;
  bool has_reported = false;  // shared by pid 1 and the program's process until execve
  bool is_seeded = false;     // the profile's seed has been copied
  std::uint32_t file = 0;     // of the plan, from 1: the one that is being written

  Inside(const HostFacts& host_facts, const Plan& the_plan)
      : host(host_facts), plan(the_plan), row(host_facts.rows[the_plan.bind_row]) {}

  // Names the step we are in, and times the one before.
  void enter(Step step);
  // The result of a system call of the present step: below zero ends everything.
  void check(long result);
  [[noreturn]] void fail(int error);
  [[nodiscard]] bool leaves_out(Layer layer) const { return host.faults.leaves_out(layer); }
};

// Tells the supervisor which step failed and why, and ends the calling process.
[[noreturn]] void report_and_exit(Inside& in, Step step, int error);

// What pid 1 does from its first instruction on.
[[noreturn]] void live_as_pid_one(Inside& in);

}  // namespace mayfly
