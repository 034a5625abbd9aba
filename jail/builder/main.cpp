// mayfly-builder: builds jails. The only process that clones, mounts and pivots (design, section 2). Started by the
// keeper with the descriptors of wire/startup.h; told what to build by the supervisor (wire/plan.h).
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/builder/faults.h"
#include "jail/builder/filter/jail_filter.h"
#include "jail/builder/host_facts.h"
#include "jail/builder/outside/clone_jail.h"
#include "jail/builder/outside/empty_proc.h"
#include "jail/builder/outside/loop.h"
#include "jail/builder/outside/normalise.h"
#include "jail/builder/outside/prepared_trees.h"
#include "jail/builder/outside/private_root.h"
#include "jail/os/log.h"
#include "jail/wire/bind_table.h"
#include "jail/wire/startup.h"

namespace mayfly {

namespace {

void close_on_exec_all() {
  for (const int fd : {kKeeperPidfd, kBuilderControl, kBuilderSupervisorPidfd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Expected<void> read_bind_table(BindTable& table) {
  const Fd file(kBuilderBindTable);
  const ssize_t count = ::pread(file.get(), &table, sizeof table, 0);
  if (count < 0) return failure("read bind table", errno);
  if (count != sizeof table || table.magic != BindTable::kMagic) return failure("check bind table", EPROTO);
  if (table.row_count == 0 || table.row_count > table.rows.size()) return failure("count rows of bind table", EINVAL);
  for (std::uint32_t i = 0; i < table.row_count; ++i) {
    const BindRow& row = table.rows[i];
    if (row.count > row.entries.size() || row.hide_count > row.hide.size())
      return failure("count entries of bind table", EINVAL);
  }
  return {};
}

// Rootless, a procfs may be refused (the host's has over-mounts): jails go without, and say so.
Expected<bool> prepare_proc(const HostFacts& facts, int root) {
  const Expected<void> mounted = mount_empty_proc(root);
  if (mounted) return true;
  if (facts.privilege == Privilege::Root) return tl::make_unexpected(mounted.error());
  log_failure("builder.no_proc", mounted.error());
  return false;
}

Expected<PrivateRoot> prepare(const BindTable& table, HostFacts& facts) {
  look_at_host(facts);
  normalise(facts.privilege);
  facts.filters = TRY(compile_jail_filters());
  PrivateRoot root = TRY(PrivateRoot::make(facts.privilege));
  PreparedTrees trees = TRY(PreparedTrees::open(table));
  TRY(root.attach());
  facts.proc_available = TRY(prepare_proc(facts, root.directory()));
  TRY(trees.assemble(root.directory()));
  TRY(root.enter());
  TRY(trees.finish(facts));
  if (facts.proc_available) choose_masks(facts);
  if (facts.privilege == Privilege::Root)
    if (const int error = keep_capabilities(); error != 0) return failure("keep capabilities across ids", error);
  if (const int error = load_filter(facts.filters.builder); error != 0)
    return failure("load the builder's filter", error);
  return root;
}

Expected<void> serve(HostFacts& facts) {
  BindTable table;
  TRY(read_bind_table(table));
  facts.privilege = table.rootless != 0 ? Privilege::Rootless : Privilege::Root;
  facts.uid_base = table.uid_base;
  const PrivateRoot root = TRY(prepare(table, facts));
  Nsids nsids = Nsids::open();
  NetworkParts parts;
  Workshop shop{
      facts, nsids, parts, root.host_proc(), root.network(), root.network_of_keeper(), kBuilderSupervisorPidfd};
  serve_orders(shop, {kKeeperPidfd, kBuilderControl}, table.made_ahead != 0 ? MakeAhead::Yes : MakeAhead::No);
  return {};
}

}  // namespace

}  // namespace mayfly

int main(int count, char** arguments) {
  mayfly::close_on_exec_all();
  mayfly::HostFacts facts;
  facts.faults = mayfly::Faults::from_arguments(count, arguments);
  facts.command_line = arguments[0];
  const char* last = arguments[count - 1];
  facts.command_line_size = static_cast<std::size_t>(last + std::strlen(last) - arguments[0]);
  if (const auto served = mayfly::serve(facts); !served) {
    mayfly::log_failure("builder.start_failed", served.error());
    return 1;
  }
  return 0;
}
