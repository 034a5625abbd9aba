#include "jail/supervisor/measure_filesystem.h"

#include <unistd.h>

#include "jail/spec/escape.h"
#include "jail/supervisor/measure_mounts.h"
#include "jail/supervisor/measure_text.h"

namespace mayfly {
namespace {

tl::unexpected<Failure> wrong(const char* control, std::string why) {
  return failure("measure control", 0, control, std::move(why));
}

std::string shown(const MountLine& line) { return escape(line.mount_point, 200); }

bool is_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_read_only(const MountLine& line) { return has_word(line.options, "ro") || has_word(line.super_options, "ro"); }

// The root tmpfs, and the pty's file system, whose only nodes are the jail's own.
bool may_be_written(const MountLine& line) {
  return line.mount_point == "/" || (line.mount_point == "/dev/pts" && line.type == "devpts");
}

std::uint64_t rounded_to_pages(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

Expected<void> judge_root(const MountLine& line, const FilesystemFacts& facts) {
  if (line.type != "tmpfs") return wrong("filesystem", "the root is a " + escape(line.type, 40) + ", not a tmpfs");
  const auto size = option_number(line.super_options, "size");
  if (size != rounded_to_pages(facts.disk_bytes))
    return wrong("filesystem", "the root should hold " + std::to_string(facts.disk_bytes) + " bytes, it holds " +
                                   (size ? std::to_string(*size) : std::string("any number")));
  const auto inodes = option_number(line.super_options, "nr_inodes");
  if (inodes != facts.inodes)
    return wrong("filesystem", "the root should hold " + std::to_string(facts.inodes) + " inodes, it holds " +
                                   (inodes ? std::to_string(*inodes) : std::string("any number")));
  return {};
}

// What has been seen so far.
struct Seen {
  bool root = false, usr = false, proc = false, data = false;
  std::uint32_t proc_masks = 0;
};

Expected<void> judge_proc(const MountLine& line, Seen& seen) {
  if (line.mount_point != "/proc") {
    // A mask may show an emptier part of the same procfs.
    if (is_below(line.mount_point, "/proc")) return {};
    return wrong("proc", "a procfs at " + shown(line));
  }
  if (line.root != "/") return wrong("proc", "/proc is only a part of a procfs");
  if (!is_read_only(line)) return wrong("proc", "/proc can be written to");
  // Not "invisible": group 0 of the host, which a caller may be in, sees through that.
  const bool hides = has_word(line.super_options, "hidepid=ptraceable") || has_word(line.super_options, "hidepid=4");
  if (!hides) return wrong("proc", "/proc shows the processes of others");
  seen.proc = true;
  return {};
}

// Through a mount of the folder itself its sockets and FIFOs could be reached.
Expected<void> judge_data(const MountLine& line, Seen& seen) {
  if (line.type != "overlay") return wrong("filesystem", "/data is a " + escape(line.type, 40) + ", not an overlay");
  seen.data = true;
  return {};
}

Expected<void> judge_line(const MountLine& line, const FilesystemFacts& facts, Seen& seen) {
  if (!has_word(line.options, "nosuid")) return wrong("filesystem", shown(line) + " is mounted without nosuid");
  if (!has_word(line.options, "nodev") && !is_below(line.mount_point, "/dev"))
    return wrong("filesystem", shown(line) + " is mounted without nodev");
  if (!is_read_only(line) && !may_be_written(line)) return wrong("filesystem", shown(line) + " is mounted writable");
  if (line.mount_point == "/") {
    seen.root = true;
    TRY(judge_root(line, facts));
  }
  if (line.mount_point == "/usr") seen.usr = true;
  if (line.mount_point == "/data") TRY(judge_data(line, seen));
  if (line.mount_point == "/seed") return wrong("filesystem", "the seed is mounted still");
  if (line.type == "proc") TRY(judge_proc(line, seen));
  if (line.mount_point != "/proc" && is_below(line.mount_point, "/proc")) ++seen.proc_masks;
  return {};
}

}  // namespace

Expected<void> judge_mounts(std::string_view mountinfo, const FilesystemFacts& facts) {
  Seen seen;
  MountLine line;
  while (next_mount(mountinfo, line)) TRY(judge_line(line, facts, seen));
  if (!mountinfo.empty()) return wrong("filesystem", "a line of mountinfo has another form");
  if (!seen.root) return wrong("filesystem", "there is no mount at the root");
  if (!seen.usr) return wrong("filesystem", "/usr is not a mount of its own");
  if (seen.data != facts.has_data)
    return wrong("filesystem",
                 facts.has_data ? "the profile's folder is not at /data" : "there is a /data of nobody's");
  if (seen.proc != facts.proc_mounted)
    return wrong("proc",
                 facts.proc_mounted ? "there is no procfs at /proc" : "there is a procfs that nobody asked for");
  if (seen.proc && seen.proc_masks != facts.proc_masks)
    return wrong("proc", std::to_string(seen.proc_masks) + " parts of /proc are masked, " +
                             std::to_string(facts.proc_masks) + " should be");
  return {};
}

}  // namespace mayfly
