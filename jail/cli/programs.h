// Programs: where our own programs are: beside this one (a build tree), or in ../libexec/mayfly (installed).
#pragma once

#include <string>
#include <vector>

#include "jail/expected.h"

namespace mayfly {

inline constexpr const char* kHelperNames[] = {"mayfly-builder", "mayfly-witness",      "mayfly-supervisor",
                                               "mayfly-sshd",    "mayfly-sshd-session", "mayfly-api",
                                               "mayfly-top",     "mayfly-probe",        "mayfly-examiner"};

class Programs {
 public:
  static Expected<Programs> find();  // through /proc/self/exe
  static Programs in(std::string directory) { return Programs(std::move(directory)); }

  static Expected<std::string> self();  // the path of this very program

  [[nodiscard]] const std::string& directory() const { return directory_; }
  // Its absolute path. Fails when it is not there or cannot be executed.
  Expected<std::string> path(const std::string& name) const;
  // Every program of ours that is there, this one included: what no jail may see (promise P12).
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  explicit Programs(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

}  // namespace mayfly
