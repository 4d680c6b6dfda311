"""What happens when the world fails: each fault has one defined end (docs/robustness.md).

python3 tests/faults_test.py PROGRAM MODEL
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import IO

PROGRAM = Path(sys.argv[1]).resolve()
MODEL = Path(sys.argv[2]).resolve()
LIMIT_SECONDS = 120
NO_SPACE = "cannot be written: No space left on device (free space on that disk, or another place)"
FULL = f"assay: standard output: {NO_SPACE}\n"
KILLS = 5


def request(state: str) -> bytes:
    question = {"type": "choice", "instructions": "Which?", "criteria": {"a": None, "b": None}}
    return json.dumps({"state": state, "questions": {"q": question}}).encode()


REQUEST = request("The door is open.")
LINES = b"".join(request(f"Door {i} is open.") + b"\n" for i in range(4000))


class Faults(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="assay-faults-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.model = self.folder / "d1_tiny"
        shutil.copytree(MODEL, self.model)
        for path in self.model.iterdir():
            path.chmod(0o644)
        (self.folder / "request.json").write_bytes(REQUEST)
        (self.folder / "lines.jsonl").write_bytes(LINES)

    def start(
        self,
        arguments: list[str],
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [str(PROGRAM), *arguments],
            cwd=self.folder,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.kill()
        process.communicate()

    def end(self, process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
        stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, (stdout or b"").decode(), stderr.decode()

    def answers_of(self, content: bytes) -> list[str]:
        """All lines of the output, each whole; none may be cut."""
        self.assertTrue(content == b"" or content.endswith(b"\n"), content[-200:])
        lines = content.decode().split("\n")[:-1]
        for number, line in enumerate(lines, start=1):
            self.assertEqual(json.loads(line)["id"], str(number))
        return lines

    def test_a_full_disk_under_standard_output(self) -> None:
        for arguments in (
            ["decide", "d1_tiny", "request.json"],
            ["decide", "d1_tiny", "lines.jsonl", "--lines"],
            ["inspect", "d1_tiny"],
            ["--help"],
        ):
            with Path("/dev/full").open("wb") as full:
                code, _, stderr = self.end(self.start(arguments, stdout=full))
            self.assertEqual((code, stderr), (2, FULL), arguments)

    def test_a_full_disk_under_the_trace(self) -> None:
        lines = ["decide", "d1_tiny", "lines.jsonl", "--lines", "--trace", "/dev/full"]
        code, stdout, stderr = self.end(self.start(lines))
        self.assertEqual((code, stderr), (2, f"assay: /dev/full: {NO_SPACE}\n"))
        self.assertEqual(len(self.answers_of(stdout.encode())), 1)

    def test_a_limit_on_file_sizes(self) -> None:
        def set_limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

        with (self.folder / "out.jsonl").open("wb") as out:
            done = subprocess.run(
                [str(PROGRAM), "decide", "d1_tiny", "lines.jsonl", "--lines"],
                cwd=self.folder,
                stdout=out,
                stderr=subprocess.PIPE,
                preexec_fn=set_limit,
                timeout=LIMIT_SECONDS,
                check=False,
            )
        line = (
            b"assay: standard output: cannot be written: File too large "
            b"(a higher limit on file sizes: ulimit -f)\n"
        )
        self.assertEqual((done.returncode, done.stderr), (2, line))

    def test_input_that_comes_a_byte_at_a_time(self) -> None:
        few = b"".join(LINES.splitlines(keepends=True)[:3])
        for content, arguments in ((REQUEST, []), (few, ["--lines"])):
            (self.folder / "whole").write_bytes(content)
            whole = self.end(self.start(["decide", "d1_tiny", "whole", *arguments]))
            slow = self.start(["decide", "d1_tiny", "-", *arguments], stdin=subprocess.PIPE)
            assert slow.stdin is not None
            for at in range(len(content)):
                os.write(slow.stdin.fileno(), content[at : at + 1])
                if at % 16 == 0:
                    time.sleep(0.001)  # lets the reader see short reads
            self.assertEqual(self.end(slow), whole)
            self.assertEqual(whole[0], 0)

    def test_standard_streams_that_are_closed(self) -> None:
        shell = f"exec '{PROGRAM}' decide d1_tiny request.json --trace trace.jsonl "
        done = subprocess.run(
            ["sh", "-c", shell + ">&-"], cwd=self.folder, capture_output=True, check=False
        )
        self.assertEqual(done.returncode, 2)
        self.assertEqual(
            done.stderr,
            b"assay: standard output: cannot be written: Bad file descriptor (one that is open)\n",
        )
        self.assertEqual((self.folder / "trace.jsonl").read_bytes(), b"")
        done = subprocess.run(
            ["sh", "-c", shell + "<&- 2>&-"], cwd=self.folder, stdout=subprocess.PIPE, check=False
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("answers", json.loads(done.stdout))
        self.assertEqual(len((self.folder / "trace.jsonl").read_bytes().split(b"\n")), 2)

    def test_a_closed_reader_of_standard_output(self) -> None:
        process = self.start(["decide", "d1_tiny", "lines.jsonl", "--lines"])
        assert process.stdout is not None
        first = process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        code, _, stderr = self.end(process)
        self.assertEqual(json.loads(first)["id"], "1")
        self.assertEqual(
            (code, stderr),
            (2, "assay: standard output: the reader closed it (read all of the output)\n"),
        )

    def feed(self, between: str) -> tuple[list[bytes], int, str]:
        """Two lines through a pipe, and what happens to the model between them."""
        process = self.start(["decide", "d1_tiny", "-", "--lines"], stdin=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        weights = self.model / "model.safetensors"
        process.stdin.write(REQUEST + b"\n")
        process.stdin.flush()
        first = process.stdout.readline()
        if between == "cut":
            os.truncate(weights, 4096)
        elif between == "replaced":
            other = self.folder / "other.safetensors"
            content = bytearray(weights.read_bytes())
            content[-1_000_000:] = bytes(1_000_000)
            other.write_bytes(content)
            other.rename(weights)
        process.stdin.write(REQUEST + b"\n")
        code, stdout, stderr = self.end(process)
        return [first, *stdout.encode().splitlines(keepends=True)], code, stderr

    def test_a_model_file_cut_while_it_is_mapped(self) -> None:
        lines, code, stderr = self.feed("cut")
        self.assertEqual(code, 3)
        self.assertEqual(
            stderr, "assay: a model file was cut while it was in use (load the model again)\n"
        )
        self.assertEqual(len(self.answers_of(b"".join(lines))), 1)

    def test_a_model_file_replaced_while_it_is_mapped(self) -> None:
        lines, code, stderr = self.feed("replaced")
        self.assertEqual((code, stderr), (0, ""))
        first, second = (json.loads(line) for line in self.answers_of(b"".join(lines)))
        self.assertEqual(first["answers"], second["answers"])
        # The file that took its place is another one: it answers otherwise, or not at all.
        after = self.end(self.start(["decide", "d1_tiny", "request.json"]))
        self.assertNotEqual(after[1] and json.loads(after[1])["answers"], first["answers"])

    def killed(self, number: signal.Signals, to_pipe: bool, wait_lines: int) -> None:
        out = self.folder / "out.jsonl"
        with out.open("wb") as file:
            process = self.start(
                ["decide", "d1_tiny", "lines.jsonl", "--lines"],
                stdout=subprocess.PIPE if to_pipe else file,
            )
            content = b""
            deadline = time.monotonic() + LIMIT_SECONDS
            while content.count(b"\n") < wait_lines and time.monotonic() < deadline:
                if to_pipe:
                    assert process.stdout is not None
                    content += os.read(process.stdout.fileno(), 1 << 16)
                else:
                    time.sleep(0.005)
                    content = out.read_bytes()
            process.send_signal(number)
            rest, stderr = process.communicate(timeout=LIMIT_SECONDS)
        content = content + rest if to_pipe else out.read_bytes()
        self.assertEqual(process.returncode, -number, stderr)
        lines = self.answers_of(content)
        self.assertGreaterEqual(len(lines), wait_lines)
        self.assertLess(len(lines), 4000, "it ended before it was killed")

    def test_a_killed_program_leaves_whole_lines(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            for to_pipe in (False, True):
                for turn in range(KILLS):
                    with self.subTest(signal=number, to_pipe=to_pipe, turn=turn):
                        self.killed(number, to_pipe, 1 + 7 * turn)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
