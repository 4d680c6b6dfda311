"""Runs transcripts of the program: a command line, and what it must print.

A transcript is a text file of sections. A section starts with a line `--- NAME ARGUMENTS` and holds
the lines up to the next one; lines before the first section are notes. Everything happens in one
temporary folder per transcript, which holds the model as `d1_tiny`.

  --- file NAME        writes a file;  --- hex NAME  the same from hexadecimal digits
  --- copy FROM TO     copies a file or folder;  --- remove NAME;  --- cut NAME BYTES
  --- run ARGUMENTS    runs the program, with quotes as in a shell. What follows belongs to it:
  --- env NAME=VALUE     a variable of its environment (ASSAY_CPU stays as it is otherwise)
  --- stdin              its standard input, empty if absent;  --- stdin NAME  that file
  --- to closed          its standard output is a pipe that nobody reads
  --- to terminal WIDTH  ... is a terminal of that many columns
  --- to NAME            ... is that file
  --- exit CODE          its exit code, 0 if absent
  --- stdout             what it prints, nothing if absent
  --- stderr             what it prints to standard error, nothing if absent
  --- stdout contains    texts, one a line, that are in what it prints; also for stderr
  --- save NAME          keeps its standard output in a file
  --- trace NAME         a line for each object of a JSON Lines file: id, question, kind, its keys
  --- same ONE OTHER   two files have the same bytes
  --- gone NAME        a file is not there

Numbers with a fraction or an exponent are compared to within 1e-5, everything else exactly.
`{sha256:NAME}` and `{bytes:NAME}` in what is expected stand for a file's hash and size. A command
that fails prints exactly one line, which starts with `assay: `.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path

TOLERANCE = 1e-5
TIMEOUT_SECONDS = 60
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
PLACEHOLDER = re.compile(r"\{(sha256|bytes):([^}]+)\}")
OF_A_RUN = {"env", "stdin", "to", "exit", "stdout", "stderr", "save", "trace"}
OF_A_FOLDER = {"file", "hex", "copy", "remove", "cut", "run", "same", "gone"}


class Mismatch(Exception):
    """What was found is not what the transcript says."""


@dataclass
class Section:
    name: str
    arguments: list[str]
    body: str
    line: int


@dataclass
class Step:
    """A section of the folder, or a run with the sections that belong to it."""

    section: Section
    parts: list[Section] = field(default_factory=list)

    def part(self, name: str) -> Section | None:
        found = [part for part in self.parts if part.name == name]
        if len(found) > 1:
            raise ValueError(f"line {found[1].line}: a second '{name}' for one run")
        return found[0] if found else None


def parse(text: str) -> list[Step]:
    sections: list[Section] = []
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.startswith("--- "):
            words = shlex.split(line[4:])
            sections.append(Section(words[0], words[1:], "", number))
        elif sections:
            sections[-1].body += line
    steps: list[Step] = []
    for section in sections:
        if section.name in OF_A_FOLDER:
            steps.append(Step(section))
        elif section.name in OF_A_RUN and steps and steps[-1].section.name == "run":
            steps[-1].parts.append(section)
        else:
            raise ValueError(f"line {section.line}: '{section.name}' does not belong here")
    if not any(step.section.name == "run" for step in steps):
        raise ValueError("runs nothing")
    return steps


def numbers_apart(text: str) -> tuple[list[str], list[str]]:
    return NUMBER.split(text), NUMBER.findall(text)


def is_fraction(number: str) -> bool:
    return any(character in number for character in ".eE")


def same_number(one: str, other: str) -> bool:
    if one != other and is_fraction(one) and is_fraction(other):
        return abs(float(one) - float(other)) <= TOLERANCE
    return one == other


def same_text(expected: str, found: str) -> bool:
    words, numbers = numbers_apart(expected)
    other_words, other_numbers = numbers_apart(found)
    return words == other_words and all(map(same_number, numbers, other_numbers))


def compare(what: str, expected: str, found: str) -> None:
    if same_text(expected, found):
        return
    lines = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), "expected", "found", lineterm=""
    )
    raise Mismatch(f"{what} differs:\n" + "\n".join(lines))


def expand(text: str, folder: Path) -> str:
    def value(match: re.Match[str]) -> str:
        content = (folder / match[2]).read_bytes()
        return hashlib.sha256(content).hexdigest() if match[1] == "sha256" else str(len(content))

    return PLACEHOLDER.sub(value, text)


def trace_summary(path: Path) -> str:
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        lines.append(f"{entry['id']} {entry['question']} {entry['kind']}: {' '.join(entry)}\n")
    return "".join(lines)


@dataclass
class Outcome:
    code: int
    stdout: bytes
    stderr: bytes


def read_all(descriptor: int) -> bytes:
    blocks = []
    while True:
        try:
            block = os.read(descriptor, 1 << 16)
        except OSError:  # a terminal whose other end is closed
            break
        if not block:
            break
        blocks.append(block)
    return b"".join(blocks)


def open_terminal(columns: int) -> tuple[int, int]:
    reader, writer = pty.openpty()
    ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = termios.tcgetattr(writer)
    settings[1] &= ~termios.OPOST  # line feeds stay line feeds
    termios.tcsetattr(writer, termios.TCSANOW, settings)
    return reader, writer


class Transcript:
    def __init__(self, program: Path, model: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder
        shutil.copytree(model, folder / "d1_tiny")
        self.actions: dict[str, Callable[[Step], None]] = {
            "file": self.write_file,
            "hex": self.write_hex,
            "copy": self.copy,
            "remove": self.remove,
            "cut": self.cut,
            "run": self.run,
            "same": self.same,
            "gone": self.gone,
        }

    def step(self, step: Step) -> None:
        self.actions[step.section.name](step)

    def path(self, name: str) -> Path:
        return self.folder / name

    def write_file(self, step: Step) -> None:
        self.path(step.section.arguments[0]).write_text(step.section.body, encoding="utf-8")

    def write_hex(self, step: Step) -> None:
        self.path(step.section.arguments[0]).write_bytes(bytes.fromhex(step.section.body))

    def copy(self, step: Step) -> None:
        source, target = map(self.path, step.section.arguments)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)

    def remove(self, step: Step) -> None:
        self.path(step.section.arguments[0]).unlink()

    def cut(self, step: Step) -> None:
        name, size = step.section.arguments
        os.truncate(self.path(name), int(size))

    def same(self, step: Step) -> None:
        one, other = step.section.arguments
        content = self.path(one).read_bytes()
        if not content:
            raise Mismatch(f"{one} is empty, which proves nothing")
        if content != self.path(other).read_bytes():
            raise Mismatch(f"{one} and {other} differ")

    def gone(self, step: Step) -> None:
        name = step.section.arguments[0]
        if self.path(name).exists():
            raise Mismatch(f"{name} is there")

    def stdin_of(self, step: Step) -> bytes:
        part = step.part("stdin")
        if part is None:
            return b""
        if part.arguments:
            return self.path(part.arguments[0]).read_bytes()
        return part.body.encode()

    def start(self, step: Step) -> Outcome:
        words = step.section.arguments
        environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
        if "ASSAY_CPU" in os.environ:
            environment["ASSAY_CPU"] = os.environ["ASSAY_CPU"]
        for part in step.parts:
            if part.name == "env":
                name, _, value = part.arguments[0].partition("=")
                environment[name] = value
        to = step.part("to")
        where = to.arguments[0] if to else ""
        reader, writer = -1, subprocess.PIPE
        if where == "closed":
            reader, writer = os.pipe()
            os.close(reader)
        elif to and where == "terminal":
            reader, writer = open_terminal(int(to.arguments[1]))
        elif where:
            writer = os.open(self.path(where), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        process = subprocess.Popen(
            [self.program, *words],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=writer,
            stderr=subprocess.PIPE,
        )
        if writer >= 0:
            os.close(writer)
        try:
            stdout, stderr = process.communicate(self.stdin_of(step), timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Mismatch(f"still running after {TIMEOUT_SECONDS} seconds") from None
        if where == "terminal":
            stdout = read_all(reader)
            os.close(reader)
        return Outcome(process.returncode, stdout or b"", stderr)

    def check(self, what: str, part: Section | None, found: str) -> None:
        expected = expand(part.body, self.folder) if part else ""
        if part is None or part.arguments != ["contains"]:
            compare(what, expected, found)
            return
        for line in expected.splitlines():
            if line not in found:
                raise Mismatch(f"{what} lacks {line!r}:\n{found}")

    def run(self, step: Step) -> None:
        outcome = self.start(step)
        stdout = outcome.stdout.decode("utf-8", "backslashreplace")
        stderr = outcome.stderr.decode("utf-8", "backslashreplace")
        expected = step.part("exit")
        code = int(expected.arguments[0]) if expected else 0
        if outcome.code != code:
            raise Mismatch(f"exit code {outcome.code}, expected {code}\n{stdout}{stderr}")
        if code != 0 and (stderr.count("\n") != 1 or not stderr.startswith("assay: ")):
            raise Mismatch(f"a failure is one line that starts with 'assay: '\n{stderr}")
        self.check("standard output", step.part("stdout"), stdout)
        self.check("standard error", step.part("stderr"), stderr)
        if save := step.part("save"):
            self.path(save.arguments[0]).write_bytes(outcome.stdout)
        if trace := step.part("trace"):
            compare("the trace", trace.body, trace_summary(self.path(trace.arguments[0])))


def run_transcript(path: Path, program: Path, model: Path) -> str | None:
    """What is wrong with it, or None."""
    with tempfile.TemporaryDirectory(prefix="assay-transcript-") as folder:
        transcript = Transcript(program, model, Path(folder))
        for step in parse(path.read_text(encoding="utf-8")):
            try:
                transcript.step(step)
            except Mismatch as problem:
                command = shlex.join(step.section.arguments)
                return f"{path.name}:{step.section.line}: {step.section.name} {command}: {problem}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs transcripts of the program.")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("transcripts", type=Path, nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for path in arguments.transcripts:
        problem = run_transcript(path, arguments.program.resolve(), arguments.model.resolve())
        if problem is not None:
            print(problem, file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
