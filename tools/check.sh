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

suite() {  # suite PRESET LABEL [ctest options]: prints the failures and the closing lines; keeps what the tests printed
  local log="$logs/$1-$2.log" failed=0
  ctest --preset "$1" -L "$2" -j "$jobs" "${@:3}" >"$log" 2>&1 || failed=1
  cp "build/$1/Testing/Temporary/LastTest.log" "$logs/$1-$2-output.log"
  if [ "$failed" -eq 0 ]; then
    grep -E 'tests passed|Total Test time' "$log"
  else
    grep -vE '^ *(Start +[0-9]|[0-9]+/[0-9]+ Test.* Passed)' "$log" | tail -n 80
    return 1
  fi
}

fuzz() { tools/fuzz.sh 60 | tee "$logs/fuzz.log"; }

printed() { grep -hoE "$2" "$logs/$1-output.log" | tail -n 1; }  # printed PRESET-LABEL PATTERN
passed() { sed -nE 's/.*, ([0-9]+) tests failed out of ([0-9]+).*/\2 tests, \1 failed/p' "$logs/$1.log"; }

summary() {
  local levels
  levels=$(grep -hoE '(generic|avx2|avx512|amx)/[A-Z][A-Za-z]+\.' "$logs/dev-fast.log" | cut -d/ -f1 | sort -u | tr '\n' ' ')
  echo "cases          $(python3 tests/run_cases.py --summary | tail -n 1 | cut -d' ' -f2) rows replayed"
  echo "tokenizer      $(printed dev-long '^differential [0-9]+/[0-9]+') (texts/differences)"
  echo "fuzz           $(awk '/ runs /{n++; runs+=$2; found+=$(NF-1)} END {print n " targets, " runs " executions, " found " findings"}' "$logs/fuzz.log")"
  echo "asan + ubsan   fast suite: $(passed asan-fast); cases: $(passed asan-long)"
  echo "tsan           threads: $(passed tsan-fast)"
  echo "levels         $levels"
}

tools/setup.sh dev
part "build dev" build dev
part "lint" tools/lint.sh
part "fast suite, every level" suite dev fast
part "slow suite, every level" suite dev slow
part "tokenizer, cost of runs" suite dev long
part "build asan" build asan
part "fast suite, asan + ubsan" suite asan fast
part "cases, asan + ubsan" suite asan long
part "build tsan" build tsan base_test nn_test kernels_test golden_tiny_test
part "threads, tsan" suite tsan fast -R 'Threads|Linear|Lfm2|Attention|ShortConv|RmsNorm|GoldenTiny.(Every|Strange|APrepared)' -E '^generic/'
part "fuzz, a minute each" fuzz
echo
summary
echo
echo "$minutes"
