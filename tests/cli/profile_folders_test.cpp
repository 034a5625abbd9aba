#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "jail/cli/config.h"
#include "jail/cli/folder_judge.h"
#include "tests/cli/temporary_directory.h"

using namespace mayfly;

namespace {

// A directory that everybody may read, with `name` in it.
class Folders {
 public:
  Folders() { ::chmod(own_.path().c_str(), 0755); }
  std::string make(const std::string& name, mode_t mode = 0755) {
    const std::string path = own_.path() + "/" + name;
    std::filesystem::create_directories(path);
    ::chmod(path.c_str(), mode);
    return path;
  }
  [[nodiscard]] const std::string& path() const { return own_.path(); }

 private:
  test::TemporaryDirectory own_;
};

std::string why_not(const std::string& path) {
  const auto judged = judge_folder(path);
  return judged ? "allowed" : judged.error().text();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Expected<Settings> settings_of(const std::string& profiles) {
  auto parsed = parse_config("{\"profiles\": " + profiles + "}", "mayfly.jsonc");
  if (!parsed) return tl::make_unexpected(parsed.error());
  return read_settings(*parsed);
}

}  // namespace

TEST_CASE("a directory that everybody may read is shown to jails") {
  Folders folders;
  CHECK(why_not(folders.make("class/exercise")) == "allowed");
}

TEST_CASE("what is no plain absolute path of a directory is refused, saying why") {
  Folders folders;
  const std::string real = folders.make("real");
  std::ofstream(folders.path() + "/file") << "x";
  std::filesystem::create_symlink(real, folders.path() + "/link");
  CHECK(has(why_not("exercise"), "absolute"));
  CHECK(has(why_not("/"), "absolute"));
  CHECK(has(why_not(real + "/"), "absolute"));
  CHECK(has(why_not(real + "/../real"), "absolute"));
  CHECK(has(why_not(folders.path() + "/absent"), "No such file"));
  CHECK(has(why_not(folders.path() + "/file"), "no directory"));
  CHECK(has(why_not(folders.path() + "/link"), "symlink"));
  folders.make("real/below");
  CHECK(has(why_not(folders.path() + "/link/below"), "symlink"));
  CHECK(has(why_not("/tmp/" + std::string(300, 'x')), "longer"));
  for (const char* path : {"/proc", "/proc/1", "/sys/kernel", "/dev/shm", "/run/mayfly"})
    CHECK(has(why_not(path), "not for jails"));
}

TEST_CASE("a directory that others could exchange, or that jails cannot read, is refused") {
  Folders folders;
  folders.make("open", 0777);
  CHECK(has(why_not(folders.make("open/below")), "another user"));
  if (::geteuid() == 0) {
    CHECK(has(why_not(folders.make("closed", 0700)), "chmod o+rx"));
    folders.make("theirs");
    const std::string below = folders.make("theirs/below");
    REQUIRE(::chown((folders.path() + "/theirs").c_str(), 61234, 61234) == 0);
    CHECK(has(why_not(below), "another user"));
    // In /tmp its owner could put something else in its place.
    const std::string top = folders.path() + "/top";
    std::filesystem::create_directories(top);
    ::chmod(top.c_str(), 01777);
    const std::string theirs = folders.make("top/theirs");
    CHECK(why_not(theirs) == "allowed");
    REQUIRE(::chown(theirs.c_str(), 61234, 61234) == 0);
    CHECK(has(why_not(theirs), "another user"));
    // What is theirs may be shown; only what leads there may not be.
    REQUIRE(::chown(below.c_str(), 61234, 61234) == 0);
    REQUIRE(::chown((folders.path() + "/theirs").c_str(), 0, 0) == 0);
    CHECK(why_not(below) == "allowed");
  }
}

TEST_CASE("profiles name seed and readonly, the built-in ones too, and each gets a row of its own") {
  Folders folders;
  const std::string seed = folders.make("seed"), data = folders.make("data");
  const auto settings =
      settings_of("{\"class\": {\"language\": \"python\", \"seed\": \"" + seed + "\", \"readonly\": \"" + data +
                  "\"}, \"plain\": {\"shell\": [\"/bin/sh\"]}, " + "\"python\": {\"readonly\": \"" + data + "\"}}");
  REQUIRE(settings);
  const Catalogue& catalogue = settings->policy.catalogue;
  CHECK(catalogue.profile("class")->seed == seed);
  CHECK(catalogue.profile("class")->readonly == data);
  CHECK(catalogue.profile("python")->language == "python");
  CHECK(catalogue.profile("python")->readonly == data);
  CHECK(catalogue.profile("run")->bind_row == 0);
  CHECK(catalogue.profile("plain")->bind_row == 0);
  // In the order of the catalogue, in which the table's rows are made.
  CHECK(catalogue.profile("python")->bind_row == 1);
  CHECK(catalogue.profile("class")->bind_row == 2);
}

TEST_CASE("which directories a profile's folders are is remembered, and changes when one is exchanged") {
  Folders folders;
  const std::string data = folders.make("data");
  const auto read = [&] {
    const auto settings = settings_of("{\"class\": {\"shell\": [\"/bin/sh\"], \"seed\": \"" + data +
                                      "\", \"readonly\": \"" + data + "\"}}");
    REQUIRE(settings);
    return *settings->policy.catalogue.profile("class");
  };
  const Profile before = read();
  CHECK_FALSE(before.seed_is.empty());
  CHECK(before.readonly_is == before.seed_is);
  std::ofstream(data + "/file") << "what is in it does not matter";
  CHECK(read().seed_is == before.seed_is);
  std::filesystem::rename(data, data + ".old");
  folders.make("data");
  CHECK(read().seed_is != before.seed_is);
  CHECK(read().readonly_is != before.readonly_is);
}

TEST_CASE("a folder that is not for jails is refused by the key that names it") {
  const auto settings = settings_of("{\"class\": {\"language\": \"python\", \"seed\": \"/proc/self\"}}");
  REQUIRE_FALSE(settings);
  CHECK(has(settings.error().text(), "profiles.class.seed"));
  CHECK(has(settings.error().text(), "mayfly.jsonc:1"));
}

TEST_CASE("at most fifteen profiles have folders") {
  Folders folders;
  const std::string data = folders.make("data");
  std::string text = "{";
  for (int i = 0; i < 15; ++i)
    text += "\"p" + std::to_string(i) + "\": {\"shell\": [\"/bin/sh\"], \"readonly\": \"" + data + "\"},";
  CHECK(settings_of(text + "\"last\": {\"shell\": [\"/bin/sh\"]}}"));
  const auto more = settings_of(text + "\"last\": {\"shell\": [\"/bin/sh\"], \"readonly\": \"" + data + "\"}}");
  REQUIRE_FALSE(more);
  CHECK(has(more.error().text(), "15"));
}

TEST_CASE("no folder holds the service's own directories, or lies in them, whatever they are called") {
  Folders folders;
  const std::string state = folders.make("service/state"), beside = folders.make("service-files");
  std::filesystem::create_symlink(folders.path() + "/service", folders.path() + "/link");
  const auto with = [](const std::string& folder) {
    return Catalogue({Profile{"class", "python", {}, "", folder, 1}}, {});
  };
  for (const std::string& spelt : {state, state + "/", folders.path() + "/link/state",
                                   folders.path() + "/service-files/../service/state", state + "/not/there/yet"}) {
    CAPTURE(spelt);
    CHECK(keep_apart(with(beside), {spelt}));
    CHECK_FALSE(keep_apart(with(folders.path()), {spelt}));
    CHECK_FALSE(keep_apart(with(state), {spelt}));
  }
  CHECK_FALSE(keep_apart(with(folders.make("service/state/below")), {state}));
}

// They lead nowhere (tests/builder/folders_test.cpp), and a service that starts is not kept out by one.
TEST_CASE("a folder with a socket or a FIFO in it is shown to jails") {
  Folders folders;
  const std::string folder = folders.make("class");
  folders.make("class/deep");
  REQUIRE(::mkfifo((folder + "/deep/fifo").c_str(), 0644) == 0);
  CHECK(why_not(folder) == "allowed");
}

TEST_CASE("the profile with which a host is examined takes no folders") {
  Folders folders;
  const auto settings = settings_of("{\"run\": {\"seed\": \"" + folders.make("seed") + "\"}}");
  REQUIRE_FALSE(settings);
  CHECK(has(settings.error().text(), "built in"));
}
