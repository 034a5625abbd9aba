// The `mayfly` command. Subcommands are one file each (design section 9).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string_view>

#include "jail/cli/command.h"
#include "jail/spec/escape.h"

namespace mayfly {

void print_error(const std::string& text) {
  const bool colour = ::isatty(STDERR_FILENO) == 1;
  std::fprintf(stderr, "%smayfly:%s %s\n", colour ? "\033[31m" : "", colour ? "\033[0m" : "", text.c_str());
}

namespace {

void describe(CLI::App& app) {
  app.set_version_flag("--version", std::string("mayfly ") + MAYFLY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  mayfly run -- python3 -c 'print(1)'     one command in a jail of its own; no service is needed\n"
      "  mayfly serve                            ssh on 127.0.0.1:2222, http on 127.0.0.1:8802\n"
      "  mayfly doctor                           what this host can enforce, and how to fix what it cannot\n"
      "Every command has --help with examples. Exit status: 0, 1 for a failure, 2 for a mistake in the command line;\n"
      "\"run\" and \"shell\" exit as the program does, 125 for a failure of mayfly itself.");
}

constexpr struct {
  std::string_view name;
  void (*add)(CLI::App&, Command&);
} kCommands[] = {{"serve", add_serve},      {"status", add_status},   {"stop", add_stop},     {"drain", add_drain},
                 {"run", add_run},          {"shell", add_shell},     {"ps", add_ps},         {"kill", add_kill},
                 {"doctor", add_doctor},    {"hostkey", add_hostkey}, {"invite", add_invite}, {"reload", add_reload},
                 {"settings", add_settings}};

// The one that is asked for: describing them all would be a good part of the time of `mayfly run -- true`. All, where
// none is, for --help and for the mistakes.
void add_commands(CLI::App& app, Command& command, std::string_view asked) {
  const auto* const found = std::ranges::find(kCommands, asked, [](const auto& known) { return known.name; });
  if (found != std::end(kCommands)) return found->add(app, command);
  for (const auto& known : kCommands) known.add(app, command);
}

// Whether the mistake was made in a command whose exit status is otherwise the program's.
int usage_status(const CLI::App& app) {
  for (const CLI::App* chosen : app.get_subcommands())
    if (chosen->get_name() == "run" || chosen->get_name() == "shell") return 125;
  return kUsageError;
}

std::string advice(const CLI::App& app) {
  for (const CLI::App* chosen : app.get_subcommands()) {
    if (chosen->get_name() == "run" && !chosen->remaining().empty())
      return "write -- before the command, as in mayfly run -- ls -l";
    return "see mayfly " + chosen->get_name() + " --help";
  }
  return "see mayfly --help";
}

bool is_command(const CLI::App& app, const std::string& word) {
  const auto commands = app.get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
  return !commands.empty();
}

// A closed one would be given to the first file that we open, a lock for example, and be written to as if it were
// output.
void hold_standard_descriptors() {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) std::abort();
}

// What was printed and could not be written (a full disk, a closed pipe) is no success.
bool was_written() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush()) return true;
  print_error("write the answer: standard output takes no more: is the disk full, or its reader gone?");
  return false;
}

int run_command_line(std::vector<std::string> words) {
  CLI::App app("Every session and every run gets a brand-new jail, and the jail is gone afterwards.", "mayfly");
  Command command;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  command.words_were_given = dashes != words.end();
  if (command.words_were_given) command.words.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());
  describe(app);
  add_commands(app, command, words.empty() ? std::string_view() : std::string_view(words.front()));
  if (!words.empty() && !words.front().starts_with("-") && !is_command(app, words.front())) {
    print_error("read the command line: no command is called \"" + escape(words.front(), 40) + "\": see mayfly --help");
    return kUsageError;
  }
  std::reverse(words.begin(), words.end());  // CLI11 wants them so
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 && was_written() ? 0 : 1;  // --help, --version
    print_error(std::string("read the command line: ") + error.what() + ": " + advice(app));
    return usage_status(app);
  }
  if (command.words_were_given && app.get_subcommands().front()->get_name() != "run") {
    print_error("read the command line: only \"mayfly run\" takes a command after --: see mayfly --help");
    return usage_status(app);
  }
  const Expected<int> status = command.run();
  if (status) return was_written() ? *status : command.failure_status;
  print_error(status.error().text());
  return command.failure_status;
}

}  // namespace

}  // namespace mayfly

int main(int argc, char** argv) {
  mayfly::hold_standard_descriptors();
  return mayfly::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
}
