// Fixed structs of wire/ to and from bytes: one release on both sides, no pointers, the size is the check.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "jail/os/unix_socket.h"

namespace mayfly {

template <typename T>
std::span<const std::byte> bytes_of(const T& message) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span<const T, 1>(&message, 1));
}

// False when the message has another size than T.
template <typename T>
bool read_fixed(const Received& received, T& into) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (received.bytes.size() != sizeof(T)) return false;
  std::memcpy(&into, received.bytes.data(), sizeof(T));
  return true;
}

}  // namespace mayfly
