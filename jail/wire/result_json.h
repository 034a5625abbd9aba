// The result object as users see it (design section 8), shared by /api/run, `mayfly run --json` and the wire.
#pragma once

#include <string>

#include "jail/spec/result.h"
#include "jail/wire/frame.h"
#include "jail/wire/json_text.h"

namespace mayfly {

inline constexpr int kMaxErrno = 4095;  // of failedErrno; the kernel's MAX_ERRNO (include/linux/err.h)

Json controls_json(const Controls& controls);
Json limits_json(const Limits& limits);
Expected<Limits> limits_from(const Json& object);

// Packed (packed.h), for messages.
std::string controls_wire(const Controls& controls);
Expected<Controls> controls_from_wire(std::string_view text);
std::string limits_wire(const Limits& limits);
Expected<Limits> limits_from_wire(std::string_view text);

// The wire form: everything, lossless.
// AfterRunning: without controls and limits, which the peer has had with Running.
enum class WireForm : bool { Whole, AfterRunning };
void put_result(JsonText& out, const Result& result, WireForm form = WireForm::Whole);
Expected<Result> result_from(const Json& object, WireForm form = WireForm::Whole);

// What was captured of one stream by whoever holds it (api, `mayfly run --json`).
struct Captured {
  std::string out, err;
};
// The public form, as JSON text: id, stdout, stderr, exitCode, signal, timedOut, ending, runtime, language, ... A
// stream that is not UTF-8 becomes base64 and `encoding` says so; cuts fall on character boundaries.
std::string result_public(const Result& result, const Captured& captured, std::string_view language_version);

std::string base64(std::string_view bytes);
Expected<std::string> from_base64(std::string_view text);  // strict RFC 4648, padding required

}  // namespace mayfly
