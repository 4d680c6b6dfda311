"""Writes tests/data/cases/recorded_ids.json: the token ids that each case request must give.

    python3 tests/record_case_ids.py

Needs numpy and PyPI tokenizers==0.23.3, which the tests themselves do not. The text of a row is
made by tools/oracle (the rules of the model's makers), for folder 26_json_text checked against that
folder's own expected.json, and encoded by tokenizers; nothing of assay takes part. Short rows are
kept whole, long ones as a count and a sha256 of their ids (little-endian int32). `added` counts the
control tokens that stand in the row's text.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import tokenizers

import make_long_runs

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "data" / "cases"
TOKENIZER = ROOT / "tests" / "data" / "d1_tiny" / "tokenizer.json"
KEPT_WHOLE = 120
NO_LIMIT = 1 << 30

sys.path.append(str(ROOT / "tools" / "oracle"))
import d1_common  # noqa: E402


class Recorder:
    def __init__(self) -> None:
        tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))

        def encode(text: str) -> list[int]:
            text.encode()  # a ValueError for a lone surrogate
            return list(tokenizer.encode(text).ids)

        self.tokens = d1_common.Tokens(encode)
        content = json.loads(TOKENIZER.read_text(encoding="utf-8"))
        self.added = [token["content"] for token in content["added_tokens"]]

    def question(self, question: dict[str, Any], whole: bool) -> dict[str, Any]:
        ids, text = question["ids"], question["text"]
        added = {token: text.count(token) for token in self.added if token in text}
        if whole and len(ids) <= KEPT_WHOLE:
            return {"ids": ids, "added": added}
        return {"count": len(ids), "sha256": d1_common.ids_sha256(ids), "added": added}

    def file(self, path: Path, state_block: str | None) -> dict[str, Any] | None:
        """The rows of a request, or None where the makers or assay's own rules refuse it."""
        try:
            text = path.read_bytes().decode("utf-8")
            request = json.loads(text, parse_constant=refuse, parse_float=finite)
            plan = d1_common.plan_request(request, self.tokens, row_limit=NO_LIMIT)
        except (ValueError, RecursionError, d1_common.Refused):
            return None
        if state_block is not None:
            prefix = "<|startoftext|><|im_start|>user\n"
            if request["state"] is not None:
                prefix += state_block + "\nQUESTION:\n"
            for question in plan["questions"]:
                assert question["text"].startswith(prefix), path
        whole = len(plan["questions"]) <= 10
        return {row["name"]: self.question(row, whole) for row in plan["questions"]}

    def folder(self, folder: Path) -> dict[str, Any]:
        blocks = {}
        if folder.name.startswith("26_"):
            blocks = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        rows = {}
        for path in sorted(folder.glob("*.json")):
            block = blocks[path.stem]["d1_state_block"] if path.stem in blocks else None
            row = self.file(path, block)
            if row is not None:
                rows[path.name] = row
        return rows


def refuse(name: str) -> None:
    raise ValueError(name)


def finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def main() -> None:
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    sys.set_int_max_str_digits(0)
    recorder = Recorder()
    names = ["14_control_tokens", "26_json_text", "28_json_hostile"]
    recorded = {name: recorder.folder(CASES / name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        long_runs = Path(folder) / make_long_runs.FOLDER
        make_long_runs.write(long_runs)
        recorded[make_long_runs.FOLDER] = recorder.folder(long_runs)
    folders = []
    for name, rows in sorted(recorded.items()):
        lines = [f"  {json.dumps(file)}: {json.dumps(row)}" for file, row in rows.items()]
        folders.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    text = "{\n" + ",\n".join(folders) + "\n}\n"
    (CASES / "recorded_ids.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
