// Message numbers of SSH that the harness looks at (RFC 4250, 4.1.2).
#pragma once

#include <cstdint>

namespace mayfly::fuzz {

inline constexpr std::uint8_t kDisconnect = 1, kUnimplemented = 3, kServiceRequest = 5, kKexInit = 20, kNewKeys = 21,
                              kKexEcdhInit = 30, kAuthRequest = 50, kAuthFailure = 51, kAuthSuccess = 52,
                              kGlobalRequest = 80, kRequestFailure = 82, kChannelOpen = 90, kChannelConfirmed = 91,
                              kChannelRefused = 92, kWindowAdjust = 93, kChannelData = 94, kExtendedData = 95,
                              kChannelEof = 96, kChannelClose = 97, kChannelRequest = 98, kChannelSuccess = 99,
                              kChannelFailure = 100;

}  // namespace mayfly::fuzz
