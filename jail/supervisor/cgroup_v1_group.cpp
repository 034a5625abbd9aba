// The group of one jail on v1: a directory of the same name in every hierarchy that we use.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_kill.h"
#include "jail/supervisor/cgroup_v1.h"

namespace mayfly {
namespace {

constexpr Milliseconds kKillLimit = 200_ms;
constexpr Milliseconds kLastRemoveLimit = 100_ms;  // in the destructor, after everything in there is dead

Expected<Fd> open_for_writing(const V1Branch& branch, std::string_view group, std::string_view file) {
  Fd opened{::openat(branch.parent.get(), GroupPath(group, file).text(), O_WRONLY | O_CLOEXEC)};
  if (!opened) return failure("open group file to be handed on", errno, std::string(file));
  return opened;
}

std::optional<std::uint64_t> number_in(const V1Branch* branch, std::string_view group, std::string_view file) {
  if (branch == nullptr) return std::nullopt;
  return read_group_number(branch->parent.get(), GroupPath(group, file).text());
}

// v1 counts what is under way in sockets apart from all other memory.
Bytes tcp_limit(const GroupLimits& limits) {
  constexpr Bytes kMost{32u << 20};
  return limits.memory.count < kMost.count ? limits.memory : kMost;
}

constexpr const char* kNoAccounting = "no cpuacct controller";

Expected<void> write_in(const V1Branch& branch, std::string_view group, std::string_view file, std::string_view text) {
  return write_group_file(branch.parent.get(), GroupPath(group, file).text(), text);
}

}  // namespace

Expected<std::unique_ptr<JailGroup>> V1Group::make(std::shared_ptr<const V1Tree> tree, std::string name,
                                                   const GroupLimits& limits) {
  // What fails half-way is removed by the destructor.
  std::unique_ptr<V1Group> group(new V1Group(std::move(tree), std::move(name), limits));
  TRY(group->make_directories());
  TRY(group->limit_memory());
  if (const V1Branch* pids = group->tree_->pids)
    TRY(write_in(*pids, group->name_, "pids.max", std::to_string(limits.processes)));
  TRY(group->limit_cpu());
  TRY(group->open_attach_files());
  TRY(group->open_counters());
  group->watch_oom();
  return std::unique_ptr<JailGroup>(std::move(group));
}

Expected<void> V1Group::make_directories() {
  for (std::size_t i = 0; i < tree_->branches.size(); ++i) {
    const V1Branch& branch = tree_->branches[i];
    if (tree_->directories->make(branch.parent.get(), name_.c_str()) != 0)
      return failure("make group", errno, branch.path + "/" + name_);
    made_[i] = true;
  }
  return {};
}

Expected<void> V1Group::limit_memory() {
  const V1Branch* memory = tree_->memory;
  if (memory == nullptr) return {};
  const std::string bytes = std::to_string(limits_.memory.count);
  TRY(write_in(*memory, name_, "memory.limit_in_bytes", bytes));
  if (tree_->has_tcp)
    TRY(write_in(*memory, name_, "memory.kmem.tcp.limit_in_bytes", std::to_string(tcp_limit(limits_).count)));
  if (tree_->has_memsw) return write_in(*memory, name_, "memory.memsw.limit_in_bytes", bytes);
  return write_in(*memory, name_, "memory.swappiness", "0");
}

Expected<void> V1Group::limit_cpu() {
  const V1Branch* cpu = tree_->cpu;
  if (cpu == nullptr) return {};
  quota_ = TRY(open_for_writing(*cpu, name_, "cpu.cfs_quota_us"));
  // v1 refuses (EINVAL) more than the parent has.
  const std::string quota = std::to_string(quota_us(within(limits_.cpus, tree_->host_cpus)));
  if (::write(quota_.get(), quota.data(), quota.size()) < 0)
    return failure("limit cpu", errno, "cpu.cfs_quota_us", "asked for " + quota + " us of every 100 ms");
  return {};
}

Expected<void> V1Group::open_attach_files() {
  for (const V1Branch& branch : tree_->branches) {
    attach_[attach_count_] = TRY(open_for_writing(branch, name_, "tasks"));
    attach_numbers_[attach_count_] = attach_[attach_count_].get();
    ++attach_count_;
  }
  return {};
}

Expected<void> V1Group::open_counters() {
  const auto open = [&](const V1Branch* branch, std::string_view file) -> Expected<GroupFile> {
    if (branch == nullptr) return GroupFile();
    return GroupFile::open(branch->parent.get(), GroupPath(name_, file).text());
  };
  cpu_time_ = TRY(open(tree_->cpuacct, "cpuacct.usage"));
  memory_peak_ = TRY(open(tree_->memory, "memory.max_usage_in_bytes"));
  memory_hits_ = TRY(open(tree_->memory, "memory.failcnt"));
  oom_control_ = TRY(open(tree_->memory, "memory.oom_control"));
  processes_peak_ = TRY(open(tree_->pids, "pids.peak"));
  process_hits_ = TRY(open(tree_->pids, "pids.events"));
  return {};
}

// Without it an OOM is found out at the end of the jail, from events(): no reason to fail.
void V1Group::watch_oom() {
  if (tree_->memory == nullptr) return;
  const int parent = tree_->memory->parent.get();
  Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!event || oom_control_.fd() < 0) return;
  const std::string order = std::to_string(event.get()) + " " + std::to_string(oom_control_.fd());
  if (write_group_file(parent, GroupPath(name_, "cgroup.event_control").text(), order)) oom_ = std::move(event);
}

V1Group::~V1Group() {
  if (remove()) return;
  kill_all();
  for (std::size_t i = 0; i < tree_->branches.size(); ++i)
    if (made_[i]) remove_group(*tree_->directories, tree_->branches[i].parent.get(), name_.c_str(), kLastRemoveLimit);
}

void V1Group::attached() {
  for (Fd& file : attach_) file.reset();
  attach_count_ = 0;
}

Expected<void> V1Group::lift_cpu_quota() {
  if (quota_ && ::write(quota_.get(), "-1", 2) < 0) return failure("lift the cpu quota", errno, name_);
  return {};
}

Expected<void> V1Group::kill_all() {
  if (tree_->pids != nullptr) TRY(write_in(*tree_->pids, name_, "pids.max", "0"));
  TRY(lift_cpu_quota());
  for (std::size_t i = 0; i < tree_->branches.size(); ++i) {
    if (!made_[i]) continue;
    const Fd group = TRY(open_group_directory(tree_->branches[i].parent.get(), name_.c_str()));
    TRY(empty_group(group.get(), kKillLimit));
  }
  return {};
}

GroupUsage V1Group::usage() const {
  return {measured_bytes(number_in(tree_->memory, name_, "memory.usage_in_bytes"), "no memory controller"),
          measured_time(cpu_us(), kNoAccounting),
          measured_count(number_in(tree_->pids, name_, "pids.current"), "no pids controller")};
}

GroupAccounting V1Group::account() const {
  return {measured_time(cpu_us(), kNoAccounting), measured_bytes(memory_peak_.number(), "no memory controller"),
          measured_count(processes_peak_.number(),
                         tree_->pids != nullptr ? "this kernel has no pids.peak" : "no pids controller")};
}

// cpuacct.usage counts nanoseconds.
std::optional<std::uint64_t> V1Group::cpu_us() const {
  const auto nanoseconds = cpu_time_.number();
  if (!nanoseconds) return std::nullopt;
  return *nanoseconds / 1000;
}

std::uint64_t V1Group::oom_kills() const { return oom_control_.keyed("oom_kill").value_or(0); }

GroupEvents V1Group::events() const {
  GroupEvents seen;
  seen.oom_kills = oom_kills();
  seen.memory_max_hits = memory_hits_.number().value_or(0);
  seen.pids_max_hits = process_hits_.keyed("max").value_or(0);
  return seen;
}

std::uint32_t V1Group::oom_interest() const { return EPOLLIN; }

OomSign V1Group::look_for_oom() {
  std::uint64_t count = 0;
  const bool signalled = oom_ && ::read(oom_.get(), &count, sizeof count) > 0;
  if (oom_kills() > 0) return OomSign::Struck;
  return signalled ? OomSign::Pending : OomSign::None;
}

bool V1Group::holds(std::string_view proc_cgroup, const V1Branch& branch, std::string_view controller) const {
  const std::string_view path = group_of(proc_cgroup, controller);
  return path.size() == branch.path.size() + 1 + name_.size() && path.starts_with(branch.path) &&
         path[branch.path.size()] == '/' && path.ends_with(name_);
}

GroupMeasured V1Group::read_limits() const {
  GroupMeasured found;
  const auto judge = [&](LimitState& state, const V1Branch* branch, std::string_view file, std::uint64_t asked) {
    if (branch != nullptr) compare_limit(found, state, file, asked, number_in(branch, name_, file));
  };
  judge(found.memory, tree_->memory, "memory.limit_in_bytes", whole_pages(limits_.memory));
  if (found.memory == LimitState::AsAsked && tree_->has_memsw)
    judge(found.memory, tree_->memory, "memory.memsw.limit_in_bytes", whole_pages(limits_.memory));
  if (found.memory == LimitState::AsAsked && tree_->has_tcp)
    judge(found.memory, tree_->memory, "memory.kmem.tcp.limit_in_bytes", whole_pages(tcp_limit(limits_)));
  judge(found.processes, tree_->pids, "pids.max", limits_.processes);
  judge(found.cpu, tree_->cpu, "cpu.cfs_quota_us", quota_us(within(limits_.cpus, tree_->host_cpus)));
  return found;
}

GroupMeasured V1Group::measure(std::string_view proc_cgroup) const {
  GroupMeasured measured = found_ ? *found_ : read_limits();
  const auto judge = [&](LimitState& state, const V1Branch* branch, std::string_view controller) {
    if (branch == nullptr || holds(proc_cgroup, *branch, controller)) return;
    state = LimitState::Other;
    if (measured.disagreement.empty()) measured.disagreement = std::string(controller) + ": not in the jail's group";
  };
  judge(measured.memory, tree_->memory, "memory");
  judge(measured.processes, tree_->pids, "pids");
  judge(measured.cpu, tree_->cpu, "cpu");
  judge(measured.cpu, tree_->cpuacct, "cpuacct");  // else its CPU time would be nobody's
  return measured;
}

Expected<void> V1Group::remove() {
  for (std::size_t i = 0; i < tree_->branches.size(); ++i) {
    if (!made_[i]) continue;
    if (tree_->directories->remove(tree_->branches[i].parent.get(), name_.c_str()) != 0 && errno != ENOENT)
      return failure("remove group", errno, tree_->branches[i].path + "/" + name_);
    made_[i] = false;
  }
  return {};
}

void compare_limit(GroupMeasured& measured, LimitState& state, std::string_view file, std::uint64_t asked,
                   std::optional<std::uint64_t> found) {
  state = found == asked ? LimitState::AsAsked : LimitState::Other;
  if (state == LimitState::AsAsked || !measured.disagreement.empty()) return;
  measured.disagreement = std::string(file) + ": asked " + std::to_string(asked) + ", found ";
  measured.disagreement += found ? (*found == kNoLimit ? "max" : std::to_string(*found)) : "nothing readable";
}

}  // namespace mayfly
