// mayfly-builder: builds jails. The only process that clones, mounts and pivots (design, section 2). Started by the
// keeper with the descriptors of wire/startup.h; told what to build by the supervisor (wire/plan.h).
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

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

// The table is large, and every page that we own is copied, or marked for it, by each clone: it is mapped while we
// start and gone afterwards.
class MappedTable {
 public:
  static Expected<MappedTable> map() {
    const Fd file(kBuilderBindTable);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failure("read size of bind table", errno);
    if (status.st_size != sizeof(BindTable)) return failure("check size of bind table", EPROTO);
    void* memory = ::mmap(nullptr, sizeof(BindTable), PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory == MAP_FAILED) return failure("map bind table", errno);
    return MappedTable(static_cast<const BindTable*>(memory));
  }
  MappedTable(MappedTable&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}
  MappedTable& operator=(MappedTable&&) = delete;
  ~MappedTable() {
    if (table_ != nullptr) ::munmap(const_cast<BindTable*>(table_), sizeof(BindTable));
  }
  const BindTable& operator*() const { return *table_; }

 private:
  explicit MappedTable(const BindTable* table) : table_(table) {}
  const BindTable* table_;
};

Expected<void> check_bind_table(const BindTable& table) {
  if (table.magic != BindTable::kMagic) return failure("check bind table", EPROTO);
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
  if (const int error = name_own_namespaces(facts, root.host_proc()); error != 0)
    return failure("name own namespaces", error);
  if (facts.privilege == Privilege::Root)
    if (const int error = keep_capabilities(); error != 0) return failure("keep capabilities across ids", error);
  if (const int error = load_filter(facts.filters.builder); error != 0)
    return failure("load the builder's filter", error);
  return root;
}

Expected<PrivateRoot> prepare_from_table(HostFacts& facts) {
  const MappedTable table = TRY(MappedTable::map());
  TRY(check_bind_table(*table));
  facts.privilege = (*table).rootless != 0 ? Privilege::Rootless : Privilege::Root;
  facts.uid_base = (*table).uid_base;
  facts.makes_ahead = (*table).made_ahead != 0;
  return prepare(*table, facts);
}

Expected<void> serve(HostFacts& facts) {
  const PrivateRoot root = TRY(prepare_from_table(facts));
  ::malloc_trim(0);  // what starting took: each clone would copy its page tables
  Nsids nsids = Nsids::open();
  PartsAhead parts;
  Workshop shop{
      facts, nsids, parts, root.host_proc(), root.network(), root.network_of_keeper(), kBuilderSupervisorPidfd};
  serve_orders(shop, {kKeeperPidfd, kBuilderControl}, facts.makes_ahead ? MakeAhead::Yes : MakeAhead::No);
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
