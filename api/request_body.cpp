#include "api/request_body.h"

#include "jail/spec/escape.h"
#include "jail/spec/profile.h"
#include "jail/spec/resolve.h"
#include "jail/wire/frame.h"
#include "jail/wire/request_json.h"
#include "jail/wire/result_json.h"

namespace mayfly::api {

namespace {

auto wrong(std::string field, std::string why) { return failure("read field", 0, std::move(field), std::move(why)); }

// A string, or {"content": ..., "encoding": "utf-8" | "base64"}.
Expected<std::string> content_of(const Json& value, const std::string& field, std::uint64_t most) {
  std::string bytes;
  if (value.is_string()) {
    bytes = value.get<std::string>();
  } else if (!value.is_object()) {
    return wrong(field, "a string, or an object with \"content\" is needed");
  } else {
    JsonReader in(value, field);
    bytes = TRY(in.text("content", kMaxBody));
    const auto encoding = TRY(in.optional_text("encoding", 16)).value_or("utf-8");
    TRY(in.finish());
    if (encoding == "base64") {
      auto decoded = from_base64(bytes);
      if (!decoded) return wrong(field + ".content", "is not base64 with padding");
      bytes = std::move(*decoded);
    } else if (encoding != "utf-8") {
      return wrong(field + ".encoding", "\"utf-8\" or \"base64\" is needed");
    }
  }
  if (bytes.size() > most)
    return wrong(field, "allowed 0.." + std::to_string(most) + " bytes, got " + std::to_string(bytes.size()));
  return bytes;
}

Expected<void> read_args(JsonReader& in, RunOrder& order) {
  const Json* args = TRY(in.optional_array("args", kMaxArguments));
  if (!args) return {};
  for (const Json& arg : *args) {
    if (!arg.is_string()) return wrong("args", "a list of strings is needed");
    const auto& text = arg.get_ref<const std::string&>();
    if (text.find('\0') != std::string::npos) return wrong("args", "an argument cannot hold a NUL byte");
    order.payload.add(PayloadKind::Argument, text);
  }
  return {};
}

Expected<void> read_files(JsonReader& in, RunOrder& order) {
  const Json* files = TRY(in.optional_object("files"));
  if (!files) return {};
  if (files->size() > kMaxFileCount)
    return wrong("files",
                 "allowed 0.." + std::to_string(kMaxFileCount) + " files, got " + std::to_string(files->size()));
  for (const auto& [file_name, value] : files->items()) {
    TRY(judge_file_name(file_name));
    const std::string field = "files." + file_name;
    if (!value.is_object()) return wrong(field, "an object with \"content\" is needed");
    order.payload.add(PayloadKind::File, TRY(content_of(value, field, kMaxFiles.count)), file_name);
  }
  return {};
}

}  // namespace

Expected<RunOrder> read_run_body(std::string_view body, std::string_view peer, std::string_view source) {
  const Json tree = TRY(parse_json(body, kMaxDepth));
  if (!tree.is_object()) return wrong("body", "a JSON object is needed");
  JsonReader in(tree, "");
  RunOrder order;
  Request& request = order.request;
  request.origin = OriginKind::Api;
  request.peer = peer;
  request.principal = "anonymous@" + std::string(source);
  order.payload.add(PayloadKind::Code, TRY(in.text("code", kMaxCode.count)));
  request.language = TRY(in.optional_text("language", 64)).value_or("python");
  request.profile = Catalogue::built_in().profile(request.language) ? request.language : "run";
  TRY(read_args(in, order));
  TRY(read_files(in, order));
  if (const Json* bytes = in.any("stdin")) order.stdin_bytes = TRY(content_of(*bytes, "stdin", kMaxStdin.count));
  if (const Json* limits = TRY(in.optional_object("limits")))
    request.limits = TRY(limit_request_from(*limits, "limits"));
  if (const Json* require = TRY(in.optional_array("require", kControlCount)))
    request.require = TRY(control_set_from(*require, "require"));
  request.reproducible = TRY(in.boolean("reproducible", false));
  request.label = TRY(in.optional_text("label", 200)).value_or("");
  request.queue_ms = TRY(in.optional_number("queueMs", 0, kMaxQueueMs));
  TRY(in.finish());
  return order;
}

}  // namespace mayfly::api
