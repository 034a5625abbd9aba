// BpfInterpreter: runs a seccomp filter in user space for one call, so that the answer for every number, architecture
// and argument can be asserted whatever the kernel under the tests supports.
// It knows exactly the instructions that our compiler and libseccomp emit; any other one, a jump out of the program or
// a read outside seccomp_data is reported as broken, never skipped.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace mayfly::test {

struct Call {
  std::uint32_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
  std::uint32_t architecture = AUDIT_ARCH_X86_64;
};

struct Answer {
  std::uint32_t action = 0;     // SECCOMP_RET_*, with the errno in its data
  bool read_arguments = false;  // the kernel cannot answer such a call from its cache
  int steps = 0;
};

class BpfInterpreter {
 public:
  explicit BpfInterpreter(std::span<const sock_filter> program) : program_(program) {}

  // Nothing when the program is broken.
  [[nodiscard]] std::optional<Answer> run(const Call& call) const {
    seccomp_data data{static_cast<int>(call.number), call.architecture, 0, {}};
    for (std::size_t i = 0; i < call.arguments.size(); ++i) data.args[i] = call.arguments[i];
    Answer answer;
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0; at < program_.size(); ++at, ++answer.steps) {
      const sock_filter& instruction = program_[at];
      const std::uint32_t k = instruction.k;
      switch (instruction.code) {
        case BPF_LD | BPF_W | BPF_ABS:
          if (k % 4 != 0 || k + 4 > sizeof data) return std::nullopt;
          std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + k, sizeof accumulator);
          if (k >= offsetof(seccomp_data, args)) answer.read_arguments = true;
          break;
        case BPF_ALU | BPF_AND | BPF_K:
          accumulator &= k;
          break;
        case BPF_JMP | BPF_JA:
          at += k;
          break;
        case BPF_JMP | BPF_JEQ | BPF_K:
          at += accumulator == k ? instruction.jt : instruction.jf;
          break;
        case BPF_JMP | BPF_JGE | BPF_K:
          at += accumulator >= k ? instruction.jt : instruction.jf;
          break;
        case BPF_JMP | BPF_JGT | BPF_K:  // libseccomp's trees, with which ours is compared
          at += accumulator > k ? instruction.jt : instruction.jf;
          break;
        case BPF_JMP | BPF_JSET | BPF_K:
          at += (accumulator & k) != 0 ? instruction.jt : instruction.jf;
          break;
        case BPF_RET | BPF_K:
          answer.action = k;
          return answer;
        default:
          return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | n, SECCOMP_RET_KILL_PROCESS; a broken program answers 0xdead'dead.
  [[nodiscard]] std::uint32_t action(const Call& call) const {
    const std::optional<Answer> answer = run(call);
    return answer ? answer->action : 0xdead'deadu;
  }

 private:
  std::span<const sock_filter> program_;
};

}  // namespace mayfly::test
