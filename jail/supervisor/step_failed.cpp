#include "jail/supervisor/step_failed.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "jail/spec/show.h"

namespace mayfly {

namespace {

// What making a file meets where something else is, or is on the way: a directory, a file, a symlink that leads to
// what cannot be written, to nothing or in a circle.
bool is_in_the_way(int error) {
  constexpr std::array kErrors = {EISDIR, ENOTDIR, EEXIST, EACCES, EPERM, EROFS, ENOENT, ELOOP};
  return std::find(kErrors.begin(), kErrors.end(), error) != kErrors.end();
}

Refusal bad(std::string field, std::string text) {
  return {RefusalKind::BadRequest, std::move(field), std::move(text), 0};
}

// tmpfs says ENOSPC for both.
Refusal no_room(const Spec& spec) {
  const std::string room = std::to_string(spec.limits.disk.count) + " bytes (" + show(spec.limits.disk) + ") and " +
                           std::to_string(spec.limits.inodes) + " files";
  if (!spec.has_seed) return bad("limits.diskBytes", "code and files do not fit in " + room + ": ask for more bytes");
  return bad("limits.diskBytes", "code, files and what the profile \"" + spec.profile +
                                     "\" puts into the home directory do not fit in " + room +
                                     ": ask for more bytes, or have its operator put in less");
}

Refusal name_taken(const Spec& spec, const SpecFile& file) {
  const std::string in_the_way = "the profile \"" + spec.profile + "\" puts something into the home directory that " +
                                 (file.is_code ? "the code's file, " : "") + file.name;
  if (file.is_code) return bad("code", in_the_way + ", cannot replace: its operator has to name it otherwise");
  return bad("files." + file.name, in_the_way + " cannot replace: choose another name");
}

Decision failed_with_seed(const Spec& spec, int error) {
  if (error != ELOOP) return failed_at(Step::WriteFiles, error);
  return failed_at(Step::WriteFiles, error,
                   "the seed of the profile \"" + spec.profile + "\" has more than 7 levels of directories");
}

}  // namespace

Decision after_failed_step(const Spec& spec, const GateMessage& message) {
  const Step step = message.step < kStepCount ? static_cast<Step>(message.step) : Step::None;
  if (step != Step::WriteFiles) return failed_at(step, message.error);
  if (message.error == ENOSPC) return refused_for(no_room(spec));
  if (!spec.has_seed || message.file > spec.files.size()) return failed_at(step, message.error);
  if (message.file == 0) return failed_with_seed(spec, message.error);
  if (!is_in_the_way(message.error)) return failed_at(step, message.error);
  return refused_for(name_taken(spec, spec.files[message.file - 1]));
}

}  // namespace mayfly
