// The group of one jail on v2.
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_kill.h"
#include "jail/supervisor/cgroup_v1.h"
#include "jail/supervisor/cgroup_v2.h"

namespace mayfly {
namespace {

constexpr Milliseconds kKillLimit = 200_ms;
constexpr Milliseconds kLastRemoveLimit = 100_ms;
constexpr const char* kNoMemory = "no memory controller";
constexpr const char* kNoPids = "no pids controller";

std::string cpu_max(MilliCpus cpus) { return std::to_string(quota_us(cpus)) + " " + std::to_string(kCpuPeriodUs); }

}  // namespace

Expected<std::unique_ptr<JailGroup>> V2Group::make(std::shared_ptr<const V2Tree> tree, std::string name,
                                                   const GroupLimits& limits) {
  // What fails half-way is removed by the destructor.
  std::unique_ptr<V2Group> group(new V2Group(std::move(tree), std::move(name), limits));
  const V2Tree& in = *group->tree_;
  if (in.directories->make(in.parent.get(), group->name_.c_str()) != 0)
    return failure("make group", errno, in.path + "/" + group->name_);
  group->made_ = true;
  TRY(group->set_limits());
  TRY(group->open_files());
  return std::unique_ptr<JailGroup>(std::move(group));
}

Expected<void> V2Group::write(std::string_view file, std::string_view text) const {
  return write_group_file(tree_->parent.get(), GroupPath(name_, file).text(), text);
}

std::optional<std::uint64_t> V2Group::number(std::string_view file) const {
  return read_group_number(tree_->parent.get(), GroupPath(name_, file).text());
}

Expected<void> V2Group::set_limits() {
  if (tree_->memory) {
    TRY(write("memory.max", std::to_string(limits_.memory.count)));
    // Absent where the kernel counts no swap for groups; then it has no swap to give either, or measure() says so.
    Expected<void> no_swap = write("memory.swap.max", "0");
    if (!no_swap && no_swap.error().error != ENOENT) return no_swap;
    TRY(write("memory.oom.group", "1"));
  }
  if (tree_->pids) TRY(write("pids.max", std::to_string(limits_.processes)));
  if (tree_->cpu) TRY(write("cpu.max", cpu_max(within(limits_.cpus, tree_->host_cpus))));
  return {};
}

Expected<void> V2Group::open_files() {
  const int parent = tree_->parent.get();
  attach_ = TRY(open_group_directory(parent, name_.c_str()));
  attach_number_ = attach_.get();
  kill_ = Fd{::openat(parent, GroupPath(name_, "cgroup.kill").text(), O_WRONLY | O_CLOEXEC)};
  if (!kill_ && tree_->cpu) {
    // cgroup.kill needs Linux 5.14; before, pid 1 is killed as on v1, with the quota lifted.
    kill_ = Fd{::openat(parent, GroupPath(name_, "cpu.max").text(), O_WRONLY | O_CLOEXEC)};
    kill_text_ = "max";
  }
  const auto open = [&](bool is_enabled, const char* file) -> Expected<GroupFile> {
    if (!is_enabled) return GroupFile();
    return GroupFile::open(parent, GroupPath(name_, file).text());
  };
  cpu_stat_ = TRY(open(true, "cpu.stat"));
  events_ = TRY(open(tree_->memory, "memory.events"));
  memory_peak_ = TRY(open(tree_->memory, "memory.peak"));
  processes_peak_ = TRY(open(tree_->pids, "pids.peak"));
  process_hits_ = TRY(open(tree_->pids, "pids.events"));
  return {};
}

V2Group::~V2Group() {
  if (!made_ || remove()) return;
  kill_all();
  remove_group(*tree_->directories, tree_->parent.get(), name_.c_str(), kLastRemoveLimit);
}

void V2Group::attached() {
  attach_.reset();
  attach_number_ = -1;
}

Expected<void> V2Group::lift_cpu_quota() {
  if (!tree_->cpu || !made_) return {};
  return write("cpu.max", "max");
}

Expected<void> V2Group::kill_all() {
  if (!made_) return {};
  if (tree_->pids) TRY(write("pids.max", "0"));
  TRY(lift_cpu_quota());
  Expected<void> killed = write("cgroup.kill", "1");
  if (!killed && killed.error().error != ENOENT) return killed;
  const Fd group = TRY(open_group_directory(tree_->parent.get(), name_.c_str()));
  return empty_group(group.get(), kKillLimit);
}

GroupUsage V2Group::usage() const {
  return {measured_bytes(number("memory.current"), kNoMemory),
          measured_time(cpu_stat_.keyed("usage_usec"), "this kernel counts no CPU time for groups"),
          measured_count(number("pids.current"), kNoPids)};
}

GroupAccounting V2Group::account() const {
  return {measured_time(cpu_stat_.keyed("usage_usec"), "this kernel counts no CPU time for groups"),
          measured_bytes(memory_peak_.number(), tree_->memory ? "memory.peak needs Linux 5.19" : kNoMemory),
          measured_count(processes_peak_.number(), tree_->pids ? "this kernel has no pids.peak" : kNoPids)};
}

GroupEvents V2Group::events() const {
  GroupEvents seen;
  seen.oom_kills = events_.keyed("oom_kill").value_or(0);
  seen.memory_max_hits = events_.keyed("max").value_or(0);
  seen.pids_max_hits = process_hits_.keyed("max").value_or(0);
  return seen;
}

// kernfs reports EPOLLPRI when the file has changed since it was last read; EPOLLIN it reports always.
std::uint32_t V2Group::oom_interest() const { return EPOLLPRI; }

OomSign V2Group::look_for_oom() { return events_.keyed("oom_kill").value_or(0) > 0 ? OomSign::Struck : OomSign::None; }

bool V2Group::holds(std::string_view proc_cgroup) const {
  const std::string_view path = group_of(proc_cgroup, "");
  return path.size() == tree_->path.size() + 1 + name_.size() && path.starts_with(tree_->path) &&
         path[tree_->path.size()] == '/' && path.ends_with(name_);
}

GroupMeasured V2Group::measure(std::string_view proc_cgroup) const {
  if (holds(proc_cgroup)) return found_ ? *found_ : read_limits();
  GroupMeasured measured;
  measured.disagreement = "not in the jail's group";
  if (tree_->memory) measured.memory = LimitState::Other;
  if (tree_->pids) measured.processes = LimitState::Other;
  if (tree_->cpu) measured.cpu = LimitState::Other;
  return measured;
}

GroupMeasured V2Group::read_limits() const {
  GroupMeasured measured;
  if (tree_->memory) {
    compare_limit(measured, measured.memory, "memory.max", whole_pages(limits_.memory), number("memory.max"));
    const auto swap = number("memory.swap.max");
    if (swap && measured.memory == LimitState::AsAsked)
      compare_limit(measured, measured.memory, "memory.swap.max", 0, swap);
  }
  if (tree_->pids) compare_limit(measured, measured.processes, "pids.max", limits_.processes, number("pids.max"));
  if (!tree_->cpu) return measured;
  auto text = read_group_file(tree_->parent.get(), GroupPath(name_, "cpu.max").text());
  const std::string asked = cpu_max(within(limits_.cpus, tree_->host_cpus));
  measured.cpu = text && *text == asked + "\n" ? LimitState::AsAsked : LimitState::Other;
  if (measured.cpu == LimitState::Other && measured.disagreement.empty())
    measured.disagreement = "cpu.max: asked " + asked + ", found " + (text ? *text : "nothing readable");
  return measured;
}

Expected<void> V2Group::remove() {
  if (!made_) return {};
  const int removed = tree_->directories->remove(tree_->parent.get(), name_.c_str());
  if (removed != 0 && errno != ENOENT) return failure("remove group", errno, tree_->path + "/" + name_);
  made_ = false;
  return {};
}

}  // namespace mayfly
