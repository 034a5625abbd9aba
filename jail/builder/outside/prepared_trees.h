// The mount trees that every jail gets a copy of: per row of the bind table one tree for each name at the top of a
// jail's root (usr, etc, dev, data ...), read-only, nosuid, nodev (but dev) throughout, hidden paths covered.
// Owner: builder, once. Side: outside. Sources are opened while the host's tree is there, trees assembled when the
// builder's root is attached, and finished once it has been entered:
//   PreparedTrees trees = TRY(PreparedTrees::open(table));
//   TRY(root.attach());  TRY(trees.assemble(root.directory()));  TRY(root.enter());  TRY(trees.finish(facts));
// Fails when a source that is not optional is absent, or when something to be hidden cannot be covered. A profile's
// folder that is gone, or that cannot be shown through an overlay (tree_copy.h), is that profile's trouble alone: its
// row is marked, and no jail is built from it.
#pragma once

#include <string>
#include <vector>

#include "jail/builder/host_facts.h"
#include "jail/builder/outside/dev_tree.h"
#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/wire/bind_table.h"

namespace mayfly {

class PreparedTrees {
 public:
  static Expected<PreparedTrees> open(const BindTable& table);

  Expected<void> assemble(int root_directory);
  Expected<void> finish(HostFacts& facts);  // fills facts.rows; the trees live as long as the builder

 private:
  struct Bind {
    std::string target;
    std::string path;  // on the host, for messages
    Fd source;
    bool is_directory = true;
  };
  struct Row {
    std::vector<Bind> binds;
    std::vector<std::string> hidden;
    int error = 0;  // why a folder of its profile could not be opened
  };

  static Expected<Row> open_row(const BindRow& row);
  Expected<void> attach_bases(int root);
  Expected<void> assemble_row(int root, const Row& row, const std::string& folder);
  Expected<void> finish_row(const Row& row, const std::string& folder, const Faults& faults, PreparedRow& prepared);

  std::vector<Row> rows_;
  Fd etc_;
  DevTree dev_;
};

}  // namespace mayfly
