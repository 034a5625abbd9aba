// Sealed memory files: how code, files, keys and tables travel between processes (memfd_create(2), F_ADD_SEALS).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

// A memfd that holds `bytes` and can never change again (SEAL, SHRINK, GROW, WRITE). Read-only by contract.
Expected<Fd> make_sealed_memfd(const char* debug_name, std::string_view bytes);

// Size of a memfd that carries all four seals. Anything else (a file, a pipe, an unsealed memfd, one larger than
// `most`) is a Failure: what we judge must be what we use.
Expected<std::uint64_t> sealed_size(const Fd& fd, std::uint64_t most);

Expected<std::string> read_whole(const Fd& fd, std::uint64_t most);  // from offset 0, by pread

}  // namespace mayfly
