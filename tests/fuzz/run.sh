#!/bin/sh
# run.sh [SECONDS]   builds the fuzzers (preset fuzz: clang) and runs them for that long in all, 600 if not said.
#
# Each begins with its corpus in the tree and with what it found interesting in earlier runs (build/fuzz/NAME/grown). An
# input that breaks a rule, crashes or hangs lies in build/fuzz/NAME/found then, and the exit status is 1, also of later
# runs, until it is taken away: into tests/fuzz/corpus/NAME, named by what it does, with the repair.
set -eu
cd -- "$(dirname -- "$0")/../.."
seconds="${1:-600}"
# What libssh allocates for a connection is the process's until its end, some 70 KiB each with the sanitizer: a fuzzer
# process ends after that many inputs, and the next one goes on.
inputs_per_process=20000
most_memory_mb=4096

cmake --preset fuzz -Wno-dev >/dev/null
cmake --build --preset fuzz

# No search for leaks: libssh's are known, and the end of the session's process takes them.
export ASAN_OPTIONS=detect_leaks=0:handle_abort=1 UBSAN_OPTIONS=print_stacktrace=1

files_in() { find "$1" -type f | wc -l; }

# fuzz NAME PROGRAM SECONDS
fuzz() {
  place="build/fuzz/$1"
  mkdir -p "$place/grown" "$place/found"
  until=$(($(date +%s) + $3))
  while left=$((until - $(date +%s))) && [ "$left" -gt 0 ] && [ "$(files_in "$place/found")" = 0 ]; do
    "build/fuzz/bin/$2" -max_total_time="$left" -runs="$inputs_per_process" -rss_limit_mb="$most_memory_mb" \
      -timeout=60 -report_slow_units=60 -max_len=8192 -detect_leaks=0 -reload=0 -print_final_stats=1 -artifact_prefix="$place/found/" \
      "$place/grown" "tests/fuzz/corpus/$1" >"$place/log" 2>&1 || {
      tail -40 "$place/log"
      [ "$(files_in "$place/found")" != 0 ] || return 1  # it did not run, or did not end as it should
    }
    grep -qE 'stat::number_of_executed_units: *[1-9]' "$place/log" || return 1
    grep -E 'DONE|stat::(number|average)' "$place/log" || true
  done
  echo "fuzz: $1: $(files_in "$place/grown") inputs grown, $(files_in "$place/found") found (see $place)"
  [ "$(files_in "$place/found")" = 0 ]
}

status=0
fuzz text mayfly_fuzz_text $((seconds / 10)) || status=1
fuzz ssh mayfly_fuzz_session $((seconds - seconds / 10)) || status=1
exit "$status"
