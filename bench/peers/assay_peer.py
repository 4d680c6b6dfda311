"""assay as a child process that measures what each line asks for (`assay bench MODEL --stdin`)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType


class Failed(Exception):
    """One line: what is wrong and what would be right."""


class AssayPeer:
    name = "assay"

    def __init__(self, program: Path, model: Path, threads: int) -> None:
        self.program = program
        self.process = subprocess.Popen(
            [str(program), "bench", str(model), "--stdin", "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            ready = self.answer()
        except Failed:
            self.close()
            raise
        if "ready" not in ready:
            self.close()
            raise Failed(f"{program}: did not become ready: {ready}")

    def answer(self) -> dict[str, object]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.program}: ended with exit code {self.process.wait()}")
        value = json.loads(line)
        if not isinstance(value, dict):
            raise Failed(f"assay said {line.strip()}, not an object")
        return value

    def seconds(self, work: dict[str, int]) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(work) + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        seconds = answer.get("seconds")
        if not isinstance(seconds, float):
            raise Failed(f"assay refused {work}: {answer.get('error')}")
        return seconds

    def row(self, tokens: int) -> float:
        return self.seconds({"tokens": tokens})

    def close(self) -> None:
        """The end of its input ends assay."""
        self.process.communicate()

    def __enter__(self) -> AssayPeer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
