#include "jail/builder/outside/judge.h"

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

constexpr std::uint16_t kMostColumns = 1000;  // hostile.md B24

bool has_descriptors(const Plan& plan, const PlanFacts& facts) {
  if (plan.has_payload > 1 || plan.prepared > 1 || plan.cgroup > CgroupKind::V2) return false;
  const std::size_t least = plan.cgroup == CgroupKind::None ? 0 : 1;
  const std::size_t most = plan.cgroup == CgroupKind::V1 ? 6 : least;
  if (plan.cgroup_fds < least || plan.cgroup_fds > most) return false;
  return facts.descriptor_count == 2u + plan.has_payload + plan.cgroup_fds;
}

bool has_limits(const Plan& plan) {
  if (plan.slot >= kSlotsPerInstance || plan.terminal > 1) return false;
  if (plan.columns == 0 || plan.columns > kMostColumns || plan.rows == 0 || plan.rows > kMostColumns) return false;
  if (plan.disk_bytes < kMinDisk.count || plan.inodes == 0 || plan.processes < kMinProcesses) return false;
  if (plan.open_files < kMinOpenFiles || plan.milli_cpus < kMinCpus.count) return false;
  return plan.wall_ms >= kMinWallMs && plan.cpu_ms > 0;
}

bool is_within(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return offset <= size && length <= size - offset;
}

int judge_text(const Plan& plan, const PlanFacts& facts, const PlanText& text) {
  if (text.in_payload > 1) return EINVAL;
  const std::uint64_t size = text.in_payload != 0 ? facts.payload_size : plan.text_length;
  if (!is_within(text.offset, text.length, size)) return EFAULT;
  if (text.length >= kMaxCommand.count) return E2BIG;
  // A NUL in the payload is looked for inside, where it is read anyway.
  if (text.in_payload == 0 && std::memchr(plan.text.data() + text.offset, '\0', text.length) != nullptr) return EILSEQ;
  return 0;
}

int judge_texts(const Plan& plan, const PlanFacts& facts) {
  if (plan.argv_count == 0 || plan.argv_count > Plan::kMaxArgv) return EINVAL;
  if (plan.environment_count > Plan::kMaxEnvironment || plan.text_length > plan.text.size()) return EINVAL;
  for (std::uint32_t i = 0; i < plan.argv_count; ++i)
    if (const int error = judge_text(plan, facts, plan.argv[i]); error != 0) return error;
  for (std::uint32_t i = 0; i < plan.environment_count; ++i)
    if (const int error = judge_text(plan, facts, plan.environment[i]); error != 0) return error;
  return 0;
}

int judge_files(const Plan& plan, const PlanFacts& facts) {
  if (plan.file_count > plan.files.size()) return EINVAL;
  for (std::uint32_t i = 0; i < plan.file_count; ++i) {
    const PlanFile& file = plan.files[i];
    if (!is_safe_file_name(file.name, sizeof file.name)) return EILSEQ;
    if (!is_within(file.offset, file.length, facts.payload_size)) return EFAULT;
  }
  return 0;
}

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

bool is_safe_file_name(const char* name, std::size_t size) {
  const void* end = std::memchr(name, '\0', size);
  if (end == nullptr || end == name) return false;
  std::uint32_t levels = 1;
  char before = '/';
  for (const char* at = name; at != end; before = *at++) {
    if (before == '/' && (*at == '.' || *at == '/')) return false;  // "", ".", "..", hidden, absolute
    if (*at == '/')
      ++levels;
    else if (!is_name_character(*at))
      return false;
  }
  return before != '/' && levels <= kMaxFileLevels;
}

int judge(const Plan& plan, const PlanFacts& facts) {
  if (!has_descriptors(plan, facts)) return EPROTO;
  if (!has_limits(plan) || plan.bind_row >= facts.row_count) return EINVAL;
  if (plan.has_payload != 0 && !facts.payload_sealed) return EPERM;
  if (const int error = judge_texts(plan, facts); error != 0) return error;
  return judge_files(plan, facts);
}

}  // namespace mayfly
