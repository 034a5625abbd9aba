// Judges a plan before anything is built of it: every number in range, every text within its bounds, every file name
// safe. The supervisor is believed to be honest, and checked all the same: after the clone nothing is checked again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jail/wire/plan.h"

namespace mayfly {

struct PlanFacts {
  std::size_t descriptor_count = 0;
  std::uint32_t row_count = 0;     // of the bind table
  std::uint64_t payload_size = 0;  // 0 when there is none
  bool payload_sealed = false;
};

// 0, or an errno for the reply: EPROTO (not a plan of ours), EINVAL (a number), EFAULT (a range), EILSEQ (a text or
// name).
int judge(const Plan& plan, const PlanFacts& facts);

bool is_safe_file_name(const char* name, std::size_t size);  // `size` bytes, NUL-terminated within

}  // namespace mayfly
