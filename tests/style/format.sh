#!/bin/sh
# format.sh SOURCE_FOLDER   every C++ file of ours is as clang-format leaves it. To repair: clang-format -i FILE
cd "$1" || exit 1
files="$(find jail sshd api tui tests -name '*.h' -o -name '*.cpp' -o -name '*.c' 2>/dev/null)"
[ -n "$files" ] || { echo "no files"; exit 1; }
# shellcheck disable=SC2086  # none of our names has a space
exec clang-format --dry-run -Werror $files
