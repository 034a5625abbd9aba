#include "jail/builder/outside/dev_tree.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <string>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

struct Device {
  const char* name;
  unsigned minor_of_memory;  // major 1 (Documentation/admin-guide/devices.txt); tty is 5:0
};
constexpr std::array kDevices = {Device{"null", 3},   Device{"zero", 5},    Device{"full", 7},
                                 Device{"random", 8}, Device{"urandom", 9}, Device{"tty", 0}};

struct DevLink {
  const char* name;
  const char* target;
};
// shm lies in the jail's own tmpfs, so that its bytes are bounded and charged with all the others.
constexpr std::array kDevLinks = {DevLink{"fd", "/proc/self/fd"},       DevLink{"stdin", "/proc/self/fd/0"},
                                  DevLink{"stdout", "/proc/self/fd/1"}, DevLink{"stderr", "/proc/self/fd/2"},
                                  DevLink{"ptmx", "pts/ptmx"},          DevLink{"shm", "/run/shm"}};

dev_t number_of(const Device& device) {
  return std::string_view(device.name) == "tty" ? makedev(5, 0) : makedev(1, device.minor_of_memory);
}

// A node of our own, one that can be opened: a tmpfs in a user namespace, or a device cgroup, may forbid that.
bool make_node(int dev, const Device& device) {
  if (::mknodat(dev, device.name, S_IFCHR | 0666, number_of(device)) != 0) return false;
  const Fd probe(::openat(dev, device.name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (probe || errno == ENXIO) return true;  // ENXIO: /dev/tty without a terminal
  ::unlinkat(dev, device.name, 0);
  return false;
}

Expected<Fd> bind_of_host(int dev, const char* name) {
  const Fd target(::openat(dev, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0));
  if (!target) return failure("make mount point of device", errno, name);
  Fd source(::open_tree(AT_FDCWD, (std::string("/dev/") + name).c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!source) return failure("bind device", errno, name);
  if (set_attributes(source.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0) != 0)
    return failure("restrict device", errno, name);
  return source;
}

}  // namespace

Expected<DevTree> make_dev_tree() {
  const Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context) return failure("open tmpfs for /dev", errno);
  set_option(context.get(), "mode", "0755");
  set_option(context.get(), "size", "64k");
  DevTree dev;
  dev.tree = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (!dev.tree) return failure("mount tmpfs for /dev", errno);
  for (std::size_t i = 0; i < kDevices.size(); ++i) {
    dev.binds[i].name = kDevices[i].name;
    if (!make_node(dev.tree.get(), kDevices[i]))
      dev.binds[i].source = TRY(bind_of_host(dev.tree.get(), kDevices[i].name));
  }
  for (const DevLink& link : kDevLinks)
    if (::symlinkat(link.target, dev.tree.get(), link.name) != 0) return failure("make link of /dev", errno, link.name);
  if (::mkdirat(dev.tree.get(), "pts", 0755) != 0) return failure("make directory of /dev", errno, "pts");
  return dev;
}

Expected<void> attach_devices(const DevTree& dev, int directory) {
  for (const DeviceBind& bind : dev.binds)
    if (bind.source && attach(bind.source.get(), directory, bind.name) != 0)
      return failure("attach device", errno, bind.name);
  return {};
}

}  // namespace mayfly
