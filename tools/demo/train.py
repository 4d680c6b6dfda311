"""Trains the demo model on generated requests and writes its folder.

  python build_tokenizer.py --out demo/d1-demo
  python train.py --out demo/d1-demo

Every number that matters is fixed here: the same machine type gives the same file."""

from __future__ import annotations

import argparse
import bisect
import itertools
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import tokenizers
import torch
import torch.nn.functional as F
from transformers import Lfm2VlForConditionalGeneration

import oracle
from data import KINDS, Example, example
from model import (
    Batch,
    Row,
    Tree,
    check_tree,
    collate,
    hidden_rows,
    new_model,
    scores,
    write_config,
    write_weights,
)

SEED = 1
THREADS = 2  # part of the result: another count adds in another order
STEPS = 3600
TOKENS = 2048  # of a batch, padding included
POOL = 16  # batches that are sorted by length together
RATE = 2e-3
WARMUP = 60
DECAY = 0.05
VOCABULARY_TERM = 0.1  # share of the loss that keeps the answer above all other tokens too
MARK = 1.0  # weight of the loss that marks options one by one
AVERAGE = 0.998  # weights are averaged over about the last 500 steps
EASY_UNTIL = 0.5  # of the steps: states get longer until here

MIXED = 0.4  # share of choices whose options come in any order, at the end
MIXED_FROM = 0.25  # of the steps: from here it grows, over as many steps again


class Rows:
    """Makes trees of requests: ids, readout groups, and where each option's line ends."""

    def __init__(self, folder: Path, common: ModuleType) -> None:
        fast = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.common, self.tokens = common, common.Tokens(lambda text: fast.encode(text).ids)
        added = {token.content for token in fast.get_added_tokens_decoder().values()}
        # a character of a byte-level piece stands for one byte; the text of an added token is plain
        self.bytes = {
            n: len(piece.encode() if piece in added else piece)
            for piece, n in fast.get_vocab().items()
        }

    def marks(self, kind: str, options: int, branch: list[int], text: bytes) -> list[int]:
        """Indices of the tokens that hold the line ends of the options (of the question for noul)."""
        ends = [text.rindex(b"\n\nReply with ")]
        for _ in range(options - 1 if kind != "noul" else 0):
            ends.append(text.rindex(b"\n", 0, ends[-1]))
        last = list(itertools.accumulate(self.bytes[n] for n in branch))
        return [bisect.bisect_right(last, end) for end in reversed(ends)]

    def tree(self, drawn: Example) -> Tree:
        trunk = self.tokens.encode(self.common.prefix_text(drawn.state, 0))
        rows = []
        for question in drawn.questions:
            block, _, groups, _ = self.common.render(self.tokens, question.kind, question.body)
            text = self.common.suffix_text(block)
            branch = self.tokens.encode(text)
            marks = self.marks(question.kind, len(groups), branch, text.encode())
            rows.append(Row(question.kind, branch, groups, question.answer, marks))
        return Tree(trunk, rows)


def batches(rows: Rows, steps: int) -> Iterator[Batch]:
    """Trees of like length share a batch, for padding costs as much as text."""
    rng = random.Random(f"train {SEED}")
    made = 0
    while made < steps:
        share = made / steps
        ease = max(0.0, 1 - share / EASY_UNTIL)
        mixed = MIXED * min(1.0, max(0.0, share - MIXED_FROM) / MIXED_FROM)
        trees: list[Tree] = []
        while sum(map(len, trees)) < POOL * TOKENS * 0.96:
            trees.append(rows.tree(example(rng, False, rng.randint(2, 6), ease, mixed)))
        trees.sort(key=len)
        groups: list[list[Tree]] = [[]]
        for tree in trees:
            if (len(groups[-1]) + 1) * len(tree) > TOKENS:
                groups.append([])
            groups[-1].append(tree)
        rng.shuffle(groups)
        for group in groups[: steps - made]:
            made += 1
            yield collate(group)


def learning_rate(step: int, steps: int) -> float:
    if step < WARMUP:
        return RATE * (step + 1) / WARMUP
    return RATE * (
        0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / max(1, steps - WARMUP)))
    )


def mark_loss(probe: torch.Tensor, before: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Before the last layer each option's end should already tell whether the option is right (a noul question's end
    the answer). The probe that reads it is thrown away; what is left for the last layer is to look the option up."""
    rows = before[batch.read[0][:, None], batch.marks]
    read = F.rms_norm(rows, rows.shape[-1:]) @ probe
    fit = read[..., 0].masked_fill(~batch.real, -torch.inf)
    yes = torch.stack((read[:, 0, 1], torch.zeros(len(rows))), dim=1)
    fit[:, :2] = torch.where(batch.noul[:, None], yes, fit[:, :2])
    return F.cross_entropy(fit, batch.answers)


def loss_of(
    model: Lfm2VlForConditionalGeneration, probe: torch.Tensor, batch: Batch
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cross entropy over the options as the readout sees them, a little over the whole vocabulary, and the marks."""
    hidden, before = hidden_rows(model, batch)
    logits, best = scores(model, hidden[batch.read], batch)
    each = torch.arange(len(logits))
    options = F.cross_entropy(best, batch.answers)
    vocabulary = (logits.logsumexp(-1) - best[each, batch.answers]).mean()
    loss = options + VOCABULARY_TERM * vocabulary + MARK * mark_loss(probe, before, batch)
    return loss, best.argmax(-1) == batch.answers


class Meter:
    """Loss and accuracy since the last line."""

    def __init__(self, steps: int) -> None:
        self.steps, self.start = steps, time.monotonic()
        self.losses: list[float] = []
        self.right: dict[str, list[bool]] = defaultdict(list)

    def add(self, loss: float, right: list[bool], kinds: list[str]) -> None:
        self.losses.append(loss)
        for kind, ok in zip(kinds, right, strict=True):
            self.right[kind].append(ok)

    def line(self, step: int) -> None:
        used = (time.monotonic() - self.start) / 60
        shares = "  ".join(
            f"{kind} {sum(self.right[kind]) / max(1, len(self.right[kind])):.3f}" for kind in KINDS
        )
        left = used / step * (self.steps - step)
        print(
            f"step {step}/{self.steps}  loss {sum(self.losses) / len(self.losses):.4f}  {shares}  {used:.1f} min, {left:.1f} left",
            flush=True,
        )
        self.losses.clear()
        self.right.clear()


def optimizer_of(text: torch.nn.Module, probe: torch.Tensor) -> torch.optim.Optimizer:
    """AdamW; only the matrices of the layers decay."""
    named = dict(text.named_parameters())
    matrices = [p for name, p in named.items() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in named.items() if p.ndim != 2 or "embed" in name]
    groups = [
        {"params": matrices, "weight_decay": DECAY},
        {"params": [*others, probe], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), fused=True)


def train(model: Lfm2VlForConditionalGeneration, stream: Iterator[Batch], steps: int) -> None:
    """Leaves the averaged weights in the model. The picture part takes no step."""
    model.train()
    text = model.model.language_model
    probe = torch.zeros(text.config.hidden_size, 2, requires_grad=True)
    optimizer = optimizer_of(text, probe)
    average = [p.detach().clone() for p in text.parameters()]
    meter = Meter(steps)
    for step, batch in enumerate(stream):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps)
        loss, right = loss_of(model, probe, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(text.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        # while training is young the average follows quickly
        follow = 1 - min(AVERAGE, (step + 1) / (step + 10))
        torch._foreach_lerp_(average, [p.detach() for p in text.parameters()], follow)
        meter.add(loss.item(), right.tolist(), batch.kinds)
        if (step + 1) % 50 == 0 or step + 1 == steps:
            meter.line(step + 1)
    with torch.no_grad():
        for parameter, value in zip(text.parameters(), average, strict=True):
            parameter.copy_(value)
    model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder with tokenizer.json; the model goes there too",
    )
    parser.add_argument("--steps", type=int, default=STEPS)
    oracle.add_argument(parser)
    args = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    common, d1 = oracle.load(args.oracle), oracle.load(args.oracle, "d1")
    rows = Rows(args.out, common)
    write_config(args.out, d1)
    model = new_model(args.out / "config.json")
    print(f"{sum(p.numel() for p in model.model.language_model.parameters())} text parameters")
    sample = rows.tree(example(random.Random("sample"), False, 4))
    assert check_tree(model, sample) < 1e-4, "the tree pass differs from transformers"
    start = time.monotonic()
    train(model, batches(rows, args.steps), args.steps)
    print(
        f"trained in {(time.monotonic() - start) / 60:.1f} minutes; tree against rows {check_tree(model, sample):.1e}"
    )
    print(write_weights(model, args.out / "model.safetensors", common), "model.safetensors")


if __name__ == "__main__":
    main()
