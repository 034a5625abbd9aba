#include "jail/cli/bind_rows.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "jail/os/memfd.h"

using namespace mayfly;

namespace {

BindTable table_of(UsrLocal usr_local) {
  const auto table = make_bind_table({Privilege::Root, 1'900'000'000, MadeAhead::Yes, usr_local},
                                     Programs::in("/nonexistent"), Catalogue::built_in());
  REQUIRE(table);
  return *table;
}

bool hides(const BindTable& table, const std::string& path) {
  for (std::uint32_t i = 0; i < table.rows[0].hide_count; ++i)
    if (path == table.rows[0].hide[i].data()) return true;
  return false;
}

}  // namespace

TEST_CASE("row 0 binds /usr to usr and hides /usr/local unless it is configured") {
  const BindTable table = table_of(UsrLocal::Hidden);
  CHECK(table.magic == BindTable::kMagic);
  CHECK(table.rootless == 0);
  CHECK(table.uid_base == 1'900'000'000);
  CHECK(table.row_count == 1);
  CHECK(table.rows[0].count == 1);
  CHECK(std::string(table.rows[0].entries[0].source) == "/usr");
  CHECK(std::string(table.rows[0].entries[0].target) == "usr");
  CHECK(hides(table, "usr/local") == std::filesystem::exists("/usr/local"));
  CHECK_FALSE(hides(table_of(UsrLocal::Shown), "usr/local"));
}

TEST_CASE("our own installed programs are hidden as a whole directory") {
  const auto table = make_bind_table({Privilege::Rootless, 0, MadeAhead::No, UsrLocal::Shown},
                                     Programs::in("/usr/libexec/mayfly"), Catalogue::built_in());
  REQUIRE(table);
  CHECK(hides(*table, "usr/libexec/mayfly"));
  CHECK(table->rootless == 1);
  CHECK(table->made_ahead == 0);
}

TEST_CASE("a directory that is hidden already is not hidden twice") {
  const auto table = make_bind_table({Privilege::Root, 0, MadeAhead::No, UsrLocal::Hidden},
                                     Programs::in("/usr/local/libexec/mayfly"), Catalogue::built_in());
  REQUIRE(table);
  CHECK_FALSE(hides(*table, "usr/local/libexec/mayfly"));
}

TEST_CASE("a profile with folders has a row of its own, which is row 0 with them") {
  Profile plain{"plain", "", {"/bin/sh"}, "", ""}, both{"class", "python", {}, "/srv/seed", "/srv/data", 1};
  Profile second{"other", "python", {}, "", "/srv/other", 2};
  const auto table = make_bind_table({Privilege::Root, 0, MadeAhead::No, UsrLocal::Hidden},
                                     Programs::in("/nonexistent"), Catalogue({plain, both, second}, {}));
  REQUIRE(table);
  REQUIRE(table->row_count == 3);
  const BindRow& row = table->rows[1];
  REQUIRE(row.count == 3);
  CHECK(std::string(row.entries[0].source) == "/usr");
  CHECK(std::string(row.entries[1].source) == "/srv/data");
  CHECK(std::string(row.entries[1].target) == "data");
  CHECK(std::string(row.entries[2].source) == "/srv/seed");
  CHECK(std::string(row.entries[2].target) == "seed");
  CHECK(row.entries[2].optional == 0);
  CHECK(row.hide_count == table->rows[0].hide_count);
  CHECK(table->rows[2].count == 2);
  second.bind_row = 3;
  CHECK_FALSE(make_bind_table({Privilege::Root, 0, MadeAhead::No, UsrLocal::Hidden}, Programs::in("/nonexistent"),
                              Catalogue({plain, both, second}, {})));
}

TEST_CASE("the table travels sealed and whole") {
  const BindTable table = table_of(UsrLocal::Hidden);
  const auto sealed = seal_bind_table(table);
  REQUIRE(sealed);
  CHECK(sealed_size(*sealed, 1 << 20).value() == sizeof(BindTable));
}
