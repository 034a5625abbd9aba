// The fuzzer's short form, for every build: no libFuzzer, no clang, always the same.
//
//   fuzz_session_replay CORPUS_FOLDER [MUTATIONS [SEED]]
//   fuzz_session_replay FILE...          only these, and prints how far each got
//
// Plays every file of the corpus and holds it to its line in CORPUS_FOLDER.claims (make_corpus.py writes both): a
// harness that never gets past the key exchange fails here. Then every message number alone, before and after the
// login. Then mutations of the corpus. A broken rule aborts, and the input is left in the file kLastInput, which the
// first line says. With FILEs nothing is written: what breaks a rule is one of them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "tests/fuzz/scenario_mutator.h"
#include "tests/fuzz/session_target.h"
#include "tests/fuzz/violation.h"

namespace mayfly::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMutations = 3000;
constexpr std::uint64_t kSeed = 1;
constexpr const char* kLastInput = "fuzz_session_last_input";  // in the working directory: ctest's is the build folder

using Corpus = std::map<std::string, std::string>;  // name, bytes

std::span<const std::uint8_t> view(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) violated("the harness can read", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

Reached play(const std::string& input) { return play_session(view(input)); }

Reached play_and_keep(const std::string& input) {
  // Overwritten each time: a sanitizer's report ends the process at once, and this is what it was given.
  std::ofstream(kLastInput, std::ios::binary | std::ios::trunc) << input;
  return play(input);
}

std::uint64_t count_named(const Reached& reached, const std::string& name) {
  for (const NamedCount& row : kReachedCounts)
    if (row.name == name) return reached.*row.count;
  violated("a claim of the corpus names a number that somebody counts", name);
}

// A claim: "logins=1", "output>=15" or "seconds<=50".
bool holds(const Reached& reached, const std::string& claim, const std::string& name) {
  const std::size_t sign = claim.find_first_of("<>="), equals = claim.find('=');
  if (equals == std::string::npos || equals + 1 == claim.size())
    violated("a claim of the corpus is a name, a sign and a number", name + " " + claim);
  const std::uint64_t is = count_named(reached, claim.substr(0, sign));
  const std::uint64_t wanted = std::strtoull(claim.c_str() + equals + 1, nullptr, 10);
  const bool held = claim[sign] == '>' ? is >= wanted : claim[sign] == '<' ? is <= wanted : is == wanted;
  if (!held)
    (void)std::printf("%s: %s, it is %llu\n", name.c_str(), claim.c_str(), static_cast<unsigned long long>(is));
  return held;
}

std::size_t hold_claims(const Corpus& corpus, const fs::path& claims_file) {
  std::istringstream lines(read_file(claims_file));
  std::size_t held = 0, broken = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, claim;
    if (!(words >> name) || name == "#") continue;
    const auto input = corpus.find(name);
    if (input == corpus.end()) violated("every claim has its file in the corpus", name);
    const Reached reached = play_and_keep(input->second);
    while (words >> claim) ++(holds(reached, claim, name) ? held : broken);
  }
  (void)std::fflush(stdout);
  if (broken != 0) violated("the corpus reaches what it claims");
  return held;
}

// Each message number by itself, with a body and without: none of them starts a jail, and before the login none logs
// in.
std::size_t try_every_message() {
  std::size_t tried = 0;
  for (const Prelude prelude : {Prelude::LoggedIn, Prelude::KeysExchanged, Prelude::Identified})
    for (int number = 0; number < 256; ++number)
      for (const std::size_t body : {0, 64}) {
        Scenario scenario{prelude, Ways::KeysAndInvites, false, 0, {}};
        scenario.records.push_back({Act::Packet, false, static_cast<char>(number) + std::string(body, '\0')});
        const Reached reached = play_and_keep(written(scenario));
        if (reached.runs != 0 || (prelude != Prelude::LoggedIn && reached.logins != 0))
          violated("one message alone gets nobody in and starts nothing", std::to_string(number));
        ++tried;
      }
  return tried;
}

void mutate(const Corpus& corpus, std::uint64_t count, std::uint64_t seed) {
  std::vector<const std::string*> inputs;
  for (const auto& entry : corpus) inputs.push_back(&entry.second);
  std::uint64_t logins = 0, runs = 0, with_output = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ScenarioMutator mutator(seed * 1'000'003 + i);
    const std::string& lender = *inputs[(i * 7 + i / inputs.size()) % inputs.size()];
    const Reached reached = play_and_keep(mutator.mutate(view(*inputs[i % inputs.size()]), view(lender)));
    logins += reached.logins;
    runs += reached.runs != 0 ? 1 : 0;
    with_output += reached.output != 0 ? 1 : 0;
  }
  (void)std::printf("%llu mutations with seed %llu: %llu logged in, %llu started a jail, %llu had output\n",
                    static_cast<unsigned long long>(count), static_cast<unsigned long long>(seed),
                    static_cast<unsigned long long>(logins), static_cast<unsigned long long>(runs),
                    static_cast<unsigned long long>(with_output));
  if (count >= 1000 && (logins < count / 3 || runs < count / 5 || with_output < count / 8))
    violated("mutations still reach what lies behind the login");
}

int replay_corpus(const fs::path& folder, std::uint64_t mutations, std::uint64_t seed) {
  Corpus corpus;
  for (const auto& entry : fs::directory_iterator(folder)) corpus[entry.path().filename()] = read_file(entry.path());
  if (corpus.empty()) violated("there is a corpus", folder.string());
  (void)std::printf("a broken rule leaves its input in %s\n", fs::absolute(kLastInput).c_str());
  (void)std::fflush(stdout);
  for (const auto& [name, input] : corpus) (void)play_and_keep(input);
  const std::size_t held = hold_claims(corpus, folder.string() + ".claims");
  if (held == 0) violated("the corpus claims something");
  (void)std::printf("%zu inputs of the corpus, %zu claims held, %zu messages alone\n", corpus.size(), held,
                    try_every_message());
  mutate(corpus, mutations, seed);
  fs::remove(kLastInput);
  return 0;
}

void show(const std::string& file) {
  const Reached reached = play(read_file(file));
  (void)std::printf("%s:", file.c_str());
  for (const auto& [name, count] : kReachedCounts)
    if (reached.*count != 0)
      (void)std::printf(" %s=%llu", name.data(), static_cast<unsigned long long>(reached.*count));
  (void)std::printf("\n");
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return 2;
  if (!fs::is_directory(arguments[0])) {
    for (const auto& file : arguments) show(file);
    return 0;
  }
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return arguments.size() > i ? std::strtoull(arguments[i].c_str(), nullptr, 10) : otherwise;
  };
  return replay_corpus(arguments[0], number(1, kMutations), number(2, kSeed));
}

}  // namespace

}  // namespace mayfly::fuzz

int main(int argc, char** argv) { return mayfly::fuzz::run({argv + 1, argv + argc}); }
