#include "jail/wire/permits.h"

#include <catch2/catch.hpp>

namespace mayfly {

TEST_CASE("no role may say more than its rows", "[P09]") {
  const auto allowed = [](Role role) {
    int count = 0;
    for (int message = 0; message <= static_cast<int>(Message::Invites); ++message)
      for (int phase = 0; phase <= static_cast<int>(RunPhase::Over); ++phase)
        count += is_permitted(role, static_cast<Message>(message), static_cast<RunPhase>(phase)) ? 1 : 0;
    return count;
  };
  CHECK(allowed(Role::Ssh) == 8);
  CHECK(allowed(Role::Api) == 4);
  CHECK(allowed(Role::Cli) == 8);
  CHECK(allowed(Role::MonitorReader) == 2);
  CHECK(allowed(Role::MonitorOperator) == 5);
}

TEST_CASE("a front end neither lists nor kills jails, and a monitor opens none") {
  for (const Role role : {Role::Ssh, Role::Api})
    for (const Message message :
         {Message::AskJails, Message::KillJails, Message::Drain, Message::AskStatus, Message::Invites})
      for (const RunPhase phase : {RunPhase::NoRun, RunPhase::Live, RunPhase::Over})
        CHECK_FALSE(is_permitted(role, message, phase));
  for (const Role role : {Role::MonitorReader, Role::MonitorOperator})
    CHECK_FALSE(is_permitted(role, Message::Open, RunPhase::NoRun));
}

}  // namespace mayfly
