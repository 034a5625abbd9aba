#include "jail/builder/outside/judge.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace mayfly;

namespace {

// On the heap: a plan is large for a stack frame of a test.
std::unique_ptr<Plan> good_plan() {
  auto plan = std::make_unique<Plan>();
  plan->disk_bytes = 1 << 20;
  plan->inodes = 100;
  plan->processes = 8;
  plan->open_files = 64;
  plan->milli_cpus = 1000;
  plan->wall_ms = 1000;
  plan->cpu_ms = 1000;
  std::memcpy(plan->text.data(), "/bin/true", 9);
  plan->text_length = 9;
  plan->argv[0].length = 9;
  plan->argv_count = 1;
  return plan;
}

PlanFacts usual_facts() {
  PlanFacts facts;
  facts.descriptor_count = 2;
  facts.row_count = 1;
  return facts;
}

int judged(const Plan& plan) { return judge(plan, usual_facts()); }

}  // namespace

TEST_CASE("a plan in range is accepted", "[P10]") { CHECK(judged(*good_plan()) == 0); }

TEST_CASE("a message of another size or release is not a plan") {
  const auto plan = good_plan();
  std::vector<std::byte> message(plan_size(*plan));
  pack_plan(*plan, message.data());
  const auto whole = std::span<const std::byte>(message);
  const auto into = std::make_unique<Plan>();
  CHECK_FALSE(unpack_plan(whole.first(whole.size() - 1), *into));
  CHECK_FALSE(unpack_plan(whole.first(kPlanHead), *into));
  CHECK_FALSE(unpack_plan(whole.first(16), *into));
  CHECK_FALSE(unpack_plan({}, *into));
  message.push_back(std::byte{0});
  CHECK_FALSE(unpack_plan(message, *into));
  message.pop_back();
  CHECK(unpack_plan(message, *into));
  message[0] ^= std::byte{1};
  CHECK_FALSE(unpack_plan(message, *into));
}

TEST_CASE("a plan comes out of its message as it was put in") {
  const auto plan = good_plan();
  plan->file_count = 2;
  std::memcpy(plan->files[1].name, "second", 7);
  plan->environment[7].length = 5;
  std::vector<std::byte> message(plan_size(*plan));
  pack_plan(*plan, message.data());
  CHECK(message.size() == kPlanHead + sizeof(PlanText) + 9 + 2 * sizeof(PlanFile));
  const auto into = std::make_unique<Plan>();
  REQUIRE(unpack_plan(message, *into));
  CHECK(into->argv_count == 1);
  CHECK(into->argv[0].length == 9);
  CHECK(std::string(into->text.data(), into->text_length) == "/bin/true");
  CHECK(std::string(into->files[1].name) == "second");
  CHECK(into->environment[7].length == 5);
}

TEST_CASE("counts beyond their arrays are no plan, though the message is as long as they say") {
  const auto into = std::make_unique<Plan>();
  std::vector<std::byte> message(2 * sizeof(Plan));
  const auto taken = [&](const Plan& plan) {
    std::memcpy(message.data(), &plan, kPlanHead);
    return unpack_plan(std::span(message).first(plan_size(plan)), *into);
  };
  const auto with = [](std::uint32_t Plan::*count, std::size_t number) {
    auto plan = good_plan();
    (*plan).*count = static_cast<std::uint32_t>(number);
    return plan;
  };
  const Plan& sizes = *into;
  CHECK(taken(*with(&Plan::argv_count, sizes.argv.size())));
  CHECK_FALSE(taken(*with(&Plan::argv_count, sizes.argv.size() + 1)));
  CHECK(taken(*with(&Plan::text_length, sizes.text.size())));
  CHECK_FALSE(taken(*with(&Plan::text_length, sizes.text.size() + 1)));
  CHECK(taken(*with(&Plan::file_count, sizes.files.size())));
  CHECK_FALSE(taken(*with(&Plan::file_count, sizes.files.size() + 1)));
}

TEST_CASE("descriptors must be exactly those that the plan speaks of") {
  const auto plan = good_plan();
  PlanFacts facts = usual_facts();
  facts.descriptor_count = 3;
  CHECK(judge(*plan, facts) == EPROTO);
  plan->cgroup = CgroupKind::V2;
  CHECK(judged(*plan) == EPROTO);
  plan->cgroup_fds = 1;
  CHECK(judge(*plan, facts) == 0);
  plan->cgroup = CgroupKind::V1;
  plan->cgroup_fds = 7;
  facts.descriptor_count = 9;
  CHECK(judge(*plan, facts) == EPROTO);
}

TEST_CASE("numbers outside their range build nothing") {
  const auto broken = [](auto change) {
    const auto plan = good_plan();
    change(*plan);
    return judged(*plan);
  };
  CHECK(broken([](Plan& p) { p.slot = kSlotsPerInstance; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.bind_row = 1; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.disk_bytes = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.inodes = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.processes = 1; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.open_files = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.milli_cpus = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.wall_ms = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.cpu_ms = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.columns = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.rows = 1001; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.argv_count = 0; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.argv_count = Plan::kMaxArgv + 1; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.environment_count = Plan::kMaxEnvironment + 1; }) == EINVAL);
  CHECK(broken([](Plan& p) { p.text_length = 8193; }) == EINVAL);
}

TEST_CASE("texts must lie within what travelled, and hold no NUL") {
  const auto plan = good_plan();
  plan->argv[0].length = 10;
  CHECK(judged(*plan) == EFAULT);
  plan->argv[0] = {0, {}, 0xffff'fff0u, 0x20};
  CHECK(judged(*plan) == EFAULT);
  plan->argv[0] = {1, {}, 0, 1};
  CHECK(judged(*plan) == EFAULT);
  plan->argv[0] = {0, {}, 0, 9};
  plan->text[3] = '\0';
  CHECK(judged(*plan) == EILSEQ);
}

TEST_CASE("a payload that can still be changed is refused") {
  const auto plan = good_plan();
  plan->has_payload = 1;
  PlanFacts facts = usual_facts();
  facts.descriptor_count = 3;
  facts.payload_size = 10;
  CHECK(judge(*plan, facts) == EPERM);
  facts.payload_sealed = true;
  CHECK(judge(*plan, facts) == 0);
}

TEST_CASE("file names that could leave the home directory are refused") {
  const auto is_safe = [](const char* name) {
    char field[224] = {};
    std::strncpy(field, name, sizeof field - 1);
    return is_safe_file_name(field, sizeof field);
  };
  for (const char* good : {"a", "main.py", "a/b/c/d", "A_1-x.tar.gz"}) CHECK(is_safe(good));
  for (const char* bad : {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", ".hidden", "a/.b", "a b",
                          "a\nb", "a\xc3\xa4", "a/b/c/d/e"})
    CHECK_FALSE(is_safe(bad));
  char endless[224];
  std::memset(endless, 'a', sizeof endless);
  CHECK_FALSE(is_safe_file_name(endless, sizeof endless));
}
