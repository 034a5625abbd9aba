#include "tests/builder/bench.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "jail/os/memfd.h"
#include "jail/os/unix_socket.h"
#include "jail/wire/relay.h"
#include "jail/wire/startup.h"

namespace mayfly::bench {

namespace {

constexpr int kPatience = 30'000;

bool is_readable(int fd, int patience_ms) {
  pollfd waited{fd, POLLIN, 0};
  return ::poll(&waited, 1, patience_ms) == 1;
}

template <typename Message>
std::optional<Message> as(const Received& received) {
  if (received.bytes.size() != sizeof(Message)) return std::nullopt;
  Message message;
  std::memcpy(&message, received.bytes.data(), sizeof message);
  return message;
}

BindTable table_for(const BenchOptions& options) {
  BindTable table;
  table.rootless = options.rootless ? 1 : 0;
  table.uid_base = kUidBase + 100'000'000;  // beside a service's own block
  table.made_ahead = options.made_ahead ? 1 : 0;
  table.row_count = 1;
  BindRow& row = table.rows[0];
  row.count = 1;
  std::strcpy(row.entries[0].source, "/usr");
  std::strcpy(row.entries[0].target, "usr");
  for (const auto& [source, target] : {std::pair(options.data, kDataTree), std::pair(options.seed, kSeedTree)}) {
    if (source.empty()) continue;
    BindEntry& entry = row.entries[row.count++];
    std::strcpy(entry.source, source.c_str());
    std::strcpy(entry.target, target);
  }
  for (const std::string& path : options.hidden) std::strcpy(row.hide[row.hide_count++].data(), path.c_str());
  return table;
}

std::uint32_t put_text(Plan& plan, const std::string& text) {
  const std::uint32_t offset = plan.text_length;
  std::memcpy(plan.text.data() + offset, text.data(), text.size());
  plan.text_length += static_cast<std::uint32_t>(text.size());
  return offset;
}

void read_some(Fd& from, std::string& into) {
  char bytes[65536];
  const ssize_t count = ::read(from.get(), bytes, sizeof bytes);
  if (count > 0)
    into.append(bytes, static_cast<std::size_t>(count));
  else
    from.reset();  // at its end, or EIO of a terminal
}

}  // namespace

std::string program_path(const std::string& name) {
  if (const char* folder = std::getenv("MAYFLY_BIN")) return std::string(folder) + "/" + name;
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return self.substr(0, self.rfind('/') + 1) + name;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Job job_for(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  Job job;
  Plan& plan = job.plan;
  plan.disk_bytes = 16u << 20;
  plan.memory_bytes = 256u << 20;
  plan.inodes = 1024;
  plan.processes = 64;
  plan.open_files = 256;
  plan.milli_cpus = 1000;
  plan.wall_ms = 20'000;
  plan.cpu_ms = 10'000;
  for (const std::string& word : argv) {
    const auto length = static_cast<std::uint32_t>(word.size());
    plan.argv[plan.argv_count++] = {0, {}, put_text(plan, word), length};
  }
  std::vector<std::string> entries = environment;
  if (entries.empty()) entries = {"HOME=/home/run", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  for (const std::string& entry : entries) {
    const auto length = static_cast<std::uint32_t>(entry.size());
    plan.environment[plan.environment_count++] = {0, {}, put_text(plan, entry), length};
  }
  return job;
}

void add_file(Job& job, const std::string& name, const std::string& bytes, bool executable) {
  PlanFile& file = job.plan.files[job.plan.file_count++];
  std::strncpy(file.name, name.c_str(), sizeof file.name - 1);
  file.offset = static_cast<std::uint32_t>(job.payload.size());
  file.length = static_cast<std::uint32_t>(bytes.size());
  file.executable = executable ? 1 : 0;
  job.payload += bytes;
}

void add_payload_argument(Job& job, const std::string& text) {
  PlanText& argument = job.plan.argv[job.plan.argv_count++];
  argument.in_payload = 1;
  argument.offset = static_cast<std::uint32_t>(job.payload.size());
  argument.length = static_cast<std::uint32_t>(text.size());
  job.payload += text;
}

Expected<Bench> Bench::start(const BenchOptions& options) {
  Bench bench;
  ChildProgram sleeper;
  sleeper.path = "/usr/bin/sleep";
  sleeper.argv = {"sleep", "600"};
  bench.supervisor_ = TRY(Child::start(sleeper));
  SocketPair control = TRY(make_seqpacket_pair(Blocking::Yes));
  const BindTable table = table_for(options);
  const Fd table_file =
      TRY(make_sealed_memfd("bind-table", std::string_view(reinterpret_cast<const char*>(&table), sizeof table)));
  const Fd keeper = TRY(open_pidfd(::getpid()));
  ChildProgram program;
  program.path = program_path(options.program);
  program.argv = {options.program};
  program.argv.insert(program.argv.end(), options.arguments.begin(), options.arguments.end());
  program.uid = options.uid;
  program.fds = {{keeper.get(), kKeeperPidfd},
                 {control.theirs.get(), kBuilderControl},
                 {table_file.get(), kBuilderBindTable},
                 {bench.supervisor_->pidfd().get(), kBuilderSupervisorPidfd}};
  bench.builder_ = TRY(Child::start(program));
  control.theirs.reset();
  bench.control_ = std::move(control.ours);
  const auto ready = bench.reply(nullptr, kPatience);
  if (!ready || ready->says != BuilderSays::Ready) return failure("start builder", EPROTO, program.path);
  bench.ready_ = *ready;
  return bench;
}

Bench::~Bench() {
  if (!control_) return;  // moved from
  control_.reset();       // the builder ends with its supervisor
  if (builder_) {
    if (!is_readable(builder_->pidfd().get(), 2000)) (void)builder_->signal(SIGKILL);
    (void)builder_->wait();
  }
  kill_supervisor();
}

void Bench::kill_supervisor() {
  if (!supervisor_) return;
  (void)supervisor_->signal(SIGKILL);
  (void)supervisor_->wait();
  supervisor_.reset();
}

std::optional<BuilderReply> Bench::reply(Fd* pidfd, int patience_ms) {
  if (!is_readable(control_.get(), patience_ms)) return std::nullopt;
  auto received = receive_message(control_.get(), sizeof(BuilderReply), 1);
  if (!received || received->closed) return std::nullopt;
  const auto message = as<BuilderReply>(*received);
  if (pidfd != nullptr && !received->fds.empty()) *pidfd = std::move(received->fds[0]);
  if (message && message->says == BuilderSays::Released) released_.push_back(message->slot);
  return message;
}

void Bench::prepare() {
  const Prepare message;
  (void)send_message(control_.get(), std::as_bytes(std::span(&message, 1)), {});
}

Built Bench::build(const Job& job) {
  Built jail;
  auto gate = make_seqpacket_pair(Blocking::Yes);
  auto stream = make_seqpacket_pair(Blocking::Yes);
  if (!gate || !stream || !set_pass_credentials(gate->ours.get())) return jail;
  Plan plan = job.plan;
  std::vector<int> fds = {gate->theirs.get(), stream->theirs.get()};
  Fd payload;
  if (!job.payload.empty()) {
    auto file = make_sealed_memfd("payload", job.payload);
    if (!file) return jail;
    payload = std::move(*file);
    plan.has_payload = 1;
    fds.push_back(payload.get());
  }
  fds.insert(fds.end(), job.cgroup_fds.begin(), job.cgroup_fds.end());
  plan.cgroup_fds = static_cast<std::uint8_t>(job.cgroup_fds.size());
  std::vector<std::byte> packed(plan_size(plan));
  pack_plan(plan, packed.data());
  if (!send_message(control_.get(), packed, fds)) return jail;
  gate->theirs.reset();
  stream->theirs.reset();
  jail.gate = std::move(gate->ours);
  jail.stream = std::move(stream->ours);
  for (int i = 0; i < 64; ++i) {
    const auto answer = reply(&jail.pidfd, kPatience);
    if (!answer) return jail;
    jail.reply = *answer;
    if (answer->says != BuilderSays::Released) break;
  }
  if (jail.reply.says != BuilderSays::Cloned) return jail;
  auto message = next_from_gate(jail);
  if (message && message->says == GateSays::Placed) {
    jail.placed = message;
    message = next_from_gate(jail);
  }
  if (message && message->says == GateSays::AtGate)
    jail.at_gate = message;
  else
    jail.failed = message;
  if (is_readable(jail.stream.get(), 0)) {
    auto streams = receive_message(jail.stream.get(), sizeof(StreamsMessage), 3);
    if (streams) jail.outer = std::move(streams->fds);
  }
  return jail;
}

std::optional<GateMessage> Bench::next_from_gate(Built& jail) {
  if (!is_readable(jail.gate.get(), kPatience)) return std::nullopt;
  const auto received = receive_message(jail.gate.get(), sizeof(GateMessage), 0);
  if (!received || received->closed) return std::nullopt;
  const auto message = as<GateMessage>(*received);
  if (message && message->says == GateSays::AtGate) jail.program = received->sender;
  return message;
}

void Bench::open_gate(Built& jail) {
  const GateCommand open{};
  (void)send_message(jail.gate.get(), std::as_bytes(std::span(&open, 1)), {});
}

Outcome Bench::run(Built& jail, const std::string& input) {
  Outcome outcome;
  if (!jail.at_gate || jail.outer.empty()) return outcome;
  open_gate(jail);
  if (!input.empty()) (void)!::write(jail.outer[0].get(), input.data(), input.size());
  const bool terminal = jail.outer.size() == 1;
  if (!terminal) jail.outer[0].reset();
  Fd out = std::move(jail.outer[terminal ? 0 : 1]);
  Fd err = terminal ? Fd() : std::move(jail.outer[2]);
  for (int turn = 0; turn < 100'000 && (out || err || !(outcome.ended || outcome.failed)); ++turn) {
    pollfd waited[3] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}, {jail.gate.get(), POLLIN, 0}};
    if (outcome.ended || outcome.failed) waited[2].fd = -1;
    if (::poll(waited, 3, kPatience) <= 0) break;
    if (waited[0].revents != 0) read_some(out, outcome.out);
    if (waited[1].revents != 0) read_some(err, outcome.err);
    if (waited[2].revents == 0) continue;
    const auto message = next_from_gate(jail);
    if (!message) break;
    if (message->says == GateSays::Ended)
      outcome.ended = message;
    else
      outcome.failed = message;
    (void)signal_pidfd(jail.pidfd, SIGKILL);
  }
  destroy(jail);
  return outcome;
}

void Bench::destroy(Built& jail) {
  if (!jail.pidfd) return;
  (void)signal_pidfd(jail.pidfd, SIGKILL);
  is_readable(jail.pidfd.get(), kPatience);
  jail.pidfd.reset();
  jail.gate.reset();
  jail.stream.reset();
  jail.outer.clear();
}

bool Bench::wait_released(std::uint32_t slot) {
  for (int i = 0; i < 200; ++i) {
    const auto found = std::find(released_.begin(), released_.end(), slot);
    if (found != released_.end()) {
      released_.erase(found);
      return true;
    }
    if (!reply(nullptr, 5000)) return false;
  }
  return false;
}

}  // namespace mayfly::bench
