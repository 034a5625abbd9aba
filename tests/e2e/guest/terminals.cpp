// ssh-terminals PORT SESSIONS SECONDS PROFILE...   many people at terminals at once, at a human pace.
// Opens SESSIONS shells, 100 of a source, their profiles going round; prints "open" and waits for a line. Then
// everybody presses a key each second, for SECONDS: a letter, and the key that takes it back, evenly spread. Prints the
// times from a key to its echo, "echo_us N ..." and "missing N", waits for another line and leaves. Used by
// many_terminals_test.py.
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/guest/guest.h"

namespace mayfly::test {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int kOpeners = 4;
constexpr std::size_t kOfOneSource = 100;
constexpr auto kBetweenKeys = std::chrono::seconds(1);
constexpr char kLetter = 'x', kTakeBack = '\x7f';

class Person {
 public:
  explicit Person(Guest guest) : guest_(std::move(guest)) { ssh_set_blocking(guest_.session(), 0); }

  [[nodiscard]] int descriptor() const { return guest_.descriptor(); }
  [[nodiscard]] bool waits() const { return pressed_.has_value(); }

  // Nobody goes on typing who does not see the last key.
  void press() {
    if (waits()) return;
    const char key = has_typed_ ? kTakeBack : kLetter;
    pressed_ = Clock::now();
    if (ssh_channel_write(guest_.channel(), &key, 1) != 1) is_gone_ = true;
  }

  // The time since the key, when its echo is there.
  std::optional<microseconds> look() {
    std::array<char, 256> bytes{};
    const int count = ssh_channel_read_nonblocking(guest_.channel(), bytes.data(), bytes.size(), 0);
    if (count == SSH_ERROR || count == SSH_EOF) is_gone_ = true;
    if (count <= 0 || !waits()) return std::nullopt;
    const auto took = std::chrono::duration_cast<microseconds>(Clock::now() - *pressed_);
    // Taking back a letter moves the cursor back first, whoever does it: the kernel for a shell, Python for itself.
    if (bytes[0] != (has_typed_ ? '\b' : kLetter)) return std::nullopt;
    has_typed_ = !has_typed_;
    pressed_.reset();
    return took;
  }

  [[nodiscard]] bool is_gone() const { return is_gone_; }

 private:
  Guest guest_;
  std::optional<Clock::time_point> pressed_;
  bool has_typed_ = false, is_gone_ = false;
};

Expected<Person> sit_down(std::uint16_t port, std::size_t number, const std::string& profile) {
  const Place place{port, "127.0.0." + std::to_string(1 + number / kOfOneSource)};
  Guest guest = TRY(Guest::connect(place, profile));
  if (!TRY(guest.log_in(""))) return failure("be let in", 0);
  TRY(guest.start(On::Terminal, ""));
  TRY(guest.read_until(profile == "python" ? ">>> " : "$ "));
  return Person(std::move(guest));
}

std::vector<Person> open_all(std::uint16_t port, std::size_t count, const std::vector<std::string>& profiles) {
  std::vector<std::optional<Person>> seats(count);
  std::vector<std::thread> openers;
  for (std::size_t first = 0; first < kOpeners; ++first)
    openers.emplace_back([&, first] {
      for (std::size_t i = first; i < count; i += kOpeners) {
        auto person = sit_down(port, i, profiles[i % profiles.size()]);
        if (person)
          seats[i] = std::move(*person);
        else
          std::fprintf(stderr, "terminal %zu: %s\n", i, person.error().text().c_str());
      }
    });
  for (std::thread& opener : openers) opener.join();
  std::vector<Person> people;
  for (auto& seat : seats)
    if (seat) people.push_back(std::move(*seat));
  return people;
}

class Room {
 public:
  explicit Room(std::vector<Person> people) : people_(std::move(people)) {
    for (const Person& person : people_) watched_.push_back({person.descriptor(), POLLIN, 0});
  }

  void type_for(std::chrono::seconds time) {
    const auto begin = Clock::now();
    const auto step = std::chrono::nanoseconds(kBetweenKeys) / people_.size();
    for (std::size_t keys = 0; Clock::now() < begin + time;) {
      const auto next = begin + step * static_cast<long>(keys);
      if (Clock::now() >= next) people_[keys++ % people_.size()].press();
      look_until(next);
    }
    for (const auto end = Clock::now() + std::chrono::seconds(5); Clock::now() < end && missing() > 0;) look_until(end);
  }

  void tell() const {
    std::printf("echo_us");
    for (const microseconds took : echoes_) std::printf(" %lld", static_cast<long long>(took.count()));
    std::printf("\nmissing %td\n", missing());
    std::fflush(stdout);
  }

 private:
  [[nodiscard]] std::ptrdiff_t missing() const {
    return std::count_if(people_.begin(), people_.end(), [](const Person& p) { return p.waits() || p.is_gone(); });
  }

  void look_until(Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now()).count();
    const timespec wait{left > 0 ? left / 1'000'000'000 : 0, left > 0 ? left % 1'000'000'000 : 0};
    if (::ppoll(watched_.data(), watched_.size(), &wait, nullptr) <= 0) return;
    for (std::size_t i = 0; i < people_.size(); ++i) {
      if (watched_[i].revents == 0) continue;
      if (const auto took = people_[i].look()) echoes_.push_back(*took);
      if (people_[i].is_gone()) watched_[i].fd = -1;
    }
  }

  std::vector<Person> people_;
  std::vector<pollfd> watched_;
  std::vector<microseconds> echoes_;
};

bool is_told_to_go_on() {
  int next = std::getchar();
  while (next != '\n' && next != EOF) next = std::getchar();
  return next != EOF;
}

}  // namespace

}  // namespace mayfly::test

int main(int argc, char** argv) {
  using namespace mayfly::test;
  if (argc < 5) return 2;
  const auto wanted = static_cast<std::size_t>(std::atoi(argv[2]));
  auto people = open_all(static_cast<std::uint16_t>(std::atoi(argv[1])), wanted, {argv + 4, argv + argc});
  if (people.size() != wanted) return 1;
  Room room(std::move(people));
  std::printf("open\n");
  std::fflush(stdout);
  if (!is_told_to_go_on()) return 1;
  room.type_for(std::chrono::seconds(std::atoi(argv[3])));
  room.tell();
  return is_told_to_go_on() ? 0 : 1;
}
