#include "jail/supervisor/step_failed.h"

#include <catch2/catch.hpp>
#include <cerrno>

using namespace mayfly;
using namespace mayfly::literals;

namespace {

Spec with_seed() {
  Spec spec;
  spec.profile = "class";
  spec.has_seed = true;
  spec.limits = kApiLimits.defaults;
  spec.limits.disk = 1_mib;
  spec.files.resize(2);
  spec.files[0].name = "part/data.csv";
  spec.files[1].name = "main.py";
  spec.files[1].is_code = true;
  return spec;
}

GateMessage failed(Step step, int error, std::uint32_t file) {
  GateMessage message;
  message.step = static_cast<std::uint32_t>(step);
  message.error = error;
  message.file = file;
  return message;
}

// "limits.diskBytes: what is said", or how it failed.
std::string said(const Spec& spec, const GateMessage& message) {
  const Decision decision = after_failed_step(spec, message);
  if (decision.ending == Ending::Refused && decision.refusal->kind == RefusalKind::BadRequest)
    return decision.refusal->field + ": " + decision.refusal->text;
  CHECK(decision.ending == Ending::Failed);
  return "failed " + std::string(name(decision.step)) + " " + std::to_string(decision.error) + " " + decision.text;
}

}  // namespace

TEST_CASE("what does not fit beside a seed is refused, naming the limit that would help") {
  for (const std::uint32_t file : {0u, 1u, 2u}) {
    const std::string text = said(with_seed(), failed(Step::WriteFiles, ENOSPC, file));
    CHECK_THAT(text, Catch::StartsWith("limits.diskBytes: "));
    CHECK_THAT(text, Catch::Contains("\"class\"") && Catch::Contains("1048576 bytes (1 MiB) and 8192 files") &&
                         Catch::Contains("ask for more"));
  }
  Spec without = with_seed();
  without.has_seed = false;
  const std::string text = said(without, failed(Step::WriteFiles, ENOSPC, 1));
  CHECK_THAT(text, Catch::StartsWith("limits.diskBytes: code and files do not fit"));
}

TEST_CASE("a file that cannot take the place of the seed's is refused by its name") {
  for (const int error : {EISDIR, ENOTDIR, EACCES, EROFS, ELOOP, ENOENT}) {
    const std::string text = said(with_seed(), failed(Step::WriteFiles, error, 1));
    CHECK_THAT(text, Catch::StartsWith("files.part/data.csv: the profile \"class\"") &&
                         Catch::EndsWith("choose another name"));
    CHECK_THAT(said(with_seed(), failed(Step::WriteFiles, error, 2)),
               Catch::StartsWith("code: ") && Catch::Contains("main.py") && Catch::Contains("operator"));
  }
}

TEST_CASE("what is neither the peer's doing nor its affair stays our failure") {
  CHECK(said(with_seed(), failed(Step::WriteFiles, EIO, 1)) == "failed WriteFiles 5 ");
  CHECK(said(with_seed(), failed(Step::WriteFiles, EISDIR, 0)) == "failed WriteFiles 21 ");
  CHECK(said(with_seed(), failed(Step::WriteFiles, EISDIR, 3)) == "failed WriteFiles 21 ");  // it has two
  CHECK(said(with_seed(), failed(Step::MakeRoot, ENOSPC, 1)) == "failed MakeRoot 28 ");
  CHECK_THAT(said(with_seed(), failed(Step::WriteFiles, ELOOP, 0)), Catch::Contains("more than 7 levels"));
  Spec without = with_seed();
  without.has_seed = false;
  CHECK(said(without, failed(Step::WriteFiles, EISDIR, 1)) == "failed WriteFiles 21 ");
  CHECK(after_failed_step(with_seed(), failed(static_cast<Step>(200), 5, 0)).step == Step::None);
}
