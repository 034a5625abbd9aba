// What every subcommand of `mayfly` shares: how it is added, and how it ends. CLI11 throws; main catches at the one
// call of parse(). A subcommand runs after parsing, as a function that returns the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "jail/expected.h"

namespace mayfly {

inline constexpr int kUsageError = 2;

// What the command line said, once it is parsed.
struct Command {
  std::function<Expected<int>()> run;
  int failure_status = 1;          // exit status when run() fails: 125 for those that exit as a program does
  std::vector<std::string> words;  // what stood after "--"
  bool words_were_given = false;   // there was a "--", maybe with nothing after it
};

// "mayfly: what failed: why: what to do", on stderr; the first two words red on a terminal.
void print_error(const std::string& text);

// One file each.
void add_serve(CLI::App& app, Command& command);
void add_status(CLI::App& app, Command& command);
void add_stop(CLI::App& app, Command& command);
void add_drain(CLI::App& app, Command& command);
void add_run(CLI::App& app, Command& command);
void add_shell(CLI::App& app, Command& command);
void add_ps(CLI::App& app, Command& command);
void add_kill(CLI::App& app, Command& command);
void add_doctor(CLI::App& app, Command& command);
void add_hostkey(CLI::App& app, Command& command);
void add_invite(CLI::App& app, Command& command);
void add_reload(CLI::App& app, Command& command);
void add_settings(CLI::App& app, Command& command);

}  // namespace mayfly
