#include "api/body_budget.h"

#include <catch2/catch.hpp>
#include <vector>

namespace mayfly::api {

TEST_CASE("bodies get what is left, and what they had is there again when they are gone") {
  BodyBudget budget(100);
  {
    auto first = budget.reserve(60);
    REQUIRE(first);
    CHECK_FALSE(budget.reserve(41));
    auto second = budget.reserve(40);
    REQUIRE(second);
    CHECK(budget.left() == 0);
    CHECK(budget.reserve(0));
    first->reset();
    first->reset();
    CHECK(budget.left() == 60);
    BodyBudget::Share moved = std::move(*second);
    CHECK(budget.left() == 60);
  }
  CHECK(budget.left() == 100);
}

TEST_CASE("a share that is assigned to gives back what it had") {
  BodyBudget budget(100);
  BodyBudget::Share share = *budget.reserve(70);
  share = *budget.reserve(30);
  CHECK(budget.left() == 70);
}

TEST_CASE("no length wraps the budget around") {
  BodyBudget budget(100);
  CHECK_FALSE(budget.reserve(UINT64_MAX));
  CHECK(budget.left() == 100);
}

}  // namespace mayfly::api
