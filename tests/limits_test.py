"""Memory limits: too little is said before anything is taken, and the prediction is enough.

    python3 tests/limits_test.py PROGRAM MODEL

The limit is the address space (`ulimit -v`). Predicted bytes and bytes left are read from the
refusal; with what was predicted, the largest requests are answered or refused as without a limit.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
MODEL = Path(sys.argv[2]).resolve()
MEGABYTE = 1 << 20
TOO_LITTLE = 192 * MEGABYTE
# The size of the process when it asks is not the same to the byte in every run.
MARGIN = 2 * MEGABYTE
REFUSAL = re.compile(
    r"assay: model: needs [^(]+ \((\d+) bytes\), and RLIMIT_AS leaves [^(]+ \((\d+) bytes\) "
    r"\(a smaller model, a lower --max-row, or more memory\)\n"
)


def request(state: object, questions: int = 1) -> str:
    asked = {f"q{i}": {"type": "noul", "instructions": f"Is it {i}?"} for i in range(questions)}
    return json.dumps({"state": state, "questions": asked})


def nested(count: int, depth: int) -> object:
    value: object = [1] * count
    for _ in range(depth - 1):
        value = [value]
    return value


# What takes the most memory of each kind: a row of full length, many branches on a long trunk,
# a parsed tree, an indented text, a plain text.
LARGEST = {
    "row": request("word " * 2000),
    "branches": request("word " * 1900, 300),
    "values": request([1] * 90_000),
    "indented": request(nested(32_000, 250)),
    "text": request("word " * 3_300_000),
}


class Limits(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="assay-limits-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        for name, text in LARGEST.items():
            (cls.folder / f"{name}.json").write_text(text, encoding="utf-8")

    def run_program(
        self, arguments: list[str], limit: int | None
    ) -> subprocess.CompletedProcess[str]:
        def set_limit() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        return subprocess.run(
            [str(PROGRAM), *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            preexec_fn=set_limit,
            check=False,
        )

    def decide(
        self, name: str, threads: int, limit: int | None
    ) -> subprocess.CompletedProcess[str]:
        """As a file of lines: the model asks before the request is read, not after."""
        arguments = ["decide", str(MODEL), f"{name}.json", "--lines", "--threads", str(threads)]
        return self.run_program(arguments, limit)

    def needed_and_used(self, threads: int) -> tuple[int, int]:
        """Bytes predicted, and those that the process had when it asked."""
        done = self.decide("row", threads, TOO_LITTLE)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        found = REFUSAL.fullmatch(done.stderr)
        self.assertIsNotNone(found, done.stderr)
        assert found is not None
        needed, left = map(int, found.groups())
        self.assertGreater(needed, left)
        return needed, TOO_LITTLE - left

    def test_too_little_is_refused_with_both_numbers(self) -> None:
        for threads in (1, 2, 4):
            needed, used = self.needed_and_used(threads)
            done = self.decide("row", threads, used + needed - MARGIN)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, REFUSAL)

    def test_what_is_predicted_is_enough(self) -> None:
        for threads in (1, 4):
            needed, used = self.needed_and_used(threads)
            for name in LARGEST:
                free = self.decide(name, threads, None)
                self.assertEqual(free.returncode, 0 if name in ("row", "branches") else 4, name)
                limited = self.decide(name, threads, used + needed + MARGIN)
                self.assertEqual(limited.stderr, free.stderr, name)
                self.assertEqual(limited.returncode, free.returncode, name)
                self.assertEqual(limited.stdout, free.stdout, name)

    def test_inspect_prints_the_prediction(self) -> None:
        done = self.run_program(["inspect", str(MODEL)], None)
        memory = json.loads(done.stdout)["memory"]
        one, two = self.needed_and_used(1)[0], self.needed_and_used(2)[0]
        self.assertEqual(memory["mapped_bytes"] + memory["working_bytes"], one - (two - one))

    def test_a_longer_row_needs_more(self) -> None:
        arguments = ["decide", str(MODEL), "row.json", "--threads", "1"]
        short = self.run_program([*arguments, "--max-row", "64"], TOO_LITTLE)
        long = self.run_program([*arguments, "--max-row", "32768"], TOO_LITTLE)
        needed = [int(REFUSAL.fullmatch(d.stderr)[1]) for d in (short, long)]  # type: ignore[index]
        self.assertLess(needed[0] + MEGABYTE, needed[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
