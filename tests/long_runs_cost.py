"""The cost of encoding one long run grows with its length: twice the run, about twice the work.

    python3 tests/long_runs_cost.py ENCODE_LINES TOKENIZER.json

Work is instructions, counted by valgrind's callgrind, so a busy machine changes nothing. For every
kind of run of case folder 16_long_runs: instructions at n and at 2n characters, less those of an
empty text (loading the file); their ratio is at most 2.3.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import make_long_runs

LENGTH = make_long_runs.LENGTH  # the cases, and twice as long
BOUND = 2.3
COLLECTED = re.compile(r"Collected *: *(\d+)")


def instructions(program: Path, tokenizer: Path, text: str) -> int:
    with tempfile.TemporaryDirectory(prefix="assay-long-runs-") as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                str(program),
                str(tokenizer),
            ],
            input=json.dumps(text).encode() + b"\n",
            capture_output=True,
            check=False,
        )
    found = COLLECTED.search(done.stderr.decode())
    if done.returncode != 0 or found is None or done.stdout.startswith(b"!"):
        raise RuntimeError(done.stderr.decode() + done.stdout.decode()[:200])
    return int(found[1])


def main() -> int:
    program, tokenizer = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    once, twice = make_long_runs.runs(LENGTH), make_long_runs.runs(2 * LENGTH)
    texts = ["", *(text for name in once for text in (once[name], twice[name]))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        start, *counts = pool.map(lambda text: instructions(program, tokenizer, text), texts)
    failed = 0
    for at, name in enumerate(once):
        work, double = counts[2 * at] - start, counts[2 * at + 1] - start
        ratio = double / work
        failed += ratio > BOUND
        per_character = double / len(twice[name])
        print(
            f"{name}: {work} instructions for {len(once[name])} characters, ratio {ratio:.3f}"
            f" for {len(twice[name])}, {per_character:.0f} a character"
            + (f", more than {BOUND}" if ratio > BOUND else "")
        )
    print(f"long runs {len(once) - failed}/{len(once)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
