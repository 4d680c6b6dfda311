"""An engine as a child process: every line of its input asks for something, and its answer is a line."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from types import TracebackType


class Failed(Exception):
    """One line: what is wrong and what would be right."""


def ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class LinePeer:
    """The first line of the child is {"ready": {...}}; then it answers what it is asked."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.ready = self.answer()
            if "ready" not in self.ready:
                raise Failed(f"{name}: did not become ready: {self.ready.get('error')}")
        except BaseException:
            self.close()
            raise

    def answer(self) -> dict[str, object]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.name}: ended with {ending(self.process.wait())}")
        value = json.loads(line)
        if not isinstance(value, dict):
            raise Failed(f"{self.name}: said {line.strip()}, not an object")
        return value

    def ask(self, work: Mapping[str, object]) -> dict[str, object]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(work) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def seconds(self, work: Mapping[str, object]) -> float:
        answer = self.ask(work)
        seconds = answer.get("seconds")
        if not isinstance(seconds, float):
            raise Failed(f"{self.name}: refused {work}: {answer.get('error')}")
        return seconds

    def row(self, tokens: int) -> float:
        return self.seconds({"tokens": tokens})

    def close(self) -> None:
        """The end of its input ends the child."""
        self.process.communicate()

    def __enter__(self) -> LinePeer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
