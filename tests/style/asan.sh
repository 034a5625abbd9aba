#!/bin/sh
# asan.sh SOURCE_FOLDER CTEST   the unprivileged tests once more, with the address and undefined-behaviour sanitizers.
# The build is etc/test's work (preset asan, target mayfly_unprivileged_tests); it must exist and must have tests.
build="$1/build/asan"
if [ ! -e "$build/CTestTestfile.cmake" ]; then
  echo "mayfly-skip: needs the sanitizer build that etc/test makes"
  exit 77
fi
# No search for leaks: it needs ptrace, which our processes deny themselves first of all.
export ASAN_OPTIONS=detect_leaks=0
exec "$2" --test-dir "$build" --output-on-failure --parallel 2 --label-regex '^unprivileged$' --no-tests=error
