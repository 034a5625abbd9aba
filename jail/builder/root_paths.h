// Paths of a jail's root that both sides of the clone name.
#pragma once

namespace mayfly {

// A world-readable file that no Landlock rule reaches: opening it proves Landlock (tmpfs has no other reason to
// refuse).
inline constexpr const char* kLandlockCanary = "/.landlock";
inline constexpr const char* kHome = "/home/run";

}  // namespace mayfly
