"""Replays the case requests of tests/data/cases against the program.

    python3 tests/run_cases.py --program build/dev/assay --model tests/data/d1_tiny
    python3 tests/run_cases.py --summary

What each file of a folder must come to is a row of FOLDER.expected.json beside it; a file without a
row fails, and so does a row without a file. A row is one text, or an object:

  "answered"          answered, exit 0
  "x.json: is ..."    refused, exit 4, with this line (without "assay: ") and the same as JSON
  "not yet: ..."      belongs to a later version: not sent
  {"host": TEXT, "wire": TEXT}    where the dialects differ
  "options": [...]    more arguments
  "differs": BODY     a request whose answer must be another one
  "note": TEXT        why

Beyond its row, every request is checked for this. No crash, no hang, UTF-8 output, at most one line
on standard error. Answers come for the questions and options as sent, in their order; they equal,
to the byte, the answers to the same request as Python's json module reads and writes it; ids equal
the recorded ones (record_case_ids.py), with one id for every control token in the text. In a file
of lines (--lines) a case is answered or refused as alone, and a good request after it is answered
as alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import resource
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import make_long_runs

CASES = Path(__file__).resolve().parent / "data" / "cases"
FOLDERS = ["14_control_tokens", make_long_runs.FOLDER, "26_json_text", "28_json_hostile"]
# Replayed by unit tests: the test programs that read these tables.
ELSEWHERE = {
    "17_tokenizer_json": "text_test",
    "19_safetensors_bad": "formats_test",
    "20_sharded": "formats_test",
    "22_pt": "formats_test",
    "25_lora": "formats_test",
    "23_config": "formats_test",
}
DIALECTS = ["host", "wire"]
NOT_YET = "not yet: "
HANG_CPU_SECONDS = 20
HANG_WALL_SECONDS = 300  # a busy machine is no hang
GOOD = b'{"id": "good", "state": "s", "questions": {"q": {"type": "noul", "instructions": "?"}}}'
ROW_TOKENS = re.compile(r"its row has (\d+) tokens")


class Wrong(Exception):
    """What was found is not what the row says."""


@dataclass
class Row:
    outcome: dict[str, str]
    options: list[str]
    differs: str | None

    @staticmethod
    def of(value: Any) -> Row:  # noqa: ANN401
        row: dict[str, Any] = {"host": value} if isinstance(value, str) else value
        host = row["host"]
        outcome = {"host": host, "wire": row.get("wire", host)}
        return Row(outcome, row.get("options", []), row.get("differs"))

    @property
    def not_yet(self) -> bool:
        return self.outcome["host"].startswith(NOT_YET)


@dataclass
class Outcome:
    code: int
    stdout: str
    stderr: str


def limit_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (HANG_CPU_SECONDS, HANG_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def expect(condition: bool, problem: str) -> None:
    if not condition:
        raise Wrong(problem)


def ids_sha256(ids: list[int]) -> str:
    return hashlib.sha256(struct.pack(f"<{len(ids)}i", *ids)).hexdigest()


def added_ids(model: Path) -> dict[str, int]:
    tokenizer = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    return {token["content"]: token["id"] for token in tokenizer["added_tokens"]}


class Runner:
    def __init__(self, program: Path, model: Path, scratch: Path) -> None:
        self.program = program
        self.model = model
        self.scratch = scratch
        self.added = added_ids(model)
        self.recorded = json.loads((CASES / "recorded_ids.json").read_text(encoding="utf-8"))

    def run(self, arguments: list[str], folder: Path) -> Outcome:
        command = [str(self.program), "decide", str(self.model), *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=HANG_WALL_SECONDS,
                preexec_fn=limit_time,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Wrong("hangs") from None
        try:
            stdout, stderr = done.stdout.decode(), done.stderr.decode()
        except UnicodeDecodeError as problem:
            raise Wrong(f"prints what is not UTF-8: {problem}") from None
        expect(done.returncode >= 0, f"died of signal {-done.returncode}")
        expect(stderr.count("\n") == (0 if stderr == "" else 1), f"several lines:\n{stderr}")
        return Outcome(done.returncode, stdout, stderr)

    def answer(self, body: bytes, arguments: list[str]) -> str:
        (self.scratch / "body.json").write_bytes(body)
        outcome = self.run(["body.json", *arguments], self.scratch)
        expect(outcome.code == 0, f"a plain form of it is refused: {outcome.stderr}")
        return outcome.stdout

    def refused(self, line: str, outcome: Outcome) -> None:
        expect(outcome.code == 4, f"exit {outcome.code}, expected 4\n{outcome.stderr}")
        expect(
            outcome.stderr == f"assay: {line}\n", f"expected {line!r}\nfound    {outcome.stderr!r}"
        )
        error = json.loads(outcome.stdout)["error"]
        expect(list(error) == ["kind", "where", "message", "hint"], f"error has {list(error)}")
        expect(error["kind"] == "request", f"kind is {error['kind']}")
        expect(line.startswith(f"{error['where']}: {error['message']}"), f"JSON says {error}")

    def answered(self, body: Any, outcome: Outcome) -> None:  # noqa: ANN401
        expect(outcome.code == 0, f"exit {outcome.code}, expected an answer\n{outcome.stderr}")
        expect(outcome.stderr == "", f"an answer with {outcome.stderr!r}")
        answers = json.loads(outcome.stdout)["answers"]
        expect(list(answers) == list(body["questions"]), f"answers are {list(answers)}")
        for name, question in body["questions"].items():
            answer = answers[name]
            if question["type"] == "choice":
                keys = list(answer["probabilities"])
                expect(keys == list(question["criteria"]), f"options of {name} are {keys}")
            values = answer.get("probabilities", {"yes": answer.get("noul")}).values()
            expect(all(math.isfinite(p) and 0 <= p <= 1 for p in values), f"{name}: {answer}")

    def ids(self, recorded: dict[str, Any], trace: Path) -> None:
        rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").split("\n") if line]
        expect([row["question"] for row in rows] == list(recorded), "the trace has other questions")
        for row in rows:
            ids, wanted = row["ids"], recorded[row["question"]]
            if "ids" in wanted:
                expect(ids == wanted["ids"], f"ids are {ids}\nexpected {wanted['ids']}")
            else:
                same = len(ids) == wanted["count"] and ids_sha256(ids) == wanted["sha256"]
                expect(same, f"{len(ids)} ids, others than the recorded {wanted['count']}")
            for token, count in wanted["added"].items():
                found = ids.count(self.added[token])
                expect(found == count, f"{token}: {found} ids for {count} in the text")

    def length(self, recorded: dict[str, Any] | None, line: str) -> None:
        """A row that is too long is refused with its true count."""
        found = ROW_TOKENS.search(line)
        if found and recorded:
            (row,) = recorded.values()
            count = row.get("count") or len(row["ids"])
            expect(int(found[1]) == count, f"the row has {count} tokens, not {found[1]}")

    def case(self, path: Path, row: Row, dialect: str) -> None:
        arguments = ["--dialect", dialect, *row.options]
        trace = self.scratch / "trace.jsonl"
        sent = [path.name, "--json", "--trace", str(trace), *arguments]
        outcome = self.run(sent, path.parent)
        line = row.outcome[dialect]
        recorded = self.recorded[path.parent.name].get(path.name)
        if line != "answered":
            self.refused(line, outcome)
            self.length(recorded, line)
            return
        body = json.loads(path.read_bytes())
        self.answered(body, outcome)
        expect(recorded is not None, "has no recorded ids: run record_case_ids.py")
        self.ids(recorded or {}, trace)
        for plain in {json.dumps(body, ensure_ascii=ascii_only) for ascii_only in (False, True)}:
            same = self.answer(plain.encode(), arguments) == outcome.stdout
            expect(same, "Python's form of the request is answered otherwise")
        if row.differs is not None:
            other = self.answer(row.differs.encode(), arguments)
            expect(other != outcome.stdout, "is answered as the request that differs")

    def lines(self, paths: list[Path], rows: dict[str, Row], dialect: str) -> None:
        """All cases as lines of one file, a good request after each."""
        alone = json.loads(self.answer(GOOD, ["--dialect", dialect]))
        content = b"".join(path.read_bytes() + b"\n" + GOOD + b"\n" for path in paths)
        (self.scratch / "lines.jsonl").write_bytes(content)
        outcome = self.run(["lines.jsonl", "--lines", "--dialect", dialect], self.scratch)
        found = iter(outcome.stdout.split("\n")[:-1])
        code = 0
        for path in paths:
            for _ in range(path.read_bytes().count(b"\n") + 1):
                answer = json.loads(next(found))
                code = 4 if "error" in answer else code
                wrong = f"{path.name} in a file of lines: {answer}"
                if rows[path.name].outcome[dialect] != "answered":
                    expect(answer["error"]["kind"] == "request", wrong)
                elif not rows[path.name].options:
                    expect("answers" in answer, wrong)
            expect(json.loads(next(found)) == alone, f"the request after {path.name} suffers")
        expect(next(found, None) is None, "more lines than requests")
        expect(outcome.code == code, f"exit {outcome.code}, expected {code}: {outcome.stderr}")


def table(folder: str) -> dict[str, Row]:
    content = (CASES / f"{folder}.expected.json").read_text(encoding="utf-8")
    return {name: Row.of(value) for name, value in json.loads(content).items()}


def replay(runner: Runner, name: str, folder: Path) -> tuple[int, int]:
    """Good cases and all cases of a folder; says what is wrong with the others."""
    rows = table(name)
    paths = sorted(path for path in folder.iterdir() if path.name != "expected.json")
    bad = {row: "the file is missing" for row in rows.keys() - {path.name for path in paths}}
    bad |= {path.name: "has no row in the table" for path in paths if path.name not in rows}
    known = [path for path in paths if path.name in rows and not rows[path.name].not_yet]
    for dialect in DIALECTS:
        for path in known:
            try:
                runner.case(path, rows[path.name], dialect)
            except Wrong as problem:
                bad.setdefault(path.name, f"{dialect}: {problem}")
        try:
            runner.lines(known, rows, dialect)
        except Wrong as problem:
            bad.setdefault("lines", f"{dialect}: {problem}")
    for file, said in sorted(bad.items()):
        print(f"{name}/{file}: {said}", file=sys.stderr)
    later = sorted(file for file, row in rows.items() if row.not_yet)
    count = len(rows) - len(later)
    good = count - len(bad)
    print(f"{name}: {good}/{count}" + "".join(f"; {f} {rows[f].outcome['host']}" for f in later))
    return good, count


def rows_elsewhere(name: str) -> tuple[int, int]:
    """Cases of a folder that has a row in the table, and all of them."""
    rows = json.loads((CASES / f"{name}.expected.json").read_text(encoding="utf-8"))
    found = {
        path.stem if path.suffix == ".safetensors" else path.name
        for path in (CASES / name).iterdir()
        if path.name != "expected.json" and (path.is_dir() or name != "20_sharded")
    }
    return len(found & rows.keys()), len(found | rows.keys())


def summary() -> int:
    good = count = 0
    for name in sorted([*FOLDERS, *ELSEWHERE]):
        if name in ELSEWHERE:
            part = rows_elsewhere(name)
            by = ELSEWHERE[name]
        else:
            rows = [row for row in table(name).values() if not row.not_yet]
            files = (
                set(make_long_runs.SHA256)
                if name == make_long_runs.FOLDER
                else {path.stem for path in (CASES / name).iterdir()} - {"expected"}
            )
            part = len(rows), len(files) - sum(row.not_yet for row in table(name).values())
            by = "run_cases.py"
        print(f"{name}: {part[0]}/{part[1]} have a row, replayed by {by}")
        good, count = good + part[0], count + part[1]
    print(f"cases {good}/{count}")
    return 0 if good == count else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Replays the case requests.")
    parser.add_argument("--program", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--summary", action="store_true", help="count the cases; run nothing")
    arguments = parser.parse_args()
    if arguments.summary:
        return summary()
    if arguments.program is None or arguments.model is None:
        parser.error("name --program and --model, or ask for the --summary")
    sys.set_int_max_str_digits(0)
    good = count = 0
    with tempfile.TemporaryDirectory(prefix="assay-cases-") as folder:
        scratch = Path(folder)
        make_long_runs.write(scratch / make_long_runs.FOLDER)
        runner = Runner(arguments.program.resolve(), arguments.model.resolve(), scratch)
        for name in FOLDERS:
            where = scratch if name == make_long_runs.FOLDER else CASES
            part = replay(runner, name, where / name)
            good, count = good + part[0], count + part[1]
    print(f"cases {good}/{count}")
    return 0 if good == count else 1


if __name__ == "__main__":
    sys.exit(main())
