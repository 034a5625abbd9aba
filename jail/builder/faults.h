// Faults: how tests make one step of building fail, or leave one layer out (P10, P20). Exists only in
// mayfly-builder-faulty, which is the same sources compiled with MAYFLY_FAULTS; in the release program every function
// here is a constant and nothing of it is left.
//   mayfly-builder-faulty fail:MountProc:5        the step fails with that errno
//   mayfly-builder-faulty weaken:landlock         the layer is left out, everything else is as always
//   mayfly-builder-faulty slow:MapIds:50          the step takes 50 ms longer; also beside one of the others
#pragma once

#include <cstdint>

#include "jail/spec/step.h"

namespace mayfly {

enum class Layer : std::uint8_t {
  None,
  Landlock,
  Filter,
  Devpts,
  Cgroup,        // "pids": the jail stays outside its cgroups
  Capabilities,  // "caps"
  NoNewPrivs,    // "nnp"
  Proc,
  Network,      // "network": the jail shares the network namespace that the builder was started in
  Environment,  // "environment": one entry more than was ordered
  Limits,       // "limits": no rlimits
  RootSize,     // "root-size": the root holds any number of bytes
  RootInodes,   // "root-inodes": ... and of inodes
  ReadOnly,     // "read-only": /usr may be written to, as far as its owner may
  Overlay,      // "overlay": /data is the profile's folder itself
  Seed,         // "seed": it is not copied
  Masks,        // "masks": nothing of /proc is covered
  IdMap,        // "ids": a uid more than there should be (as root)
  Group0,       // "group0" ... "group3" (v1): the jail stays outside that cgroup, and is in the others
  Group1,
  Group2,
  Group3,
};

#ifdef MAYFLY_FAULTS

struct Faults {
  Step step = Step::None;
  int error = 0;
  Step slow_step = Step::None;
  int slow_ms = 0;
  Layer layer = Layer::None;

  // Terminates the program with a message on stderr when the argument is not understood.
  static Faults from_arguments(int count, char** arguments);
  [[nodiscard]] int at(Step entered) const;
  [[nodiscard]] bool leaves_out(Layer asked) const { return asked == layer; }
};

#else

struct Faults {
  static constexpr Faults from_arguments(int /*count*/, char** /*arguments*/) { return {}; }
  [[nodiscard]] static constexpr int at(Step /*entered*/) { return 0; }
  [[nodiscard]] static constexpr bool leaves_out(Layer /*asked*/) { return false; }
};

#endif

}  // namespace mayfly
