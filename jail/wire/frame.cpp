#include "jail/wire/frame.h"

#include <cerrno>

#include "jail/os/unix_socket.h"
#include "jail/spec/limits.h"

namespace mayfly {

Expected<std::string> frame_text(const Json& body) {
  std::string text;
  try {
    // Bytes that are not UTF-8 were judged or escaped before; a replacement keeps the frame well-formed all the same.
    text = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception& error) {
    return failure("write frame", 0, "", error.what());
  }
  if (text.size() > kMaxFrame.count)
    return failure("write frame", EMSGSIZE, "", std::to_string(text.size()) + " bytes");
  return text;
}

Expected<void> send_frame(int socket, const Json& body, std::span<const int> fds) {
  const std::string text = TRY(frame_text(body));
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
