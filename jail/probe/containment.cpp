#include "jail/probe/containment.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "jail/os/clock.h"
#include "jail/os/namespace_switches.h"
#include "jail/probe/containment_run.h"

namespace mayfly {
namespace {

constexpr Milliseconds kAnswerLimit = 15_s;
constexpr std::size_t kMostProbe = 4u << 20;  // kMaxFiles

// Every jail of an examination, where a row does not say otherwise.
LimitRequest small_limits() {
  LimitRequest limits;
  limits.wall_ms = 20'000;
  limits.memory_bytes = 64u << 20;
  limits.processes = 32;
  limits.disk_bytes = 16u << 20;
  return limits;
}

Expected<std::string> bytes_of(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return failure("open the probe program", errno, path);
  std::string bytes;
  std::array<char, 65536> part;
  while (bytes.size() <= kMostProbe) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0) return failure("read the probe program", errno, path);
    if (count == 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(count));
  }
  return failure("send the probe program", EFBIG, path);
}

// Real things outside for attacks to reach for; gone when the examination is over.
class Bait {
 public:
  static Expected<Bait> lay();
  // `host_file`: one that this process can read and that no jail may (a program of ours: promise P12). Nothing is
  // written for it, so an examination that is killed leaves nothing.
  [[nodiscard]] std::vector<std::string> arguments(const std::string& host_file) const {
    return {"attacks", std::to_string(port_), abstract_name_, std::to_string(::getpid()), host_file};
  }

 private:
  Bait() = default;
  Expected<void> listen_on_loopback();
  Expected<void> listen_without_path();
  Fd tcp_, abstract_;
  int port_ = 0;
  std::string abstract_name_;
};

Expected<Bait> Bait::lay() {
  Bait bait;
  TRY(bait.listen_on_loopback());
  TRY(bait.listen_without_path());
  return bait;
}

Expected<void> Bait::listen_on_loopback() {
  tcp_ = Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool listens = tcp_ && ::bind(tcp_.get(), generic, size) == 0 && ::listen(tcp_.get(), 8) == 0 &&
                       ::getsockname(tcp_.get(), generic, &size) == 0;
  if (!listens) return failure("listen on loopback for the examination", errno);
  port_ = ntohs(address.sin_port);
  return {};
}

Expected<void> Bait::listen_without_path() {
  abstract_ = Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  abstract_name_ = "mayfly-probe-" + std::to_string(::getpid()) + "-" + std::to_string(port_);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  abstract_name_.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract_name_.size());
  const bool listens = abstract_ && ::bind(abstract_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::listen(abstract_.get(), 8) == 0;
  if (!listens) return failure("listen on an abstract socket for the examination", errno);
  return {};
}

// Why an attack of this name ended as it did.
Attack judge(const std::string& name, const ProbeReport& inside, const ControlOutcome& outside) {
  Attack attack{name, AttackVerdict::NotProvable, "no answer", "not tried: " + outside.not_tried};
  const ProbeLine* in = inside.find(name);
  const ProbeLine* out = outside.report.find(name);
  if (outside.not_tried.empty()) attack.outside = out == nullptr ? "no answer" : out->held ? out->answer : "works";
  if (in == nullptr) return attack;
  attack.inside = in->held ? in->answer : "works";
  const bool tried = !in->answer.starts_with("not tried");
  if (!in->held)
    attack.verdict = AttackVerdict::Broken;
  else if (tried && out != nullptr && !out->held)
    attack.verdict = AttackVerdict::Held;
  return attack;
}

class Examination {
 public:
  Examination(SupervisorClient& client, std::string probe_path, std::string probe_bytes)
      : client_(client), probe_path_(std::move(probe_path)), probe_bytes_(std::move(probe_bytes)) {}
  Expected<Containment> run();

 private:
  Expected<void> ask_host();
  Expected<void> attack_from_inside();
  Expected<void> meet_limits();
  Expected<void> meet_folders(const std::string& profile);
  Expected<void> meet_memory();
  Expected<void> meet_refusal(const char* name, const std::string& amount);
  Expected<void> meet_clock(const char* name, const char* seconds, const LimitRequest& limits, Ending expected);
  Expected<JailOutcome> jail(const std::vector<std::string>& arguments, const LimitRequest& limits);
  void compare_controls(const Controls& controls);
  void add(Attack attack);
  bool is_ruled_out();
  void compare_with_expected();

  SupervisorClient& client_;
  std::string probe_path_, probe_bytes_;
  Containment found_;
  bool have_controls_ = false;
};

Expected<void> Examination::ask_host() {
  TRY(client_.ask_host());
  const Microseconds deadline = monotonic_now() + kAnswerLimit;
  for (;;) {
    const FromSupervisor message = TRY(next_message(client_, deadline));
    if (const auto* fault = std::get_if<Fault>(&message))
      return failure("ask the supervisor about its host", 0, {}, fault->text);
    if (const auto* host = std::get_if<Host>(&message)) {
      found_.host = *host;
      return {};
    }
  }
}

Expected<JailOutcome> Examination::jail(const std::vector<std::string>& arguments, const LimitRequest& limits) {
  JailOutcome outcome = TRY(run_in_jail(client_, probe_bytes_, {arguments, limits}));
  if (outcome.result.ending == Ending::Failed || outcome.result.ending == Ending::Refused)
    return failure("build a jail to examine", outcome.result.failed_errno,
                   std::string(name(outcome.result.failed_step)), outcome.result.text);
  compare_controls(outcome.controls);
  return outcome;
}

void Examination::compare_controls(const Controls& controls) {
  if (!have_controls_)
    found_.controls = controls;
  else if (!(found_.controls == controls))
    found_.problems.emplace_back("two jails reported different controls");
  have_controls_ = true;
}

void Examination::add(Attack attack) {
  if (attack.verdict == AttackVerdict::Broken)
    found_.problems.push_back("the attack " + attack.name + " was not held: inside " + attack.inside);
  else if (attack.inside == "no answer")
    found_.problems.push_back("the attack " + attack.name + " gave no answer from inside");
  found_.attacks.push_back(std::move(attack));
}

Expected<void> Examination::attack_from_inside() {
  const Bait bait = TRY(Bait::lay());
  const ControlOutcome outside = run_outside(probe_path_, bait.arguments(probe_path_));
  const JailOutcome inside = TRY(jail(bait.arguments(probe_path_), small_limits()));
  std::vector<std::string> names;
  for (const ProbeReport* report : {&inside.report, &outside.report})
    for (const ProbeLine& line : report->lines)
      if (std::find(names.begin(), names.end(), line.attack) == names.end()) names.push_back(line.attack);
  if (inside.report.lines.empty())
    found_.problems.push_back("the probe said nothing inside; its jail ended " +
                              std::string(name(inside.result.ending)));
  for (const std::string& attack : names) add(judge(attack, inside.report, outside));
  return {};
}

// A limit that ends the jail: what counts is the ending.
Attack judged_by_ending(const char* name, Ending expected, const JailOutcome& inside, const ControlOutcome& outside) {
  Attack attack = judge(name, inside.report, outside);
  attack.inside = "ending " + std::string(mayfly::name(inside.result.ending));
  const ProbeLine* out = outside.report.find(name);
  if (inside.result.ending != expected)
    attack.verdict = AttackVerdict::Broken;
  else
    attack.verdict = out != nullptr && !out->held ? AttackVerdict::Held : AttackVerdict::NotProvable;
  return attack;
}

Expected<void> Examination::meet_memory() {
  if (!found_.controls.is_present(Control::Memory)) {
    add({"memory", AttackVerdict::Unlimited, "not tried", "not tried"});
    return {};
  }
  const std::vector<std::string> arguments = {"memory", std::to_string(std::size_t{128} << 20)};
  const ControlOutcome outside = run_outside(probe_path_, arguments);
  add(judged_by_ending("memory", Ending::MemoryLimit, TRY(jail(arguments, small_limits())), outside));
  return {};
}

Expected<void> Examination::meet_refusal(const char* name, const std::string& amount) {
  const ControlOutcome outside = run_outside(probe_path_, {name, amount});
  add(judge(name, TRY(jail({name, amount}, small_limits())).report, outside));
  return {};
}

Expected<void> Examination::meet_clock(const char* name, const char* seconds, const LimitRequest& limits,
                                       Ending expected) {
  const ControlOutcome outside = run_outside(probe_path_, {name, seconds});
  add(judged_by_ending(name, expected, TRY(jail({name, seconds}, limits)), outside));
  return {};
}

Expected<void> Examination::meet_limits() {
  TRY(meet_memory());
  TRY(meet_refusal("processes", "64"));
  TRY(meet_refusal("disk", std::to_string(std::size_t{24} << 20)));
  // Without a group that counts CPU time it is an rlimit that ends the program, in whole seconds and one late.
  const bool is_counted = found_.controls.is_present(Control::Cpu);
  LimitRequest little_cpu = small_limits();
  little_cpu.cpu_ms = is_counted ? 200 : 1000;
  TRY(meet_clock("cpu", is_counted ? "1" : "3", little_cpu, Ending::CpuLimit));
  LimitRequest little_time = small_limits();
  little_time.wall_ms = 200;
  return meet_clock("sleep", "1", little_time, Ending::TimeLimit);
}

// A jail of a profile that names folders is attacked where it differs from the others. What cannot be built is that
// profile's trouble alone. Its limits are those of its profile: a large seed needs its room.
Expected<void> Examination::meet_folders(const std::string& profile) {
  ProfileFolders& shown = found_.folders.emplace_back(ProfileFolders{profile, {}});
  const Expected<JailOutcome> inside = run_in_jail(client_, probe_bytes_, {{"write-data", "/data"}, {}, profile});
  const bool is_built = inside && inside->result.ending != Ending::Failed;
  if (!is_built) {
    found_.problems.push_back("no jail of the profile " + profile +
                              " can be built: " + (inside ? inside->result.text : inside.error().text()));
    return {};
  }
  compare_controls(inside->controls);
  shown.folders = inside->result.folders;
  if (std::find(shown.folders.begin(), shown.folders.end(), "readonly") == shown.folders.end()) return {};
  Attack attack = judge("write-data", inside->report, run_outside(probe_path_, {"write-data", "/tmp"}));
  attack.name += " (" + profile + ")";
  add(std::move(attack));
  return {};
}

// Where this host lacks a required control no jail starts, and so none can be attacked: the controls stay unmeasured.
bool Examination::is_ruled_out() {
  Controls possible;
  for (const HostControl& control : found_.host.controls) possible.set(control.control, control.expected);
  const auto missing = possible.first_missing(found_.host.required);
  if (!missing) return false;
  for (const HostControl& control : found_.host.controls)
    if (control.control == *missing)
      found_.problems.push_back("the required control " + std::string(name(*missing)) +
                                " is absent on this host, so that no jail starts: " + control.cause +
                                "; to change that: " + control.fix);
  return true;
}

void Examination::compare_with_expected() {
  for (const HostControl& expected : found_.host.controls)
    if (found_.controls.at(expected.control) != expected.expected)
      found_.problems.push_back("the control " + std::string(name(expected.control)) + " was expected to be " +
                                std::string(name(expected.expected)) + " and is " +
                                std::string(name(found_.controls.at(expected.control))));
  if (const auto missing = found_.controls.first_missing(found_.host.required))
    found_.problems.push_back("the required control " + std::string(name(*missing)) + " is missing");
}

// A service may run as root where its front end does not: the switches that bind ordinary users alone are no cause
// before the engine has failed to answer.
Failure explained(const Failure& silence) {
  const EngineUser user = ::geteuid() == 0 ? EngineUser::Root : EngineUser::Ordinary;
  const auto refusal = namespaces_refused(NamespaceSwitches::read(), user);
  return refusal ? Failure{"build a jail on this host", 0, {}, refusal->text()} : silence;
}

Expected<Containment> Examination::run() {
  TRY(namespaces_not_ruled_out(NamespaceSwitches::read(), EngineUser::Root));
  if (const Expected<void> answered = ask_host(); !answered) return tl::make_unexpected(explained(answered.error()));
  if (is_ruled_out()) return std::move(found_);
  TRY(attack_from_inside());
  TRY(meet_limits());
  for (const std::string& profile : found_.host.with_folders) TRY(meet_folders(profile));
  compare_with_expected();
  return std::move(found_);
}

}  // namespace

Expected<Containment> examine(SupervisorClient& client, const std::string& probe_path) {
  return Examination(client, probe_path, TRY(bytes_of(probe_path))).run();
}

}  // namespace mayfly
