#include "sshd/session/greeting.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "jail/spec/escape.h"
#include "jail/spec/show.h"

namespace mayfly {

namespace {

std::string ended(std::string line, LineEnd end) { return line += end == LineEnd::Terminal ? "\r\n" : "\n"; }

// Where the cursor stands only the program knows: an empty line at worst.
std::string on_fresh_line(std::string line, LineEnd end) { return ended({}, end) + ended(std::move(line), end); }

// Whole seconds, so that nobody comes back too early; a day at most.
Milliseconds up_to_seconds(std::uint64_t milliseconds) {
  constexpr std::uint64_t kMostSeconds = 86'400;
  const std::uint64_t seconds = milliseconds / 1000 + (milliseconds % 1000 != 0 ? 1 : 0);
  return Milliseconds(std::min(seconds, kMostSeconds) * 1000);
}

std::string cpus(MilliCpus share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g CPU", static_cast<double>(share.count) / 1000.0);
  return text.data();
}

}  // namespace

std::string greeting(const Running& running, LineEnd end) {
  const Limits& limits = running.limits;
  std::string line = "mayfly: jail " + escape(running.id) + ", " + show(limits.wall);
  if (limits.idle.count() != 0) line += " (" + show(limits.idle) + " idle)";
  const bool holds_memory = running.controls.at(Control::Memory) != Measured::Unlimited;
  const bool holds_cpu = running.controls.at(Control::Cpu) != Measured::Unlimited;
  line += ", " + (holds_memory ? show(limits.memory) + " memory" : "memory not limited") + ", " + show(limits.disk) +
          " disk, " + (holds_cpu ? cpus(limits.cpus) : "CPU not limited") + ", " + std::to_string(limits.processes) +
          " processes, not recorded; gone when you leave, also when your connection drops";
  return ended(std::move(line), end);
}

std::string queue_notice(const Queued& queued, LineEnd end) {
  return ended("mayfly: waiting for a free place, position " + std::to_string(queued.position), end);
}

std::string refusal(const Refused& refused, LineEnd end) {
  std::string line = "mayfly: ending=refused reason=" + std::string(name(refused.kind));
  if (!refused.id.empty()) line += " jail=" + escape(refused.id);
  if (!refused.field.empty()) line += " field=" + escape(refused.field);
  line += ": " + escape(refused.text);
  if (refused.retry_after_ms != 0) line += "; try again in " + show(up_to_seconds(refused.retry_after_ms));
  return ended(std::move(line), end);
}

std::string last_word(const Result& result, LineEnd end) { return ended(reason_line(result), end); }

std::string engine_gone(LineEnd end) {
  return ended("mayfly: ending=failed: the jail engine has stopped, and every jail with it", end);
}

std::string wall_warning(Milliseconds left, LineEnd end) {
  return on_fresh_line("mayfly: this jail ends in " + show(left) + " (time limit)", end);
}

std::string idle_warning(Milliseconds silent, Milliseconds left, LineEnd end) {
  return on_fresh_line(
      "mayfly: no input for " + show(silent) + "; this jail ends in " + show(left) + " unless you type", end);
}

}  // namespace mayfly
