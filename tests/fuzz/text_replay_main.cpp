// The short form of the fuzzer of foreign text, for every build.
//
//   fuzz_text_replay CORPUS_FOLDER [MUTATIONS [SEED]]
//
// A seed whose name begins with "taken-" must be taken by its parser, one that begins with "refused-" must not. Then
// mutations of the corpus; a broken rule aborts, and the input is left in the file kLastInput, which the first line
// says.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/text_target.h"
#include "tests/fuzz/violation.h"

namespace mayfly::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLastInput = "fuzz_text_last_input";
constexpr std::size_t kMostInput = 1 << 16;
constexpr unsigned long long kMutations = 20'000;

bool play(const std::string& input) {
  std::ofstream(kLastInput, std::ios::binary | std::ios::trunc) << input;
  return play_text({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string mutated(std::string input, const std::string& lender, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  for (std::size_t left = 1 + below(3); left > 0; --left) {
    const std::size_t at = below(input.size() + 1), from = below(lender.size() + 1);
    switch (below(5)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(below(256));
        break;
      case 1:
        input.erase(at, 1 + below(6));
        break;
      case 2:
        input.insert(at, lender.substr(from, below(40)));
        break;
      case 3:
        input.insert(at, input.substr(from < input.size() ? from : 0, below(60)));
        break;
      default:
        if (at < input.size()) input[at] = "\"\\,[]{}:0-9 \n#!=*/"[below(18)];
    }
  }
  return input.substr(0, kMostInput);
}

int replay(const fs::path& folder, unsigned long long count, unsigned long long seed) {
  std::vector<std::string> inputs;
  std::map<std::string, std::string> corpus;  // by name, so that the order is the same everywhere
  for (const auto& entry : fs::directory_iterator(folder)) corpus[entry.path().filename()] = read_file(entry.path());
  if (corpus.empty()) violated("there is a corpus", folder.string());
  (void)std::printf("a broken rule leaves its input in %s\n", fs::absolute(kLastInput).c_str());
  (void)std::fflush(stdout);
  for (const auto& [name, input] : corpus) {
    const bool taken = play(input);
    if ((name.starts_with("taken-") && !taken) || (name.starts_with("refused-") && taken))
      violated("a seed is judged as its name says", name);
    inputs.push_back(input);
  }
  std::mt19937_64 random(seed);
  unsigned long long taken = 0;
  for (unsigned long long i = 0; i < count; ++i) {
    const std::string input = mutated(inputs[i % inputs.size()], inputs[random() % inputs.size()], random);
    taken += play(input) ? 1 : 0;
  }
  fs::remove(kLastInput);
  (void)std::printf("%zu inputs of the corpus, %llu mutations with seed %llu, of which %llu were taken\n",
                    inputs.size(), count, seed, taken);
  return 0;
}

}  // namespace

}  // namespace mayfly::fuzz

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto number = [&](int i, unsigned long long otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  return mayfly::fuzz::replay(argv[1], number(2, mayfly::fuzz::kMutations), number(3, 1));
}
