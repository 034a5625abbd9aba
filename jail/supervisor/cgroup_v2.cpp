// This engine's place on a host with cgroup v2: below the root of the tree, or below our own group where that was
// delegated to us (systemd: Delegate=yes).
#include "jail/supervisor/cgroup_v2.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_kill.h"

namespace mayfly {

V2Tree::~V2Tree() { remove_group(*directories, base.get(), parent_name.c_str(), 20_ms); }

namespace {

constexpr Milliseconds kStaleLimit = 2_s;
constexpr std::string_view kLeafPrefix = "/mayfly-host-";  // of the leaf that our own processes are moved into

class V2Host final : public HierarchyHost {
 public:
  V2Host(std::shared_ptr<V2Tree> tree, std::string instance, bool made_ahead, std::vector<NotHere> missing)
      : HierarchyHost(made_ahead),
        tree_(std::move(tree)),
        instance_(std::move(instance)),
        missing_(std::move(missing)) {}
  ~V2Host() override { drop_ahead(); }

  CgroupKind kind() const override { return CgroupKind::V2; }
  GroupController controller(Control which) const override {
    const bool is_on = which == Control::Memory ? tree_->memory : which == Control::Cpu ? tree_->cpu : tree_->pids;
    if (is_on) return {Measured::CgroupV2, "", ""};
    const NotHere& why = missing_[which == Control::Memory ? 0 : which == Control::Cpu ? 1 : 2];
    return {which == Control::Processes ? Measured::Rlimit : Measured::Unlimited, why.cause, why.fix};
  }
  GroupUsage usage() const override;
  std::vector<std::string> paths() const override { return {tree_->mount_point}; }
  std::vector<std::string> other_instances() const override {
    std::vector<std::string> ids;
    add_instances(tree_->base.get(), instance_, ids);
    return ids;
  }
  Expected<void> clean_stale(std::string_view instance) override {
    if (!is_instance_id(instance) || instance == instance_)
      return failure("clean up a dead instance", EINVAL, std::string(instance));
    const std::string name = std::string(kGroupPrefix) + std::string(instance);
    return remove_group_tree(*tree_->directories, tree_->base.get(), name, kStaleLimit);
  }

 private:
  Expected<std::unique_ptr<JailGroup>> build(const std::string& name, const GroupLimits& limits) override {
    return V2Group::make(tree_, name, limits);
  }

  std::shared_ptr<V2Tree> tree_;
  std::string instance_;
  std::vector<NotHere> missing_;  // memory, cpu, pids: why, where absent
};

GroupUsage V2Host::usage() const {
  const int parent = tree_->parent.get();
  const auto stat = read_group_file(parent, "cpu.stat");
  return {measured_bytes(read_group_number(parent, "memory.current"), "no memory controller"),
          measured_time(stat ? keyed_number(*stat, "usage_usec") : std::nullopt,
                        "this kernel counts no CPU time for groups"),
          measured_count(read_group_number(parent, "pids.current"), "no pids controller")};
}

// systemd marks what it has delegated; root could write anywhere, and should not.
bool is_marked_delegated(const std::string& directory) {
  char value[8];
  for (const char* mark : {"trusted.delegate", "user.delegate"})
    if (::getxattr(directory.c_str(), mark, value, sizeof value) == 1 && value[0] == '1') return true;
  return false;
}

// Where the parent group may go, in order of preference, as paths below the mount point.
std::vector<std::string> candidates(const Hierarchy& where) {
  std::string own = where.own_path;
  // A supervisor that was started again stands in the leaf into which the first one moved us.
  const std::size_t leaf = own.rfind(kLeafPrefix);
  if (leaf != std::string::npos && is_instance_id(std::string_view(own).substr(leaf + kLeafPrefix.size())))
    own.resize(leaf);
  if (own.empty()) return {""};
  if (::geteuid() != 0) return {own};
  if (is_marked_delegated(where.mount_point + own)) return {own, ""};
  return {"", own};
}

Expected<void> set_host_limits(V2Tree& tree, const HostLimits& host) {
  const int parent = tree.parent.get();
  if (tree.memory) TRY(write_group_file(parent, "memory.max", std::to_string(host.memory.count)));
  if (tree.pids) TRY(write_group_file(parent, "pids.max", std::to_string(host.processes)));
  if (tree.cpu && host.cpus.count != 0)
    TRY(write_group_file(parent, "cpu.max", std::to_string(quota_us(host.cpus)) + " " + std::to_string(kCpuPeriodUs)));
  tree.host_cpus = host.cpus;
  return {};
}

// The parent group, with the controllers passed on to the groups of jails.
Expected<void> make_parent(V2Tree& tree, V2Enabled& enabled) {
  TRY(remove_group_tree(*tree.directories, tree.base.get(), tree.parent_name, kStaleLimit));
  if (tree.directories->make(tree.base.get(), tree.parent_name.c_str()) != 0)
    return failure("make parent group", errno, tree.path);
  tree.parent = TRY(open_group_directory(tree.base.get(), tree.parent_name.c_str()));
  const auto pass_on = [&](const char* name, bool& is_on, NotHere& why) {
    if (!is_on) return;
    const Expected<void> written = write_group_file(tree.parent.get(), "cgroup.subtree_control", name);
    is_on = written.has_value();
    if (!is_on) why = {"the controller cannot be passed on to jails: " + written.error().text(), "mayfly doctor"};
  };
  pass_on("+memory", enabled.memory, enabled.missing[0]);
  pass_on("+cpu", enabled.cpu, enabled.missing[1]);
  pass_on("+pids", enabled.pids, enabled.missing[2]);
  tree.memory = enabled.memory, tree.cpu = enabled.cpu, tree.pids = enabled.pids;
  return {};
}

Expected<std::unique_ptr<CgroupHost>> open_at(const CgroupPlace& place, const CgroupSight& sight, const V2Place& where,
                                              const std::string& shown_root, NotHere& why) {
  auto tree = std::make_shared<V2Tree>();
  tree->directories = sight.directories;
  tree->mount_point = where.mount_point;
  tree->parent_name = std::string(kGroupPrefix) + place.instance;
  tree->path = shown_root + where.path + "/" + tree->parent_name;
  Expected<Fd> base = open_group_directory(AT_FDCWD, (where.mount_point + where.path).c_str());
  if (!base) {
    why = {base.error().text(), "run as root, or systemd-run --user --scope -p Delegate=yes mayfly ..."};
    return nullptr;
  }
  tree->base = std::move(*base);
  V2Enabled enabled = enable_controllers(where, tree->base.get(), *tree->directories);
  why = enabled.missing[0];
  if (!enabled.any()) return nullptr;
  const Expected<void> made = make_parent(*tree, enabled);
  if (!made) {
    why = {made.error().text(), "systemd-run --user --scope -p Delegate=yes mayfly ... (or run as root)"};
    return nullptr;
  }
  if (!enabled.any()) return nullptr;
  TRY(set_host_limits(*tree, settled(place.host)));
  return std::unique_ptr<CgroupHost>(
      std::make_unique<V2Host>(std::move(tree), place.instance, place.made_ahead, std::move(enabled.missing)));
}

}  // namespace

Expected<std::unique_ptr<CgroupHost>> open_v2(const CgroupPlace& place, const CgroupSight& sight, NotHere& why) {
  const std::vector<Hierarchy> found = v2_hierarchies(sight);
  if (found.empty()) {
    why = {"no cgroup v2 tree is mounted", "mount -t cgroup2 cgroup2 /sys/fs/cgroup"};
    return nullptr;
  }
  const Hierarchy& where = found.front();
  const std::string shown_root = where.mount_root == "/" ? std::string() : where.mount_root;
  NotHere last;
  for (const std::string& path : candidates(where)) {
    const V2Place at{path, where.mount_point, std::string(kLeafPrefix.substr(1)) + place.instance};
    auto host = TRY(open_at(place, sight, at, shown_root, last));
    if (host) return host;
    if (why.cause.empty()) why = last;
  }
  return nullptr;
}

}  // namespace mayfly
