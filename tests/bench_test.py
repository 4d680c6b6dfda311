"""assay bench on the tiny model: what is in a report, never how long anything took.

python3 tests/bench_test.py PROGRAM MODEL
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.argv[1]).resolve()
MODEL = Path(sys.argv[2]).resolve()

WINDOW = [
    "name",
    "cpu",
    "instruction_set",
    "threads",
    "kernels",
    "load_average_start",
    "load_average_end",
    "assay",
]
TIMES = [
    "first_seconds",
    "second_seconds",
    "median_seconds",
    "p10_seconds",
    "p90_seconds",
    "tokens_per_second",
    "gflops",
    "share_of_multiply_adds",
    "weights_gb_per_second",
    "share_of_read_bandwidth",
]


def bench(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "bench", *arguments], input=stdin, capture_output=True, text=True, check=False
    )


class ReportTest(unittest.TestCase):
    def report(self, *arguments: str) -> dict[str, Any]:
        done = bench(str(MODEL), *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def check_cell(self, cell: dict[str, Any], repeats: int) -> None:
        for key in TIMES:
            self.assertTrue(math.isfinite(cell[key]) and cell[key] > 0, (cell["name"], key))
        self.assertEqual(cell["repeats"], repeats)
        self.assertLessEqual(cell["p10_seconds"], cell["median_seconds"])
        self.assertLessEqual(cell["median_seconds"], cell["p90_seconds"])

    def test_rows_and_questions_by_default(self) -> None:
        report = self.report("--tokens", "4,8", "--repeats", "2", "--json")
        self.assertEqual(
            list(report), ["window", "model", "load", "machine", "cells", "call_cost", "memory"]
        )
        self.assertEqual(list(report["window"]), WINDOW)
        self.assertIn(
            f"linear: {report['window']['instruction_set']} f32, bf16 weights",
            report["window"]["kernels"],
        )
        self.assertEqual(report["model"]["name"], MODEL.name)
        self.assertEqual(report["load"]["opening_call"], "4 tokens")
        names = [cell["name"] for cell in report["cells"]]
        asked = [
            f"{count} of 20 on 1500" for count in ("1 question", "5 questions", "20 questions")
        ]
        self.assertEqual(names, ["4 tokens", "8 tokens", *asked])
        for cell in report["cells"]:
            self.check_cell(cell, repeats=2)
        self.assertEqual(
            [c.get("ratio_to_one_question", 0) > 0 for c in report["cells"]],
            [False, False, True, True, True],
        )
        self.assertEqual(list(report["call_cost"]), ["fixed_seconds", "seconds_per_token"])
        memory = report["memory"]
        self.assertLess(memory["start_bytes"], memory["peak_bytes"])
        self.assertLessEqual(memory["end_bytes"], memory["peak_bytes"])
        for value in report["machine"].values():
            self.assertGreater(value, 0)

    def test_a_default_state_is_what_the_row_limit_leaves(self) -> None:
        report = self.report(
            "--tokens", "none", "--questions", "2", "--repeats", "1", "--max-row", "64"
        )
        self.assertEqual([cell["state"] for cell in report["cells"]], [44])
        self.assertIsNone(report["call_cost"])

    def test_reports_of_one_window_are_compared(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            names = [str(Path(folder) / name) for name in ("a.json", "b.json")]
            for name in names:
                done = bench(
                    str(MODEL),
                    "--tokens",
                    "4",
                    "--questions",
                    "none",
                    "--repeats",
                    "1",
                    "--window",
                    "test",
                    "--out",
                    name,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(Path(name).read_text(encoding="utf-8"), done.stdout)
            done = bench("--compare", *names)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([c["name"] for c in json.loads(done.stdout)["cells"]], ["4 tokens"])

    def test_lines_are_answered_one_by_one_and_bad_ones_are_refused(self) -> None:
        asked = [
            '{"tokens": 4}',
            '{"questions": 3, "state": 10, "question_tokens": 2}',
            '{"questions": 1}',
            '{"tokens": 5000}',
            '{"tokens": "4"}',
            '{"tokens": 4, "questions": 1}',
            '{"questions": 0}',
            "{}",
            "[4]",
            "",
            "{",
        ]
        done = bench(str(MODEL), "--stdin", stdin="\n".join(asked) + "\n")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "assay: standard input: 8 of 11 lines were refused\n")
        ready, *answers = map(json.loads, done.stdout.splitlines())
        self.assertEqual(list(ready["ready"]["window"]), WINDOW)
        self.assertEqual([list(answer) for answer in answers], [["seconds"]] * 3 + [["error"]] * 8)
        self.assertEqual(
            [answer["error"]["where"] for answer in answers[3:]],
            ["tokens", "tokens", "line", "questions", "line", "line", "line", "line"],
        )

    def test_a_line_is_answered_before_the_next_one_comes(self) -> None:
        with subprocess.Popen(
            [PROGRAM, "bench", MODEL, "--stdin"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin and process.stdout
            self.assertIn("ready", json.loads(process.stdout.readline()))
            for _ in range(3):
                process.stdin.write('{"tokens": 4}\n')
                process.stdin.flush()
                self.assertGreater(json.loads(process.stdout.readline())["seconds"], 0)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
