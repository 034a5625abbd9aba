// This engine's place on a host with cgroup v1: one parent group at the root of each hierarchy that we use.
#include "jail/supervisor/cgroup_v1.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_kill.h"

namespace mayfly {

std::optional<std::uint64_t> v1_cpu_us(const V1Branch* cpuacct, std::string_view group) {
  if (cpuacct == nullptr) return std::nullopt;
  const auto nanoseconds = read_group_number(cpuacct->parent.get(), GroupPath(group, "cpuacct.usage").text());
  if (!nanoseconds) return std::nullopt;
  return *nanoseconds / 1000;
}

V1Tree::~V1Tree() {
  for (const V1Branch& branch : branches) remove_group(*directories, branch.root.get(), parent_name.c_str(), 20_ms);
}

void V1Tree::choose_branches() {
  for (const V1Branch& branch : branches) {
    if (branch.where.memory) memory = &branch;
    if (branch.where.pids) pids = &branch;
    if (branch.where.cpu) cpu = &branch;
    if (branch.where.cpuacct) cpuacct = &branch;
  }
}

namespace {

constexpr Milliseconds kStaleLimit = 2_s;

class V1Host final : public HierarchyHost {
 public:
  V1Host(std::shared_ptr<V1Tree> tree, std::string instance, bool made_ahead, std::vector<NotHere> missing)
      : HierarchyHost(made_ahead),
        tree_(std::move(tree)),
        instance_(std::move(instance)),
        missing_(std::move(missing)) {}
  ~V1Host() override { drop_ahead(); }

  CgroupKind kind() const override { return CgroupKind::V1; }
  GroupController controller(Control which) const override;
  GroupUsage usage() const override;
  std::vector<std::string> paths() const override;
  std::vector<std::string> other_instances() const override;
  Expected<void> clean_stale(std::string_view instance) override;

 private:
  Expected<std::unique_ptr<JailGroup>> build(const std::string& name, const GroupLimits& limits) override {
    return V1Group::make(tree_, name, limits);
  }

  std::shared_ptr<V1Tree> tree_;
  std::string instance_;
  std::vector<NotHere> missing_;  // memory, cpu, processes: why, where absent
};

GroupController V1Host::controller(Control which) const {
  switch (which) {
    case Control::Memory:
      if (tree_->memory != nullptr) return {Measured::CgroupV1, "", ""};
      return {Measured::Unlimited, missing_[0].cause, missing_[0].fix};
    case Control::Cpu:
      if (tree_->cpu != nullptr) return {Measured::CgroupV1, "", ""};
      return {Measured::Unlimited, missing_[1].cause, missing_[1].fix};
    default:
      if (tree_->pids != nullptr) return {Measured::CgroupV1, "", ""};
      return {Measured::Rlimit, missing_[2].cause, missing_[2].fix};
  }
}

GroupUsage V1Host::usage() const {
  const auto number = [](const V1Branch* branch, const char* file) {
    return branch == nullptr ? std::nullopt : read_group_number(branch->parent.get(), file);
  };
  return {measured_bytes(number(tree_->memory, "memory.usage_in_bytes"), "no memory controller"),
          measured_time(v1_cpu_us(tree_->cpuacct, "."), "no cpuacct controller"),
          measured_count(number(tree_->pids, "pids.current"), "no pids controller")};
}

std::vector<std::string> V1Host::paths() const {
  std::vector<std::string> points;
  for (const V1Branch& branch : tree_->branches) points.push_back(branch.where.mount_point);
  return points;
}

std::vector<std::string> V1Host::other_instances() const {
  std::vector<std::string> ids;
  for (const V1Branch& branch : tree_->branches) add_instances(branch.root.get(), instance_, ids);
  return ids;
}

Expected<void> V1Host::clean_stale(std::string_view instance) {
  if (!is_instance_id(instance) || instance == instance_)
    return failure("clean up a dead instance", EINVAL, std::string(instance));
  const std::string name = std::string(kGroupPrefix) + std::string(instance);
  Expected<void> outcome;
  for (const V1Branch& branch : tree_->branches) {
    Expected<void> removed = remove_group_tree(*tree_->directories, branch.root.get(), name, kStaleLimit);
    if (!removed) outcome = std::move(removed);
  }
  return outcome;
}

// Why the kernel did not let us make a group there, for people.
NotHere why_not(const Hierarchy& where, int error) {
  if (error == EROFS || where.read_only)
    return {where.mount_point + " is mounted read-only", "mount -o remount,rw " + where.mount_point};
  if (error == EACCES || error == EPERM)
    return {
        "cgroup v1 groups can be made by root alone (" + where.mount_point + ")",
        "run as root (sudo), or boot with systemd.unified_cgroup_hierarchy=1: cgroup v2 can be delegated to a user"};
  return {"no group can be made in " + where.mount_point + ": " + std::strerror(error),
          "ls -ld " + where.mount_point + " shows what is there"};
}

// The parent group in one hierarchy; what an earlier engine of this instance left there is removed first.
Expected<V1Branch> make_branch(const Hierarchy& where, const std::string& name, CgroupDirectories& directories) {
  V1Branch branch;
  branch.where = where;
  branch.root = TRY(open_group_directory(AT_FDCWD, where.mount_point.c_str()));
  TRY(remove_group_tree(directories, branch.root.get(), name, kStaleLimit));
  if (directories.make(branch.root.get(), name.c_str()) != 0)
    return failure("make parent group", errno, where.mount_point);
  branch.parent = TRY(open_group_directory(branch.root.get(), name.c_str()));
  branch.path = (where.mount_root == "/" ? std::string() : where.mount_root) + "/" + name;
  return branch;
}

Expected<void> set_host_limits(V1Tree& tree, const HostLimits& host) {
  if (tree.memory != nullptr) {
    const int parent = tree.memory->parent.get();
    // Before Linux 5.11 a parent counts its children only when told to; later the file is gone or always 1.
    write_group_file(parent, "memory.use_hierarchy", "1");
    TRY(write_group_file(parent, "memory.limit_in_bytes", std::to_string(host.memory.count)));
    tree.has_memsw = ::faccessat(parent, "memory.memsw.limit_in_bytes", W_OK, AT_EACCESS) == 0;
    tree.has_tcp = ::faccessat(parent, "memory.kmem.tcp.limit_in_bytes", W_OK, AT_EACCESS) == 0;
    if (tree.has_memsw) TRY(write_group_file(parent, "memory.memsw.limit_in_bytes", std::to_string(host.memory.count)));
  }
  if (tree.pids != nullptr) TRY(write_group_file(tree.pids->parent.get(), "pids.max", std::to_string(host.processes)));
  if (tree.cpu != nullptr && host.cpus.count != 0)
    TRY(write_group_file(tree.cpu->parent.get(), "cpu.cfs_quota_us", std::to_string(quota_us(host.cpus))));
  tree.host_cpus = host.cpus;
  return {};
}

NotHere not_mounted(const char* controller) {
  return {std::string("no cgroup v1 hierarchy with the ") + controller + " controller is mounted",
          std::string("mkdir -p /sys/fs/cgroup/") + controller + " && mount -t cgroup -o " + controller +
              " cgroup /sys/fs/cgroup/" + controller};
}

}  // namespace

Expected<std::unique_ptr<CgroupHost>> open_v1(const CgroupPlace& place, const CgroupSight& sight, NotHere& why) {
  auto tree = std::make_shared<V1Tree>();
  tree->directories = sight.directories;
  tree->parent_name = std::string(kGroupPrefix) + place.instance;
  std::vector<NotHere> missing = {not_mounted("memory"), not_mounted("cpu"), not_mounted("pids")};
  for (const Hierarchy& where : v1_hierarchies(sight)) {
    Expected<V1Branch> branch = make_branch(where, tree->parent_name, *tree->directories);
    if (branch) {
      tree->branches.push_back(std::move(*branch));
      continue;
    }
    const NotHere cause = why_not(where, branch.error().error);
    if (where.memory) missing[0] = cause;
    if (where.cpu) missing[1] = cause;
    if (where.pids) missing[2] = cause;
    why = cause;
  }
  if (why.cause.empty()) why = {"no cgroup hierarchy with a controller of ours is mounted", not_mounted("memory").fix};
  tree->choose_branches();
  // Accounting alone limits nothing, but its numbers are still of use beside one that does.
  if (tree->memory == nullptr && tree->pids == nullptr && tree->cpu == nullptr) return nullptr;
  TRY(set_host_limits(*tree, settled(place.host)));
  return std::unique_ptr<CgroupHost>(
      std::make_unique<V1Host>(std::move(tree), place.instance, place.made_ahead, std::move(missing)));
}

}  // namespace mayfly
