#!/usr/bin/env bash
# Builds the libFuzzer targets and runs each from its corpus: tools/fuzz.sh [seconds each, 60] [target ...]
# Prints one line a target. What broke lies in build/fuzz/findings; inputs that reached new code in build/fuzz/corpus.
# JOBS says how many compilers run.
# A finding is an input to keep: fix the cause, put the input under a telling name into fuzz/corpus/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  targets=(safetensors index config torch peft tokenizer_json encode request request_run kernels)

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "${JOBS:-$(nproc)}" --target fuzzers | tail -n 1

work=build/fuzz
logs=$work/logs
findings=$work/findings
mkdir -p "$logs" "$findings"
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# An input may take 5 seconds of CPU (fuzz/fuzz.h), 300 on the wall, and 2 GB.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

limits_of() {  # limits_of TARGET: the longest input that is of use to it
  case $1 in
    safetensors | index | config | peft) echo "-max_len=4096 -dict=fuzz/json.dict" ;;
    torch) echo "-max_len=4096 -dict=fuzz/pickle.dict" ;;
    tokenizer_json) echo "-max_len=8192 -dict=fuzz/json.dict" ;;
    encode) echo "-max_len=4096" ;;
    request) echo "-max_len=8192 -dict=fuzz/json.dict" ;;
    request_run) echo "-max_len=512 -dict=fuzz/json.dict" ;;
    kernels) echo "-max_len=256" ;;
    *) echo "tools/fuzz.sh: no target is called $1" >&2; return 1 ;;
  esac
}

stat_of() { sed -n "s/^stat::$2: *//p" "$1" | tail -n 1; }

run_one() {  # run_one TARGET: fuzzes it and prints its line
  local target=$1 limits log before status=0 found reached
  limits=$(limits_of "$target")
  log=$logs/$target.log
  mkdir -p "$work/corpus/$target"
  before=$(find "$findings" -name "$target-*" | wc -l)
  # shellcheck disable=SC2086
  "$work/fuzz/${target}_fuzz" $limits -timeout=300 -report_slow_units=300 -rss_limit_mb=2048 \
    -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$findings/$target-" \
    "$work/corpus/$target" "fuzz/corpus/$target" >"$log" 2>&1 || status=$?
  found=$(($(find "$findings" -name "$target-*" | wc -l) - before))
  reached=$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -n 1 || true)
  printf '%-15s %9s runs %7s/s  %-22s %d findings\n' "$target" \
    "$(stat_of "$log" number_of_executed_units)" "$(stat_of "$log" average_exec_per_sec)" \
    "$reached" "$found"
  if [ "$status" -ne 0 ]; then
    echo "  the end of $log:"
    grep -nE 'does not hold|ERROR|runtime error|SUMMARY|Test unit written' "$log" | tail -n 5 || tail -n 5 "$log"
  fi
  return "$status"
}

# As many at a time as there are CPUs.
failed=0
running=0
for target in "${targets[@]}"; do
  if [ "$running" -ge "$(nproc)" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
  run_one "$target" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
exit "$failed"
