"""llama.cpp on the same checkpoint as a GGUF file; its answer is compared with torch's before it is timed."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from line_peer import Failed, LinePeer

HERE = Path(__file__).resolve().parent
PREFIX = "llamacpp-"
REQUIREMENTS = HERE / "requirements-llamacpp.txt"
CHECKED_ROWS, CHECKED_TOKENS = 8, 32
# The least mean cosine of those rows' logits. Random weights of 30 layers measured 0.994 and 0.91, files that are wrong 0.83 at most
# (README.md).
ALIKE = {"bf16": 0.98, "q8_0": 0.8}
# What llama.cpp must not have been built with, when assay is held to a level: it chooses when it is built.
ABOVE = {"avx512": ["AMX_INT8"], "avx2": ["AMX_INT8", "AVX512"]}


def check_installed(name: str) -> None:
    """Not installed of itself: the package is compiled for a quarter of an hour."""
    missing = [each for each in ("llama_cpp", "gguf") if importlib.util.find_spec(each) is None]
    if missing:
        raise Failed(
            f"{name}: {' and '.join(missing)} not installed "
            f"({sys.executable} -m pip install -r {REQUIREMENTS}; see {HERE / 'README.md'})"
        )


def kind_of(name: str) -> str:
    return name.removeprefix(PREFIX)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) != len(other) or not all(map(math.isfinite, [*one, *other])):
        return math.nan
    norms = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms if norms else math.nan


def checked_ids(vocabulary: int) -> list[list[int]]:
    drawn = random.Random(1)
    return [
        [drawn.randrange(vocabulary) for _ in range(CHECKED_TOKENS)] for _ in range(CHECKED_ROWS)
    ]


def reference_file(model: Path) -> Path:
    from llamacpp_gguf import stamp

    return model / f"llamacpp-reference-{stamp(model)}.json"


def make_reference(model: Path, threads: int) -> None:
    """The logits of each row's last token by the makers' code in fp32, beside the checkpoint; those of older weights go."""
    from llamacpp_gguf import vocabulary_of
    from torch_peer import TorchPeer

    vocabulary = vocabulary_of(model)
    torch = TorchPeer("torch-fp32", model, threads)
    logits = [torch.logits(ids, vocabulary) for ids in checked_ids(vocabulary)]
    for old in model.glob("llamacpp-reference-*.json"):
        old.unlink()
    kept = reference_file(model)
    part = kept.with_suffix(f".part{os.getpid()}")
    part.write_text(json.dumps(logits), encoding="utf-8")
    part.replace(kept)


def check_alike(
    name: str, theirs: Sequence[Sequence[float]], right: Sequence[Sequence[float]]
) -> float:
    cosines = [cosine(one, other) for one, other in zip(theirs, right, strict=True)]
    alike, least = sum(cosines) / len(cosines), ALIKE[kind_of(name)]
    if not alike >= least:  # nan is not alike
        raise Failed(
            f"{name}: its logits and torch's have cosine {alike:.4f}, not {least} or more: "
            "the GGUF file is not this model"
        )
    return alike


def check_level(name: str, system: str, level: str | None) -> None:
    built = {part.strip() for part in system.split("|")}
    for unit in ABOVE.get(level or "", []):
        if f"{unit} = 1" in built:
            raise Failed(f"{name}: was built with {unit}, ASSAY_CPU is {level}; build it without")


class LlamacppPeer(LinePeer):
    """Expects the reference to be there."""

    def __init__(self, name: str, model: Path, threads: int, longest: int) -> None:
        from llamacpp_gguf import cached, vocabulary_of

        right = json.loads(reference_file(model).read_text(encoding="utf-8"))
        file = cached(model, kind_of(name))
        longest = max(longest, CHECKED_TOKENS)
        worker = [sys.executable, str(HERE / "llamacpp_worker.py"), str(file)]
        super().__init__(name, [*worker, str(longest), str(threads)])
        try:
            ready = self.ready["ready"]
            system = str(ready.get("system")) if isinstance(ready, dict) else ""
            check_level(name, system, os.environ.get("ASSAY_CPU"))
            rows = [self.logits(ids) for ids in checked_ids(vocabulary_of(model))]
            alike = check_alike(name, rows, right)
        except BaseException:
            self.close()
            raise
        self.note = f"{system.strip(' |')}; cosine to torch {alike:.6f}"

    def logits(self, ids: list[int]) -> list[float]:
        answer = self.ask({"logits": ids})
        logits = answer.get("logits")
        if not isinstance(logits, list):
            raise Failed(f"{self.name}: no logits for the check: {answer.get('error')}")
        return logits
