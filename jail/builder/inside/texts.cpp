#include "jail/builder/inside/texts.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

class Arena {
 public:
  Arena(char* memory, std::size_t size) : at_(memory), left_(size) {}
  // Room for `length` bytes and a NUL, or nullptr.
  char* take(std::size_t length) {
    if (length + 1 > left_) return nullptr;
    char* taken = at_;
    at_ += length + 1;
    left_ -= length + 1;
    taken[length] = '\0';
    return taken;
  }

 private:
  char* at_;
  std::size_t left_;
};

std::size_t bytes_needed(const Plan& plan) {
  std::size_t bytes = 64;  // an entry that a weakened builder adds
  for (std::uint32_t i = 0; i < plan.argv_count; ++i) bytes += plan.argv[i].length + 1;
  for (std::uint32_t i = 0; i < plan.environment_count; ++i) bytes += plan.environment[i].length + 1;
  return bytes;
}

char* copy_text(Inside& in, Arena& arena, const PlanText& text) {
  char* copy = arena.take(text.length);
  if (copy == nullptr) in.fail(ENOMEM);
  if (text.in_payload == 0) {
    std::memcpy(copy, in.plan.text.data() + text.offset, text.length);
    return copy;
  }
  std::size_t done = 0;
  while (done < text.length) {
    const ssize_t count = ::pread(in.payload, copy + done, text.length - done, static_cast<off_t>(text.offset + done));
    in.check(count);
    if (count == 0) in.fail(EIO);
    done += static_cast<std::size_t>(count);
  }
  // A C string would end there, and the program would get something else than was asked for.
  if (std::memchr(copy, '\0', text.length) != nullptr) in.fail(EILSEQ);
  return copy;
}

}  // namespace

void gather_texts(Inside& in, Texts& texts) {
  const std::size_t bytes = bytes_needed(in.plan);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) in.fail(errno);
  Arena arena(static_cast<char*>(memory), bytes);
  for (std::uint32_t i = 0; i < in.plan.argv_count; ++i) texts.argv[i] = copy_text(in, arena, in.plan.argv[i]);
  for (std::uint32_t i = 0; i < in.plan.environment_count; ++i)
    texts.environment[i] = copy_text(in, arena, in.plan.environment[i]);
  texts.environment_count = in.plan.environment_count;
  if (in.leaves_out(Layer::Environment)) {
    char* extra = arena.take(sizeof "LEAKED=1" - 1);
    if (extra != nullptr) texts.environment[texts.environment_count++] = std::strcpy(extra, "LEAKED=1");
  }
  for (std::uint32_t i = 0; i < texts.environment_count; ++i)
    texts.environment_hash = fnv1a(texts.environment_hash, texts.environment[i], std::strlen(texts.environment[i]) + 1);
}

}  // namespace mayfly
