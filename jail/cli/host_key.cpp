#include "jail/cli/host_key.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "jail/os/child.h"
#include "jail/os/memfd.h"
#include "jail/spec/limits.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kMostKeyBytes = 16 * 1024;
constexpr int kGenerateLimitMs = 10'000;
constexpr std::string_view kHeader = "-----BEGIN OPENSSH PRIVATE KEY-----";

Expected<void> wait_for(Child& child) {
  pollfd entry{child.pidfd().get(), POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&entry, 1, kGenerateLimitMs);
  while (ready < 0 && errno == EINTR);
  if (ready <= 0) {
    (void)child.signal(SIGKILL);
    TRY(child.wait());
    return failure("make a host key", ETIMEDOUT, "mayfly-sshd --generate-host-key");
  }
  const int status = TRY(child.wait());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failure("make a host key", 0, "mayfly-sshd --generate-host-key", "it failed; its message is above");
  return {};
}

Expected<void> judge_key(const std::string& key, const std::string& from) {
  if (key.compare(0, kHeader.size(), kHeader) == 0) return {};
  return failure("use host key", 0, from, "it is not an OpenSSH private key");
}

Expected<std::string> generate(const Programs& programs, Privilege privilege) {
  const Fd output(::memfd_create("mayfly-new-host-key", MFD_CLOEXEC));
  if (!output) return failure("make memory for a host key", errno);
  ChildProgram program;
  program.path = TRY(programs.path("mayfly-sshd"));
  program.argv = {"mayfly-sshd", "--generate-host-key"};
  program.fds = {{output.get(), STDOUT_FILENO}};
  if (privilege == Privilege::Root) program.uid = kSshdUid;
  Child child = TRY(Child::start(program));
  TRY(wait_for(child));
  std::string key = TRY(read_whole(output, kMostKeyBytes));
  TRY(judge_key(key, "of mayfly-sshd --generate-host-key"));
  return key;
}

// Whole and on disk, or not there at all: linked to its name only when complete. link(2) never replaces.
Expected<void> write_once(const std::string& path, const std::string& key) {
  const std::string unfinished = path + ".new";
  ::unlink(unfinished.c_str());  // of a start that was killed; the state lock is ours
  const Fd file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failure("make host key file", errno, unfinished);
  if (::write(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()) || ::fsync(file.get()) != 0)
    return failure("write host key file", errno, unfinished);
  const int linked = ::link(unfinished.c_str(), path.c_str());
  const int error = errno;
  ::unlink(unfinished.c_str());
  if (linked != 0) return failure("name host key file", error, path);
  return {};
}

Expected<std::string> read_key(const Fd& file, const std::string& path) {
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return failure("look at host key", errno, path);
  if (!S_ISREG(found.st_mode)) return failure("use host key", 0, path, "it is not a regular file");
  if (found.st_uid != ::geteuid() || (found.st_mode & 077) != 0)
    return failure("use host key", 0, path, "other users may read it; make it yours and chmod 600 it, or take it away");
  std::string key = TRY(read_whole(file, kMostKeyBytes));
  TRY(judge_key(key, path));
  return key;
}

}  // namespace

Expected<Fd> load_or_make_host_key(const std::string& state_directory, const Programs& programs, Privilege privilege) {
  const std::string path = state_directory + "/host_key";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file) return make_sealed_memfd("mayfly-host-key", TRY(read_key(file, path)));
  if (errno != ENOENT) return failure("open host key", errno, path);
  const std::string key = TRY(generate(programs, privilege));
  TRY(write_once(path, key));
  return make_sealed_memfd("mayfly-host-key", key);
}

}  // namespace mayfly
