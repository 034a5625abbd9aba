#include "jail/builder/filter/jail_filter.h"

#include "jail/builder/filter/init_rows.h"

namespace mayfly {
namespace {

constexpr auto kProof = std::to_array<SyscallRow>({
    {kReservedCall, "build id", Verdict::TellBuildId, kAlways, "proves from inside that this filter is loaded"},
});

}  // namespace

Expected<JailFilters> compile_jail_filters() {
  const std::array builder = {SyscallRows(filter::kBuilderRows)};
  const std::array program = {filter::kProgramParts[0], filter::kProgramParts[1], filter::kProgramParts[2],
                              SyscallRows(kProof)};
  const std::array init = {SyscallRows(filter::kInitRows), SyscallRows(kProof)};
  JailFilters filters;
  filters.builder = TRY(compile_filter(Verdict::Allow, builder, filter::kBuildErrno));
  filters.program = TRY(compile_filter(Verdict::Absent, program, filter::kBuildErrno));
  filters.init = TRY(compile_filter(Verdict::Deny, init, filter::kBuildErrno));
  return filters;
}

}  // namespace mayfly
