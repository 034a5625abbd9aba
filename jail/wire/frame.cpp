#include "jail/wire/frame.h"

#include <cerrno>

#include "jail/os/unix_socket.h"
#include "jail/spec/limits.h"

namespace mayfly {

std::string text_of(const Json& body) { return body.dump(-1, ' ', false, Json::error_handler_t::replace); }

Expected<void> judge_frame(std::string_view text) {
  if (text.size() > kMaxFrame.count)
    return failure("write frame", EMSGSIZE, "", std::to_string(text.size()) + " bytes");
  return {};
}

Expected<void> send_frame(int socket, std::string_view text, std::span<const int> fds) {
  TRY(judge_frame(text));
  return send_message(socket, std::as_bytes(std::span(text)), fds);
}

Expected<Frame> receive_frame(int socket) {
  Received received = TRY(receive_message(socket, kMaxFrame.count, kMaxFrameFds));
  Frame frame;
  frame.closed = received.closed;
  if (frame.closed) return frame;
  const std::string_view text(reinterpret_cast<const char*>(received.bytes.data()), received.bytes.size());
  frame.body = TRY(parse_json(text, kMaxFrameDepth));
  if (!frame.body.is_object()) return failure("read frame", 0, "", "an object is needed");
  frame.fds = std::move(received.fds);
  return frame;
}

}  // namespace mayfly
