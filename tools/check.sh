#!/usr/bin/env bash
# Everything that must hold before a merge, with the minutes that each part took.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)

part() {  # part NAME COMMAND...: runs it and notes the minutes
  local name=$1 start=$SECONDS seconds
  shift
  echo "== $name"
  "$@"
  seconds=$((SECONDS - start))
  minutes+=$(printf '%-28s %3d.%d min' "$name" $((seconds / 60)) $((seconds % 60 / 6)))$'\n'
}

build() { cmake --preset "$1" >/dev/null && cmake --build --preset "$1" -j "$jobs" | tail -n 1; }
suite() { ctest --preset "$1" -L "$2" -j "$jobs" "${@:3}" | tail -n 12; }

minutes=""
tools/setup.sh dev
part "build dev" build dev
part "lint" tools/lint.sh
part "fast suite, every level" suite dev fast
part "slow suite, every level" suite dev slow
part "build asan" build asan
part "fast suite, asan + ubsan" suite asan fast
part "build tsan" build tsan
part "threaded tests, tsan" suite tsan fast -R 'Threads|Linear|Lfm2|Attention|ShortConv|GoldenTiny'
echo
echo "$minutes"
