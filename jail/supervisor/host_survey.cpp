#include "jail/supervisor/host_survey.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>

#include "jail/spec/escape.h"
#include "jail/supervisor/measure_mounts.h"

namespace mayfly {
namespace {

struct Cause {
  std::string cause, fix;
};

std::string text_of(const char* path) {
  const Fd file{::open(path, O_RDONLY | O_CLOEXEC)};
  std::string text;
  std::array<char, 4096> part;
  while (file && text.size() < (1u << 20)) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// Mount points below /proc: they keep the kernel from showing a fresh procfs in a user namespace (mnt_already_visible).
std::string mounts_over_proc(std::string_view mountinfo) {
  std::string list;
  MountLine line;
  while (next_mount(mountinfo, line)) {
    if (!line.mount_point.starts_with("/proc/")) continue;
    if (line.type == "binfmt_misc" || line.type == "autofs") continue;  // an empty directory is under it: allowed
    if (list.size() < 300) list += (list.empty() ? "" : " ") + escape(unescape_mount(line.mount_point), 100);
  }
  return list;
}

Cause why_no_proc(const HostTexts& texts, bool root) {
  const std::string over = mounts_over_proc(texts.mountinfo);
  if (!over.empty())
    return {"parts of this host's /proc are covered (" + over + "), so the kernel shows no new one in a user namespace",
            root ? "umount " + over : "run the service as root: sudo mayfly serve"};
  return {"the builder could not mount a procfs in a namespace of its own",
          "run the service as root: sudo mayfly serve"};
}

Cause why_no_landlock(const HostTexts& texts) {
  const std::string active = trimmed(texts.security_modules);
  const std::string others = active.empty() ? "capability" : active;
  return {active.empty() ? "this kernel (" + texts.release + ") has no Landlock"
                         : "Landlock is not among the active security modules: " + active,
          "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX lsm=landlock," + others +
              "\"' > /etc/default/grub.d/landlock.cfg && update-grub && reboot"};
}

HostControl from_group(Control control, const CgroupHost& groups) {
  const GroupController found = groups.controller(control);
  return {control, found.expected, found.cause, found.fix};
}

HostControl of_identity(bool root) {
  if (root) return {Control::Identity, Measured::UserNamespace, "", ""};
  return {Control::Identity, Measured::UserNamespaceSharedUid, "not root: every jail has the caller's one uid outside",
          "sudo mayfly serve"};
}

HostControl judge(Control control, const HostTexts& texts, const CgroupHost& groups, const BuilderFacts& builder,
                  bool root) {
  switch (control) {
    case Control::Network:
      return {control, Measured::None, "", ""};
    case Control::Filesystem:
      return {control, Measured::Ephemeral, "", ""};
    case Control::Environment:
      return {control, Measured::Cleared, "", ""};
    case Control::Identity:
      return of_identity(root);
    case Control::Privileges:
      return {control, Measured::None, "", ""};
    case Control::Syscalls:
      return {control, Measured::Seccomp, "", ""};
    case Control::Files: {
      if (builder.landlock_abi != 0) return {control, Measured::Landlock, "", ""};
      const Cause why = why_no_landlock(texts);
      return {control, Measured::Absent, why.cause, why.fix};
    }
    case Control::Memory:
    case Control::Cpu:
    case Control::Processes:
      return from_group(control, groups);
    case Control::Time:
      return {control, Measured::Supervisor, "", ""};
    case Control::Output:
      return {control, Measured::Witness, "", ""};
    case Control::Proc: {
      if (builder.proc_available) return {control, Measured::Private, "", ""};
      const Cause why = why_no_proc(texts, root);
      return {control, Measured::Absent, why.cause, why.fix};
    }
  }
  return {control, Measured::Absent, "", ""};
}

}  // namespace

HostTexts HostTexts::read() {
  HostTexts texts;
  utsname system{};
  if (::uname(&system) == 0) texts.release = system.release;
  texts.mountinfo = text_of("/proc/self/mountinfo");
  texts.security_modules = text_of("/sys/kernel/security/lsm");
  return texts;
}

Host survey_host(const HostTexts& texts, const CgroupHost& groups, const BuilderFacts& builder, bool root,
                 ControlSet required) {
  Host host;
  host.kernel = texts.release;
  host.root = root;
  host.cgroups = groups.kind_name();
  host.required = required;
  for (const Control control : kAllControls) host.controls.push_back(judge(control, texts, groups, builder, root));
  return host;
}

}  // namespace mayfly
