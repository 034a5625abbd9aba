#include "jail/supervisor/plan_maker.h"

#include <algorithm>
#include <string_view>

namespace mayfly {

namespace {

Expected<void> judge_range(std::uint64_t offset, std::uint64_t length, const PlanPlace& place) {
  if (place.payload_bytes > kMaxPayload.count || offset > place.payload_bytes || length > place.payload_bytes - offset)
    return failure("plan jail", 0, "payload", "a part lies outside");
  return {};
}

Expected<PlanText> put_own(Plan& plan, std::string_view text) {
  if (text.size() > plan.text.size() - plan.text_length) return failure("plan jail", ENOSPC, "text");
  PlanText range;
  range.offset = plan.text_length;
  range.length = static_cast<std::uint32_t>(text.size());
  std::copy(text.begin(), text.end(), plan.text.begin() + plan.text_length);
  plan.text_length += range.length;
  return range;
}

Expected<PlanText> put(Plan& plan, const Text& text, const PlanPlace& place) {
  if (!text.in_payload) return put_own(plan, text.own);
  TRY(judge_range(text.offset, text.length, place));
  PlanText range;
  range.in_payload = 1;
  range.offset = static_cast<std::uint32_t>(text.offset);
  range.length = static_cast<std::uint32_t>(text.length);
  return range;
}

Expected<void> put_argv(Plan& plan, const Spec& spec, const PlanPlace& place) {
  if (spec.argv.empty() || spec.argv.size() > Plan::kMaxArgv) return failure("plan jail", E2BIG, "argv");
  for (const Text& text : spec.argv) plan.argv[plan.argv_count++] = TRY(put(plan, text, place));
  if (spec.environment.size() > Plan::kMaxEnvironment) return failure("plan jail", E2BIG, "environment");
  for (const std::string& entry : spec.environment)
    plan.environment[plan.environment_count++] = TRY(put_own(plan, entry));
  return {};
}

Expected<void> put_files(Plan& plan, const Spec& spec, const PlanPlace& place) {
  if (spec.files.size() > plan.files.size()) return failure("plan jail", E2BIG, "files");
  for (const SpecFile& file : spec.files) {
    TRY(judge_range(file.offset, file.length, place));
    PlanFile& row = plan.files[plan.file_count++];
    if (file.name.size() >= sizeof row.name) return failure("plan jail", ENAMETOOLONG, "files");
    std::copy(file.name.begin(), file.name.end(), row.name);
    row.offset = static_cast<std::uint32_t>(file.offset);
    row.length = static_cast<std::uint32_t>(file.length);
    row.executable = file.executable ? 1 : 0;
  }
  return {};
}

void put_limits(Plan& plan, const Limits& limits) {
  plan.disk_bytes = limits.disk.count;
  plan.memory_bytes = limits.memory.count;
  plan.inodes = limits.inodes;
  plan.processes = limits.processes;
  plan.open_files = limits.open_files;
  plan.milli_cpus = limits.cpus.count;
  plan.wall_ms = static_cast<std::uint64_t>(limits.wall.count());
  plan.cpu_ms = static_cast<std::uint64_t>(limits.cpu_time.count());
}

}  // namespace

Expected<void> make_plan(const Spec& spec, const PlanPlace& place, Plan& into) {
  into.slot = place.slot;
  into.bind_row = place.bind_row;
  const std::string id = spec.id.text();
  std::copy_n(id.begin(), std::min(id.size(), sizeof into.jail - 1), into.jail);
  into.cgroup = place.cgroup;
  into.cgroup_fds = static_cast<std::uint8_t>(place.cgroup_fds);
  into.has_payload = place.payload_bytes > 0 ? 1 : 0;
  into.terminal = spec.terminal == Terminal::Wanted ? 1 : 0;
  into.columns = spec.size.columns;
  into.rows = spec.size.rows;
  into.reproducible = spec.reproducible ? 1 : 0;
  put_limits(into, spec.limits);
  TRY(put_argv(into, spec, place));
  return put_files(into, spec, place);
}

}  // namespace mayfly
