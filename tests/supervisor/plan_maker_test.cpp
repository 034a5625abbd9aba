#include "jail/supervisor/plan_maker.h"

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::literals;

namespace {

Text own(std::string text) { return Text{false, std::move(text), 0, 0}; }

Spec small_spec() {
  Spec spec;
  spec.limits = kExecLimits.defaults;
  spec.argv = {own("/bin/sh"), own("-c"), Text{true, {}, 10, 5}};
  spec.environment = {"HOME=/home/run", "PATH=/usr/bin"};
  return spec;
}

std::string text_of(const Plan& plan, const PlanText& range) { return {plan.text.data() + range.offset, range.length}; }

bool can_plan(const Spec& spec, const PlanPlace& place) {
  Plan plan;
  return make_plan(spec, place, plan).has_value();
}

}  // namespace

TEST_CASE("a plan says everything that inside needs, and names no host path") {
  Spec spec = small_spec();
  spec.terminal = Terminal::Wanted;
  spec.size = {120, 40};
  spec.files = {{"a/b.py", 0, 10, true}};
  Plan plan;
  REQUIRE(make_plan(spec, {7, 0, CgroupKind::V1, 4, 15}, plan));
  CHECK(plan.magic == Plan::kMagic);
  CHECK(plan.slot == 7);
  CHECK(plan.cgroup_fds == 4);
  CHECK(plan.has_payload == 1);
  CHECK(plan.terminal == 1);
  CHECK(plan.columns == 120);
  CHECK(plan.argv_count == 3);
  CHECK(text_of(plan, plan.argv[0]) == "/bin/sh");
  CHECK(plan.argv[2].in_payload == 1);
  CHECK(plan.argv[2].offset == 10);
  CHECK(plan.argv[2].length == 5);
  CHECK(text_of(plan, plan.environment[1]) == "PATH=/usr/bin");
  REQUIRE(plan.file_count == 1);
  CHECK(std::string(plan.files[0].name) == "a/b.py");
  CHECK(plan.files[0].executable == 1);
  CHECK(plan.memory_bytes == (256_mib).count);
  CHECK(plan.wall_ms == 60'000);
  CHECK(plan_size(plan) == kPlanHead + plan.argv_count * sizeof(PlanText) + plan.text_length + sizeof(PlanFile));
}

TEST_CASE("a part that reaches past the payload makes no plan") {
  CHECK_FALSE(can_plan(small_spec(), {0, 0, CgroupKind::None, 0, 14}));
  CHECK(can_plan(small_spec(), {0, 0, CgroupKind::None, 0, 15}));
  Spec wraps = small_spec();
  wraps.argv[2].offset = ~std::uint64_t{0};
  wraps.argv[2].length = 16;
  CHECK_FALSE(can_plan(wraps, {0, 0, CgroupKind::None, 0, 15}));
  Spec file = small_spec();
  file.files = {{"x", 1, ~std::uint64_t{0}, false}};
  CHECK_FALSE(can_plan(file, {0, 0, CgroupKind::None, 0, 15}));
}

TEST_CASE("what does not fit the struct is refused, never cut") {
  const PlanPlace place{0, 0, CgroupKind::None, 0, 15};
  Spec spec = small_spec();
  spec.argv.assign(1, own(std::string(Plan().text.size() + 1, 'x')));
  CHECK_FALSE(can_plan(spec, place));
  spec = small_spec();
  spec.argv.assign(Plan::kMaxArgv + 1, own("x"));
  CHECK_FALSE(can_plan(spec, place));
  spec = small_spec();
  spec.argv.clear();
  CHECK_FALSE(can_plan(spec, place));
  spec = small_spec();
  spec.environment.assign(Plan::kMaxEnvironment + 1, "A=b");
  CHECK_FALSE(can_plan(spec, place));
  spec = small_spec();
  spec.files = {{std::string(sizeof(PlanFile::name), 'n'), 0, 1, false}};
  CHECK_FALSE(can_plan(spec, place));
}
