// A host without usable control groups: jails get an empty JailCgroup, and the report says why.
#include "jail/supervisor/cgroup_group.h"

namespace mayfly {
namespace {

class NoCgroupHost final : public CgroupHost {
 public:
  explicit NoCgroupHost(NotHere why) : why_(std::move(why)) {}

  CgroupKind kind() const override { return CgroupKind::None; }
  GroupController controller(Control which) const override {
    return {which == Control::Processes ? Measured::Rlimit : Measured::Unlimited, why_.cause, why_.fix};
  }
  Expected<JailCgroup> make(std::uint32_t, const GroupLimits&) override { return JailCgroup{}; }
  bool refill(std::uint32_t) override { return false; }
  void expect(const GroupLimits&) override {}
  GroupUsage usage() const override {
    return {{std::nullopt, why_.cause}, {std::nullopt, why_.cause}, {std::nullopt, why_.cause}};
  }
  std::vector<std::string> paths() const override { return {}; }
  std::vector<std::string> other_instances() const override { return {}; }
  Expected<void> clean_stale(std::string_view) override { return {}; }

 private:
  NotHere why_;
};

}  // namespace

std::unique_ptr<CgroupHost> open_none(const NotHere& why) { return std::make_unique<NoCgroupHost>(why); }

}  // namespace mayfly
