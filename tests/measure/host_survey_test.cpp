// What is said of a host: every control that is missing has a cause of this host and a command.
#include <catch2/catch.hpp>

#include "jail/supervisor/host_survey.h"

using namespace mayfly;

namespace {

HostTexts texts() {
  HostTexts host;
  host.release = "6.1.0";
  host.mountinfo = "21 26 0:20 / /proc rw - proc proc rw\n";
  host.security_modules = "capability,landlock,yama";
  return host;
}

const HostControl& of(const Host& host, Control control) {
  for (const HostControl& row : host.controls)
    if (row.control == control) return row;
  throw std::out_of_range("no such control");
}

Host survey(const HostTexts& host, const BuilderFacts& builder, bool root) {
  return survey_host(host, *CgroupHost::none("no cgroups here"), builder, root, default_requirements());
}

}  // namespace

TEST_CASE("every control is expected to be something, in their order") {
  const Host host = survey(texts(), {true, 3}, true);
  REQUIRE(host.controls.size() == kControlCount);
  for (std::size_t i = 0; i < kControlCount; ++i) CHECK(host.controls[i].control == kAllControls[i]);
  CHECK(host.kernel == "6.1.0");
  CHECK(host.cgroups == "none");
  CHECK(host.required == default_requirements());
}

TEST_CASE("a control that is there names neither cause nor fix") {
  const Host host = survey(texts(), {true, 3}, true);
  for (const Control control : {Control::Network, Control::Identity, Control::Files, Control::Proc}) {
    CHECK(of(host, control).cause.empty());
    CHECK(of(host, control).fix.empty());
  }
}

TEST_CASE("a control that is missing has the cause and a command") {
  HostTexts host = texts();
  host.security_modules = "capability,yama";
  host.mountinfo += "40 21 0:5 / /proc/sys ro - proc proc rw\n41 21 0:5 / /proc/kcore rw - tmpfs tmpfs rw\n";
  const Host found = survey(host, {false, 0}, false);
  CHECK(of(found, Control::Files).expected == Measured::Absent);
  CHECK(of(found, Control::Files).cause.find("capability,yama") != std::string::npos);
  CHECK(of(found, Control::Files).fix.find("lsm=landlock,capability,yama") != std::string::npos);
  CHECK(of(found, Control::Proc).expected == Measured::Absent);
  CHECK(of(found, Control::Proc).cause.find("/proc/sys /proc/kcore") != std::string::npos);
  CHECK(of(found, Control::Proc).fix == "run the service as root: sudo mayfly serve");
  CHECK(of(found, Control::Identity).expected == Measured::UserNamespaceSharedUid);
  CHECK(of(found, Control::Memory).expected == Measured::Unlimited);
  CHECK(of(found, Control::Processes).expected == Measured::Rlimit);
  CHECK(of(found, Control::Memory).cause == "no cgroups here");
}

TEST_CASE("mounts on empty directories of /proc do not count as covering it") {
  HostTexts host = texts();
  host.mountinfo += "40 21 0:5 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n";
  CHECK(of(survey(host, {false, 3}, true), Control::Proc).cause.find("covered") == std::string::npos);
}
