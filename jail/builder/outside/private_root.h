// The builder's own root: a small tmpfs that holds the prepared parts and nothing of the host. Jails start from a copy
// of this mount namespace, so that they never see, and need not detach, the host's mount table.
// Owner: builder, once. Side: outside. Fails where namespaces are refused (doctor says how to allow them).
//   PrivateRoot root = TRY(PrivateRoot::make(privilege));   namespaces entered, the root made, attached nowhere
//   ... open what is needed of the host's tree, which is still complete ...
//   TRY(root.attach());                                     attached over the host's /usr, so that it can be mounted on
//   ... prepare trees below root.directory() ...
//   TRY(root.enter());                                      the host's tree is gone
// Layout: /trees/<row>/<name>, /proc (of an empty pid namespace), /jail (where each jail mounts its root),
// /empty/directory (mode 555: a hidden directory of PATH must look empty, not forbidden, or a missing command would be
// "Permission denied") and /empty/file (mode 000): what masks are made of.
#pragma once

#include "jail/builder/host_facts.h"
#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

class PrivateRoot {
 public:
  static Expected<PrivateRoot> make(Privilege privilege);

  [[nodiscard]] int directory() const { return root_.get(); }
  [[nodiscard]] int host_proc() const { return host_proc_.get(); }  // to write id maps; never reaches a jail
  [[nodiscard]] int network() const { return network_.get(); }      // the builder's own namespace: no link in it
  [[nodiscard]] int network_of_keeper() const { return host_network_.get(); }  // what we were started in

  Expected<void> attach();
  Expected<void> enter();

 private:
  Fd root_, host_proc_, host_network_, network_;
};

}  // namespace mayfly
