// ssh-cycles PORT USER CYCLES THREADS   comes, does something and leaves, CYCLES times; the code is in MAYFLY_CODE.
// What one cycle does goes round through kCycles. One line for each kind at the end: its name, how many went as they
// should, and how many not; the first thing that went wrong on stderr. Used by cycles_test.py.

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/guest/guest.h"

namespace mayfly::test {

namespace {

constexpr int kBulk = 300'000;

struct Visit {
  Place place;
  std::string user;
  std::string code;
};

Expected<Guest> come_in(const Visit& visit) {
  Guest guest = TRY(Guest::connect(visit.place, visit.user));
  if (!TRY(guest.log_in(visit.code))) return failure("come in with the code", 0);
  return guest;
}

Expected<void> expect(const Outcome& outcome, const std::string& part, int status) {
  if (outcome.status == status && outcome.output.find(part) != std::string::npos) return {};
  return failure("find the right end", 0, part, std::to_string(outcome.status) + " after: " + outcome.output);
}

Expected<void> run_a_command(const Visit& visit) {
  Guest guest = TRY(come_in(visit));
  TRY(guest.start(On::Pipes, "echo one; echo two >&2; exit 3"));
  return expect(TRY(guest.finish()), "one\n", 3);
}

Expected<void> take_bulk_output(const Visit& visit) {
  Guest guest = TRY(come_in(visit));
  TRY(guest.start(On::Pipes, "head -c " + std::to_string(kBulk) + " /dev/zero"));
  const Outcome outcome = TRY(guest.finish());
  if (outcome.status != 0 || outcome.output.size() != kBulk) return failure("take all output", 0);
  return {};
}

Expected<void> use_a_shell(const Visit& visit) {
  Guest guest = TRY(come_in(visit));
  TRY(guest.start(On::Terminal, ""));
  TRY(guest.read_until("$ "));
  TRY(guest.type("echo 4$((1+1)); exit 5\r"));
  return expect(TRY(guest.finish()), "42\r\n", 5);
}

Expected<void> run_two_on_one_connection(const Visit& visit) {
  Guest guest = TRY(come_in(visit));
  for (const int status : {6, 7}) {
    TRY(guest.start(On::Pipes, "echo more; exit " + std::to_string(status)));
    TRY(expect(TRY(guest.finish()), "more\n", status));
  }
  return {};
}

Expected<void> vanish_from(const Visit& visit, On on) {
  Guest guest = TRY(come_in(visit));
  TRY(guest.start(on, "echo here; exec sleep 5772156"));
  TRY(guest.read_until("here"));
  guest.vanish();
  return {};
}

Expected<void> vanish_from_a_command(const Visit& visit) { return vanish_from(visit, On::Pipes); }
Expected<void> vanish_from_a_terminal(const Visit& visit) { return vanish_from(visit, On::Terminal); }

Expected<void> bring_a_wrong_code(const Visit& visit) {
  Guest guest = TRY(Guest::connect(visit.place, visit.user));
  for (int i = 0; i < 2; ++i)
    if (TRY(guest.log_in("00000-00000-00000-00000"))) return failure("be refused", 0);
  return {};
}

Expected<void> log_in_and_leave(const Visit& visit) {
  const Guest guest = TRY(come_in(visit));
  return {};
}

Expected<void> leave_after_the_greeting(const Visit& visit) {
  const Fd connection = TRY(connect_from(visit.place));
  if (first_bytes(connection).starts_with("SSH-2.0-")) return {};
  return failure("be greeted", 0);
}

Expected<void> say_no_word(const Visit& visit) {
  const Fd connection = TRY(connect_from(visit.place));
  return {};
}

struct Cycle {
  const char* name;
  Expected<void> (*go)(const Visit&);
};

constexpr std::array kCycles = {
    Cycle{"command", run_a_command},
    Cycle{"shell", use_a_shell},
    Cycle{"vanished", vanish_from_a_command},
    Cycle{"bulk", take_bulk_output},
    Cycle{"refused", bring_a_wrong_code},
    Cycle{"two", run_two_on_one_connection},
    Cycle{"idle", log_in_and_leave},
    Cycle{"vanished-terminal", vanish_from_a_terminal},
    Cycle{"greeted", leave_after_the_greeting},
    Cycle{"silent", say_no_word},
};

class Tally {
 public:
  explicit Tally(int cycles) : cycles_(cycles) {}

  void work(const Visit& visit) {
    for (int i = next_++; i < cycles_; i = next_++) {
      const std::size_t kind = static_cast<std::size_t>(i) % kCycles.size();
      const auto went = kCycles[kind].go(visit);
      ++(went ? good_ : bad_)[kind];
      if (!went && !told_.exchange(true))
        std::fprintf(stderr, "%s: %s\n", kCycles[kind].name, went.error().text().c_str());
    }
  }

  void tell() const {
    for (std::size_t i = 0; i < kCycles.size(); ++i)
      std::printf("%s %d %d\n", kCycles[i].name, good_[i].load(), bad_[i].load());
  }

 private:
  int cycles_;
  std::atomic<int> next_ = 0;
  std::array<std::atomic<int>, kCycles.size()> good_{}, bad_{};
  std::atomic<bool> told_ = false;
};

}  // namespace

}  // namespace mayfly::test

int main(int argc, char** argv) {
  using namespace mayfly::test;
  const char* code = std::getenv("MAYFLY_CODE");
  if (argc != 5 || code == nullptr) return 2;
  const Visit visit{{static_cast<std::uint16_t>(std::atoi(argv[1]))}, argv[2], code};
  Tally tally(std::atoi(argv[3]));
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[4]); ++i) threads.emplace_back([&] { tally.work(visit); });
  for (std::thread& thread : threads) thread.join();
  tally.tell();
  return 0;
}
