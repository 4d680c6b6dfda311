#!/usr/bin/env bash
# Everything that must hold before a merge, with the minutes that each part took.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
logs=build/check
mkdir -p "$logs"

minutes=""
part() {  # part NAME COMMAND...: runs it and notes the minutes
  local name=$1 start=$SECONDS seconds
  shift
  echo "== $name"
  "$@"
  seconds=$((SECONDS - start))
  minutes+=$(printf '%-28s %3d.%d min' "$name" $((seconds / 60)) $((seconds % 60 / 6)))$'\n'
}

build() {  # build PRESET [TARGET...]
  local preset=$1
  shift
  cmake --preset "$preset" >"$logs/configure-$preset.log"
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} >"$logs/build-$preset.log" ||
    { tail -n 40 "$logs/build-$preset.log"; return 1; }
}

suite() {  # suite PRESET LABEL [ctest options]: prints the failures and the closing lines
  local log="$logs/$1-$2.log"
  if ctest --preset "$1" -L "$2" -j "$jobs" "${@:3}" >"$log" 2>&1; then
    grep -E 'tests passed|Total Test time' "$log"
  else
    grep -vE '^ *(Start +[0-9]|[0-9]+/[0-9]+ Test.* Passed)' "$log" | tail -n 80
    return 1
  fi
}

tools/setup.sh dev
part "build dev" build dev
part "lint" tools/lint.sh
part "fast suite, every level" suite dev fast
part "slow suite, every level" suite dev slow
part "build asan" build asan
part "fast suite, asan + ubsan" suite asan fast
part "build tsan" build tsan base_test nn_test kernels_test golden_tiny_test
part "threads, tsan" suite tsan fast -R 'Threads|Linear|Lfm2|Attention|ShortConv|RmsNorm|GoldenTiny.(Every|Strange|APrepared)' -E '^generic/'
part "fuzz, a minute each" tools/fuzz.sh 60
echo
echo "$minutes"
