// Request as JSON, within Open. Internal to jail/wire.
#pragma once

#include "jail/spec/request.h"
#include "jail/wire/frame.h"
#include "jail/wire/json_text.h"

namespace mayfly {

void put_request(JsonText& out, const Request& request);
Expected<Request> request_from(const Json& object);

// {"wallMs":..., "cpus":...}: what a peer asks for; shared with the HTTP API.
Expected<LimitRequest> limit_request_from(const Json& object, const std::string& where);

Json control_set_json(ControlSet set);
void put_control_set(JsonText& out, std::string_view key, ControlSet set);
Expected<ControlSet> control_set_from(const Json& list, const std::string& where);

}  // namespace mayfly
