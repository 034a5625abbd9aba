// mayfly run: one program in a jail of its own, with a private engine. Exits as the program did.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/exit_status.h"
#include "jail/cli/run_command.h"

namespace mayfly {

void add_run(CLI::App& app, Command& command) {
  CLI::App* run = app.add_subcommand("run", "Run a command or code in a jail of its own; no service is needed");
  const auto options = std::make_shared<RunOptions>();
  run->add_option("--profile", options->profile, "Kind of jail: run (a shell), python, ...");
  run->add_option("--language", options->language, "Language of the code: python, ...");
  const CLI::Option* code = run->add_option("--code", options->code, "Source text to run");
  run->add_option("--file", options->file, "File with the source text; - is standard input");
  run->add_option("--memory", options->memory, "Memory in all, like 256M");
  run->add_option("--time", options->time, "Wall time, like 10s");
  run->add_option("--cpu-time", options->cpu_time, "CPU time of all processes, like 10s");
  run->add_option("--cpus", options->cpus, "Processors, like 1 or 0.5");
  run->add_option("--processes", options->processes, "Processes and threads at once");
  run->add_option("--disk", options->disk, "Bytes in files, part of the memory, like 64M");
  const CLI::Option* require =
      run->add_option("--require", options->require, "Controls without which nothing starts, like memory,cpu");
  run->add_option("--config", options->config, "Configuration file");
  run->add_flag("--reproducible", options->reproducible, "Fix what can be fixed: hash seed, host name, ids, ...");
  run->add_flag("-t,--tty", options->tty, "Give the program a terminal");
  run->add_flag("--json", options->json, "Print the result object of the API instead of the output");
  run->footer(
      "Examples:\n"
      "  mayfly run -- ls -l /\n"
      "  mayfly run --language python --code 'print(sum(range(10)))'\n"
      "  mayfly run --file job.py --memory 512M --time 30s -- an argument\n"
      "  tar c . | mayfly run -- sh -c 'tar x && make test'\n"
      "  mayfly run --json -- true\n"
      "Exit status: the program's own; 128+n after signal n; 124 a time limit, 137 the memory limit, 126 not "
      "executable,\n"
      "127 not found, 125 anything else that is not the program's doing. The reason is the last line on stderr.");
  run->callback([options, code, require, &command] {
    options->require_given = require->count() != 0;
    options->words = command.words;
    options->has_words = command.words_were_given;
    options->code_given = code->count() != 0;
    command.failure_status = kOwnFailure;
    command.run = [options] { return run_privately(*options); };
  });
}

}  // namespace mayfly
