"""Accuracy of a demo folder on held-out generated requests, per kind and domain.

  python evaluate.py --model demo/d1-demo [--per-kind 1200]

The weights are those of the file (bf16, widened), the maths is fp32, the answer is the readout's: the option with the
largest logit among its tokens. The training stream is drawn again first, so that no state of it is asked about."""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import torch
from transformers import Lfm2VlForConditionalGeneration

import oracle
from data import DOMAINS, KINDS, Example, held_out, state_text
from model import Tree, collate, hidden_rows, scores
from train import STEPS, THREADS, Rows, batches

BATCH = 48
Right = dict[tuple[str, str], list[bool]]


class Recorder(Rows):
    """Rows that remember every state that training draws."""

    def __init__(self, folder: Path, common: ModuleType) -> None:
        super().__init__(folder, common)
        self.seen: set[str] = set()

    def tree(self, drawn: Example) -> Tree:
        self.seen.add(state_text(drawn))
        return super().tree(drawn)


def load(folder: Path) -> Lfm2VlForConditionalGeneration:
    """The checkpoint as transformers reads it; every tensor must be there and used."""
    model, info = Lfm2VlForConditionalGeneration.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True
    )
    for key in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if info[key]:
            raise SystemExit(f"{folder}: {key}: {info[key]}")
    return model.eval()


def accuracy(model: Lfm2VlForConditionalGeneration, rows: Rows, drawn: list[Example]) -> Right:
    right: Right = defaultdict(list)
    pairs = sorted(((shown, rows.tree(shown)) for shown in drawn), key=lambda pair: len(pair[1]))
    for at in range(0, len(pairs), BATCH):
        part = pairs[at : at + BATCH]
        batch = collate([tree for _, tree in part])
        with torch.no_grad():
            hidden, _ = hidden_rows(model, batch)
            best = scores(model, hidden[batch.read], batch)[1].argmax(-1)
        for (shown, _), ok in zip(part, (best == batch.answers).tolist(), strict=True):
            right[shown.questions[0].kind, shown.domain].append(ok)
    return right


def show(title: str, kind: str, right: Right) -> None:
    every = [ok for domain in DOMAINS for ok in right[kind, domain]]
    shares = [sum(right[kind, domain]) / len(right[kind, domain]) for domain in DOMAINS]
    shares.append(sum(every) / len(every))
    print(f"{title:20}" + "".join(f"{share:11.3f}" for share in shares) + f"{len(every):9}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--per-kind", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    oracle.add_argument(parser)
    args = parser.parse_args()
    torch.set_num_threads(THREADS)
    model = load(args.model)
    rows = Recorder(args.model, oracle.load(args.oracle))
    for _ in batches(rows, STEPS):
        pass
    seen = set(rows.seen)
    print(f"training saw {len(seen)} states")
    for title, new in (("new texts", False), ("new phrases too", True)):
        print(f"{title:20}" + "".join(f"{name:>11}" for name in (*DOMAINS, "all")) + f"{'rows':>9}")
        right = accuracy(model, rows, held_out(args.seed, args.per_kind, seen, new))
        for kind in KINDS:
            show("  " + kind, kind, right)
        mixed = accuracy(model, rows, held_out(args.seed, args.per_kind, seen, new, 1.0))
        show("  choice, any order", "choice", mixed)


if __name__ == "__main__":
    main()
