#include "jail/supervisor/admission.h"

#include <catch2/catch.hpp>

using namespace mayfly;
using namespace mayfly::literals;

namespace {

Spec spec_of(Door door, std::string principal, Bytes memory = 256_mib) {
  Spec spec;
  spec.door = door;
  spec.origin = door == Door::Api ? OriginKind::Api : door == Door::Run ? OriginKind::Cli : OriginKind::Ssh;
  spec.principal = std::move(principal);
  spec.limits.memory = memory;
  spec.queue_wait = 10_s;
  return spec;
}

Policy policy_with_memory(Bytes memory) {
  Policy policy;
  policy.host.memory = memory;
  return policy;
}

constexpr HostSize kHost{8_gib, 2};
constexpr Microseconds kStart{1'000'000'000};
constexpr Microseconds kSecond{1'000'000};

}  // namespace

TEST_CASE("an API run reserves all of its memory, an exec half of it, a shell a quarter") {
  CHECK(Admission::claim(spec_of(Door::Api, "a")).count == Approx((256_mib).count).margin(100));
  CHECK(Admission::claim(spec_of(Door::Exec, "a")).count == Approx((128_mib).count).margin(100));
  CHECK(Admission::claim(spec_of(Door::Shell, "a")).count == Approx((64_mib).count).margin(100));
}

TEST_CASE("memory is reserved until the kernel has released the jail, not only until it is closed") {
  Admission admission(policy_with_memory(512_mib), kHost);
  const Spec spec = spec_of(Door::Exec, "ana", 512_mib);
  Reservation first = admission.reserve(spec, kStart);
  Reservation second = admission.reserve(spec, kStart);
  CHECK(admission.judge_start(spec) == Place::NobodyNow);
  admission.closed(first);
  admission.left(first);
  CHECK(admission.judge_start(spec) == Place::NobodyNow);
  admission.released(first);
  CHECK(admission.judge_start(spec) == Place::Start);
  admission.released(first);  // twice is as good as once
  admission.released(second);
  CHECK(admission.jails() == 0);
}

TEST_CASE("without a configured host limit four fifths of the machine's memory may be reserved") {
  Policy policy;
  policy.host.api_runs = 100;
  Admission admission(policy, HostSize{1_gib, 2});
  int started = 0;
  for (; admission.judge_start(spec_of(Door::Api, "a")) == Place::Start && started < 10; ++started)
    admission.reserve(spec_of(Door::Api, "a"), kStart);
  CHECK(started == 3);
}

TEST_CASE("a request for more than all jails together may have is refused at once and for good") {
  Admission admission(policy_with_memory(128_mib), kHost);
  const auto refusal = admission.judge_arrival(spec_of(Door::Api, "ana"), kStart);
  REQUIRE(refusal);
  CHECK(refusal->kind == RefusalKind::Quota);
  CHECK(refusal->retry_after_ms == 0);
}

TEST_CASE("API runs are four per processor, and their limit keeps no SSH exec out") {
  Policy policy;
  Admission admission(policy, kHost);
  std::vector<Reservation> held;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(admission.judge_start(spec_of(Door::Api, "p" + std::to_string(i))) == Place::Start);
    held.push_back(admission.reserve(spec_of(Door::Api, "p" + std::to_string(i)), kStart));
  }
  CHECK(admission.judge_start(spec_of(Door::Api, "other")) == Place::NotThisKind);
  CHECK(admission.judge_start(spec_of(Door::Exec, "other")) == Place::Start);
  admission.closed(held.front());
  CHECK(admission.judge_start(spec_of(Door::Api, "other")) == Place::Start);
}

TEST_CASE("a principal has its live places until the last byte is delivered") {
  Policy policy;
  policy.principals.live = 2;
  Admission admission(policy, kHost);
  const Spec spec = spec_of(Door::Exec, "ana");
  Reservation one = admission.reserve(spec, kStart);
  Reservation two = admission.reserve(spec, kStart);
  CHECK(admission.judge_start(spec) == Place::NotThisOne);
  CHECK(admission.judge_start(spec_of(Door::Exec, "ben")) == Place::Start);
  CHECK(admission.waited_in_vain(spec).kind == RefusalKind::Quota);
  CHECK(admission.waited_in_vain(spec_of(Door::Exec, "ben")).kind == RefusalKind::WaitedTooLong);
  admission.closed(one);
  admission.released(one);
  CHECK(admission.judge_start(spec) == Place::NotThisOne);
  admission.left(one);
  CHECK(admission.judge_start(spec) == Place::Start);
}

TEST_CASE("a shell beyond its principal's live places is refused at once, because nobody waits an hour") {
  Policy policy;
  policy.principals.live = 1;
  Admission admission(policy, kHost);
  Reservation one = admission.reserve(spec_of(Door::Shell, "ana"), kStart);
  const auto refusal = admission.judge_arrival(spec_of(Door::Shell, "ana"), kStart);
  REQUIRE(refusal);
  CHECK(refusal->kind == RefusalKind::Quota);
  CHECK_FALSE(admission.judge_arrival(spec_of(Door::Exec, "ana"), kStart));
}

TEST_CASE("requests beyond the burst are refused and told when to come back; a second later they are taken again") {
  Policy policy;
  policy.principals.burst = 3;
  policy.principals.requests_per_second = 2;
  Admission admission(policy, kHost);
  const Spec spec = spec_of(Door::Api, "ana");
  for (int i = 0; i < 3; ++i) CHECK_FALSE(admission.judge_arrival(spec, kStart));
  const auto refusal = admission.judge_arrival(spec, kStart);
  REQUIRE(refusal);
  CHECK(refusal->kind == RefusalKind::Quota);
  CHECK(refusal->retry_after_ms == 500);
  CHECK_FALSE(admission.judge_arrival(spec_of(Door::Api, "ben"), kStart));
  CHECK_FALSE(admission.judge_arrival(spec, kStart + kSecond));
}

TEST_CASE("a principal that has used its CPU-seconds of the hour is refused until some have come back") {
  Policy policy;
  policy.principals.cpu_seconds_per_hour = 3600;
  Admission admission(policy, kHost);
  const Spec spec = spec_of(Door::Api, "ana");
  CHECK_FALSE(admission.judge_arrival(spec, kStart));
  admission.charge_cpu(spec, Microseconds{3'600'000'000}, kStart);
  CHECK(admission.judge_arrival(spec, kStart));
  CHECK_FALSE(admission.judge_arrival(spec, kStart + 2 * kSecond));
}

TEST_CASE("the machine's own user is exempt from what is counted per principal, and from nothing else") {
  Policy policy;
  policy.principals = PrincipalLimits{1, 1, 1, 1, 1};
  policy.host.memory = 512_mib;
  Admission admission(policy, kHost);
  for (const Spec& spec : {spec_of(Door::Exec, "anonymous@127.0.0.1"), spec_of(Door::Exec, "anonymous@::1"),
                           spec_of(Door::Run, "uid 1000")}) {
    for (int i = 0; i < 5; ++i) CHECK_FALSE(admission.judge_arrival(spec, kStart));
    Reservation held = admission.reserve(spec, kStart);
    Reservation more = admission.reserve(spec, kStart);
    CHECK(admission.judge_start(spec) == Place::Start);
    admission.released(held);
    admission.released(more);
  }
  CHECK_FALSE(Admission::is_exempt(spec_of(Door::Exec, "anonymous@127.0.0.2")));
  std::vector<Reservation> full;
  for (int i = 0; i < 4; ++i) full.push_back(admission.reserve(spec_of(Door::Run, "uid 0"), kStart));
  CHECK(admission.judge_start(spec_of(Door::Run, "uid 0")) == Place::NobodyNow);
}

TEST_CASE("ten thousand strangers leave no account behind once they are at rest") {
  Policy policy;
  Admission admission(policy, kHost);
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const Microseconds now = kStart + Microseconds{i * 1'000'000};
    CHECK_FALSE(admission.judge_arrival(spec_of(Door::Api, "s" + std::to_string(i)), now));
  }
  CHECK(admission.accounts() <= 1200);
}
