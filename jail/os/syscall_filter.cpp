#include "jail/os/syscall_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <string>

namespace mayfly {
namespace {

constexpr std::uint32_t kNumberOffset = offsetof(seccomp_data, nr);
constexpr std::uint32_t kArchOffset = offsetof(seccomp_data, arch);
constexpr std::uint32_t kArgumentsOffset = offsetof(seccomp_data, args);
constexpr std::uint32_t kWholeArgument = 0xffff'ffff;
constexpr std::size_t kFarthestJump = 255;  // jt and jf are 8 bits

std::uint32_t action_of(Verdict verdict, std::uint16_t build_id) {
  switch (verdict) {
    case Verdict::Allow:
      return SECCOMP_RET_ALLOW;
    case Verdict::Deny:
      return SECCOMP_RET_ERRNO | EPERM;
    case Verdict::Absent:
      return SECCOMP_RET_ERRNO | ENOSYS;
    case Verdict::NoFamily:
      return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    case Verdict::NoProtocol:
      return SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
    case Verdict::Invalid:
      return SECCOMP_RET_ERRNO | EINVAL;
    case Verdict::TellBuildId:
      return SECCOMP_RET_ERRNO | build_id;
    case Verdict::Kill:
      break;
  }
  return SECCOMP_RET_KILL_PROCESS;
}

using Chain = std::vector<SyscallRow>;
using Chains = std::map<std::uint32_t, Chain>;

Expected<Chains> chains_of(std::span<const SyscallRows> parts) {
  Chains chains;
  for (const SyscallRows& part : parts) {
    for (const SyscallRow& row : part) {
      if (row.reason.empty()) return failure("compile filter", 0, std::string(row.name), "row without a reason");
      if (row.when.argument > 5) return failure("compile filter", 0, std::string(row.name), "no such argument");
      if (row.when.count == 0 &&
          (row.when.test == Condition::Test::OneOf || row.when.test == Condition::Test::NoneOf)) {
        return failure("compile filter", 0, std::string(row.name), "condition without a value");
      }
      if (row.number >= kX32Bit) return failure("compile filter", 0, std::string(row.name), "number of x32");
      Chain& chain = chains[row.number];
      if (!chain.empty() && chain.back().when.test == Condition::Test::Always) {
        return failure("compile filter", 0, std::string(row.name), "row that can never be reached");
      }
      chain.push_back(row);
    }
  }
  for (const auto& [number, chain] : chains) {
    if (chain.back().when.test != Condition::Test::Always) {
      return failure("compile filter", 0, std::string(chain.back().name), "no row says what else happens");
    }
  }
  return chains;
}

// A position counted from the end of the program: it is written backwards, so that every jump's target is known.
using Place = std::size_t;

class Emitter {
 public:
  explicit Emitter(std::uint16_t build_id) : build_id_(build_id) {}

  Place answer(Verdict verdict) {
    const std::uint32_t action = action_of(verdict, build_id_);
    const auto known = answers_.find(action);
    // Two instructions of slack: the jump that uses it is not written yet, and may need a `ja` before it.
    if (known != answers_.end() && backwards_.size() - known->second + 2 <= kFarthestJump) return known->second;
    push(BPF_STMT(BPF_RET | BPF_K, action));
    return answers_[action] = here();
  }

  Place load(std::uint32_t offset) {
    push(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
    return here();
  }

  Place mask(std::uint32_t bits) {
    push(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
    return here();
  }

  // `test` is BPF_JEQ, BPF_JGE or BPF_JSET.
  Place branch(std::uint16_t test, std::uint32_t value, Place yes, Place no) {
    yes = within_reach(yes, 1);
    no = within_reach(no, 0);
    yes = within_reach(yes, 0);
    push(BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, distance(yes), distance(no)));
    return here();
  }

  // What has been written last, if it is not `place`, would be run by falling through: a jump is needed then.
  void fall_to(Place place) {
    if (here() != place) push(BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(here() - place)));
  }

  [[nodiscard]] Place here() const { return backwards_.size(); }
  [[nodiscard]] std::vector<sock_filter> finish() && {
    std::reverse(backwards_.begin(), backwards_.end());
    return std::move(backwards_);
  }

 private:
  void push(sock_filter instruction) { backwards_.push_back(instruction); }
  [[nodiscard]] std::uint8_t distance(Place target) const { return static_cast<std::uint8_t>(here() - target); }

  Place within_reach(Place target, std::size_t slack) {
    if (here() - target + slack <= kFarthestJump) return target;
    push(BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(here() - target)));
    return here();
  }

  std::uint16_t build_id_;
  std::vector<sock_filter> backwards_;
  std::map<std::uint32_t, Place> answers_;
};

// The test of one row, its argument in the accumulator.
Place emit_test(Emitter& emitter, const Condition& when, Place yes, Place no) {
  if (when.test == Condition::Test::AnyBit) return emitter.branch(BPF_JSET, when.mask, yes, no);
  const Place found = when.test == Condition::Test::OneOf ? yes : no;
  Place next = when.test == Condition::Test::OneOf ? no : yes;
  for (std::size_t i = when.count; i-- > 0;) next = emitter.branch(BPF_JEQ, when.values[i], found, next);
  if (when.mask != kWholeArgument) next = emitter.mask(when.mask);
  return next;
}

// The rows of one call, written from the last to the first.
Place emit_chain(Emitter& emitter, const Chain& chain) {
  Place next = emitter.answer(chain.back().verdict);
  for (std::size_t i = chain.size() - 1; i-- > 0;) {
    const Condition& when = chain[i].when;
    const Place yes = emitter.answer(chain[i].verdict);
    next = emit_test(emitter, when, yes, next);
    next = emitter.load(kArgumentsOffset + 8u * when.argument);
  }
  return next;
}

struct Range {
  std::uint32_t first;
  Verdict verdict = Verdict::Kill;
  const Chain* chain = nullptr;  // where one answer is not enough
};

bool same(const Range& one, const Range& two) {
  return one.chain == nullptr && two.chain == nullptr && one.verdict == two.verdict;
}

void append(std::vector<Range>& ranges, Range range) {
  if (!ranges.empty() && ranges.back().first == range.first) ranges.pop_back();
  if (ranges.empty() || !same(ranges.back(), range)) ranges.push_back(range);
}

std::vector<Range> ranges_of(const Chains& chains, Verdict otherwise) {
  std::vector<Range> ranges;
  append(ranges, {0, otherwise, nullptr});
  for (const auto& [number, chain] : chains) {
    append(ranges, {number, chain.back().verdict, chain.size() > 1 ? &chain : nullptr});
    append(ranges, {number + 1, otherwise, nullptr});
  }
  append(ranges, {kX32Bit, Verdict::Kill, nullptr});
  return ranges;
}

Place emit_search(Emitter& emitter, std::span<const Range> ranges) {
  if (ranges.size() == 1) {
    return ranges[0].chain != nullptr ? emit_chain(emitter, *ranges[0].chain) : emitter.answer(ranges[0].verdict);
  }
  const std::size_t middle = ranges.size() / 2;
  const Place upper = emit_search(emitter, ranges.subspan(middle));
  const Place lower = emit_search(emitter, ranges.first(middle));
  return emitter.branch(BPF_JGE, ranges[middle].first, upper, lower);
}

}  // namespace

Expected<std::vector<sock_filter>> compile_filter(Verdict otherwise, std::span<const SyscallRows> parts,
                                                  std::uint16_t build_id) {
  const Chains chains = TRY(chains_of(parts));
  const std::vector<Range> ranges = ranges_of(chains, otherwise);
  Emitter emitter(build_id);
  const Place search = emit_search(emitter, ranges);
  emitter.fall_to(search);
  const Place numbers = emitter.load(kNumberOffset);
  const Place foreign = emitter.answer(Verdict::Kill);
  emitter.branch(BPF_JEQ, AUDIT_ARCH_X86_64, numbers, foreign);
  emitter.load(kArchOffset);
  std::vector<sock_filter> program = std::move(emitter).finish();
  if (program.size() > BPF_MAXINSNS) return failure("compile filter", E2BIG, std::to_string(program.size()));
  return program;
}

int load_filter(const sock_filter* instructions, unsigned short count) {
  const sock_fprog program{count, const_cast<sock_filter*>(instructions)};
  return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

}  // namespace mayfly
