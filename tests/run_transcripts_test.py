"""The runner of transcripts must fail when the program does not do what a transcript says."""

from __future__ import annotations

import stat
import tempfile
import unittest
from pathlib import Path

from run_transcripts import parse, run_transcript, same_text

# Prints its arguments, a number and its standard input; fails as the first argument says.
PROGRAM = """#!/bin/sh
case "$1" in
  fail) echo "assay: bad: $2" >&2; exit 2;;
  chatter) echo "assay: one" >&2; echo "assay: two" >&2; exit 2;;
  silent) exit 2;;
esac
echo "$@ 0.25 7"
cat
"""


class Runner(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        (self.folder / "model").mkdir()

    def problem(self, text: str) -> str | None:
        path = self.folder / "transcript.txt"
        path.write_text(text, encoding="utf-8")
        return run_transcript(path, self.program, self.folder / "model")

    def test_what_is_said_passes(self) -> None:
        good = "--- run a b\n--- stdin\nin\n--- stdout\na b 0.25 7\nin\n"
        self.assertIsNone(self.problem(good))
        self.assertIsNone(self.problem("--- run a\n--- stdout\na 0.250009 7\n"))
        self.assertIsNone(self.problem("--- run fail x\n--- exit 2\n--- stderr\nassay: bad: x\n"))
        self.assertIsNone(self.problem("--- run a\n--- stdout contains\n0.25 7\n"))

    def test_other_output_fails(self) -> None:
        for expected in ("a 0.2502 7\n", "a 0.25 8\n", "b 0.25 7\n", "a 0.25 7\nmore\n", "", "a\n"):
            self.assertIsNotNone(self.problem(f"--- run a\n--- stdout\n{expected}"), expected)
        self.assertIsNotNone(self.problem("--- run a\n--- stdout contains\n0.26\n"))

    def test_output_that_nobody_mentions_fails(self) -> None:
        self.assertIsNotNone(self.problem("--- run a\n"))
        self.assertIsNotNone(self.problem("--- run fail x\n--- exit 2\n"))

    def test_another_exit_code_fails(self) -> None:
        self.assertIsNotNone(
            self.problem("--- run fail x\n--- exit 3\n--- stderr\nassay: bad: x\n")
        )
        self.assertIsNotNone(self.problem("--- run fail x\n--- stderr\nassay: bad: x\n"))

    def test_a_failure_is_exactly_one_line(self) -> None:
        chatter = "--- run chatter\n--- exit 2\n--- stderr\nassay: one\nassay: two\n"
        self.assertIsNotNone(self.problem(chatter))
        self.assertIsNotNone(self.problem("--- run silent\n--- exit 2\n"))

    def test_files_are_compared(self) -> None:
        files = "--- file one\n1\n--- file two\n{}\n--- run a\n--- stdout contains\na\n"
        self.assertIsNone(self.problem(files.format(1) + "--- same one two\n"))
        self.assertIsNotNone(self.problem(files.format(2) + "--- same one two\n"))
        self.assertIsNotNone(self.problem(files.format(2) + "--- gone one\n"))
        empty = "--- file one\n--- file two\n--- run a\n--- stdout contains\na\n"
        self.assertIsNotNone(self.problem(empty + "--- same one two\n"))

    def test_a_transcript_that_says_nothing_is_an_error(self) -> None:
        for text in ("", "notes\n", "--- file a\n", "--- stdout\n--- run a\n", "--- runs a\n"):
            with self.assertRaises(ValueError, msg=text):
                parse(text)

    def test_a_whole_number_is_not_a_fraction(self) -> None:
        self.assertFalse(same_text("1", "1.0"))
        self.assertFalse(same_text("7", "7.000001"))
        self.assertTrue(same_text("1e-07", "0.0000002"))


if __name__ == "__main__":
    unittest.main()
