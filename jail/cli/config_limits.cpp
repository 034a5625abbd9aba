// `limits` of the configuration: defaults and ceilings per door, under the same names as in a request.
#include <cmath>

#include "jail/cli/config.h"

namespace mayfly {

namespace {

// Beyond these a number is a slip of the finger, not a limit.
constexpr std::uint64_t kAbsurdMs = 7ull * 24 * 3600 * 1000;
constexpr std::uint64_t kAbsurdBytes = 1ull << 44;  // 16 TiB
constexpr std::uint32_t kAbsurdCount = 1u << 22;    // pid_max

Expected<void> read_time(ConfigReader& in, const char* key, std::uint64_t least, Milliseconds& value) {
  const auto otherwise = static_cast<std::uint64_t>(value.count());
  value = Milliseconds{static_cast<std::int64_t>(TRY(in.number(key, least, kAbsurdMs, otherwise)))};
  return {};
}

Expected<void> read_bytes(ConfigReader& in, const char* key, std::uint64_t least, Bytes& value) {
  value.count = TRY(in.number(key, least, kAbsurdBytes, value.count));
  return {};
}

Expected<void> read_count(ConfigReader& in, const char* key, std::uint32_t least, std::uint32_t& value) {
  value = static_cast<std::uint32_t>(TRY(in.number(key, least, kAbsurdCount, value)));
  return {};
}

Expected<void> read_column(ConfigReader in, Limits& limits) {
  TRY(read_time(in, "wallMs", kMinWallMs, limits.wall));
  TRY(read_time(in, "idleMs", 0, limits.idle));
  TRY(read_time(in, "cpuMs", kMinWallMs, limits.cpu_time));
  TRY(read_bytes(in, "memoryBytes", kMinMemory.count, limits.memory));
  TRY(read_count(in, "processes", kMinProcesses, limits.processes));
  const double cpus = TRY(in.real("cpus", kMinCpus.count / 1000.0, 4096, limits.cpus.count / 1000.0));
  limits.cpus = MilliCpus{static_cast<std::uint32_t>(std::lround(cpus * 1000))};
  TRY(read_bytes(in, "diskBytes", kMinDisk.count, limits.disk));
  TRY(read_count(in, "inodes", 64, limits.inodes));
  TRY(read_count(in, "openFiles", kMinOpenFiles, limits.open_files));
  TRY(read_bytes(in, "outputBytes", 0, limits.output_kept));
  TRY(read_bytes(in, "outputCeilingBytes", 4096, limits.output_ceiling));
  return in.finish();
}

// "" or the key whose default is over its ceiling.
const char* over_ceiling(const Limits& value, const Limits& most) {
  if (value.wall > most.wall) return "wallMs";
  if (value.idle > most.idle) return "idleMs";
  if (value.cpu_time > most.cpu_time) return "cpuMs";
  if (value.memory > most.memory) return "memoryBytes";
  if (value.processes > most.processes) return "processes";
  if (value.cpus > most.cpus) return "cpus";
  if (value.disk > most.disk) return "diskBytes";
  if (value.inodes > most.inodes) return "inodes";
  if (value.open_files > most.open_files) return "openFiles";
  if (value.output_kept > most.output_kept) return "outputBytes";
  if (value.output_ceiling > most.output_ceiling) return "outputCeilingBytes";
  return nullptr;
}

Expected<void> read_door(ConfigReader in, LimitRange& range) {
  const Json* defaults = TRY(in.object("defaults"));
  const Json* ceilings = TRY(in.object("ceilings"));
  TRY(in.finish());
  if (defaults != nullptr) TRY(read_column(in.below(*defaults, "defaults"), range.defaults));
  if (ceilings != nullptr) TRY(read_column(in.below(*ceilings, "ceilings"), range.ceilings));
  const std::string part = defaults != nullptr ? "defaults." : "ceilings.";
  if (const char* key = over_ceiling(range.defaults, range.ceilings))
    return in.wrong(part + key, "the default is over the ceiling; set both");
  if (range.defaults.disk.count > range.defaults.memory.count / 2)
    return in.wrong(part + "diskBytes", "files are part of the memory: at most half of memoryBytes");
  return {};
}

}  // namespace

Expected<void> read_limits(ConfigReader in, Policy& policy) {
  if (const Json* door = TRY(in.object("api"))) TRY(read_door(in.below(*door, "api"), policy.api));
  if (const Json* door = TRY(in.object("exec"))) {
    TRY(read_door(in.below(*door, "exec"), policy.exec));
    policy.run = policy.exec;  // `mayfly run` has the defaults of exec
  }
  if (const Json* door = TRY(in.object("shell"))) TRY(read_door(in.below(*door, "shell"), policy.shell));
  return in.finish();
}

}  // namespace mayfly
