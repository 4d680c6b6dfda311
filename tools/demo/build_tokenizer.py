"""Trains the demo's byte-level BPE on generated requests and writes tokenizer.json and tokenizer_config.json.

  python build_tokenizer.py --out demo/d1-demo

The layout is the oracle's: newline runs, single bytes from id 9, whole pieces that no merge makes, merges,
added tokens last."""

from __future__ import annotations

import argparse
import collections
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import oracle
from data import example

CORPUS_SEED = 7
CORPUS_STATES = 6000
MERGES = 1600
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def corpus(common: ModuleType) -> collections.Counter[str]:
    """How often each piece of the split pattern occurs in training prompts, in byte characters."""
    rng = random.Random(f"tokenizer {CORPUS_SEED}")
    seen: dict[str, int] = {}
    # before there is a tokenizer, every option code counts as one token
    tokens = common.Tokens(lambda text: [seen.setdefault(text, len(seen))])
    pieces: collections.Counter[str] = collections.Counter()
    special = ("<|startoftext|>", "<|im_start|>", "<|im_end|>")
    for _ in range(CORPUS_STATES):
        drawn = example(rng, False, 3)
        text = common.prefix_text(drawn.state, 0)
        for question in drawn.questions:
            text += common.suffix_text(common.render(tokens, question.kind, question.body)[0])
        for mark in special:
            text = text.replace(mark, "\x00")
        for part in text.split("\x00"):
            pieces.update(common.scan(part))
    return collections.Counter({common.to_chars(piece): count for piece, count in pieces.items()})


def whole_pieces() -> list[str]:
    """Pieces that are one token whether or not a merge makes them: option codes and answers. No YES, as in the real one."""
    words = ["yes", "Yes", "no", "No", "NO"]
    words += [" " + c for c in LETTERS] + [" " + c for c in LETTERS.lower()]
    return words + [f"{n:02d}" for n in range(100)]


def vocabulary(
    common: ModuleType, merges: list[tuple[str, str]]
) -> tuple[dict[str, int], list[list[str]]]:
    vocab: dict[str, int] = {common.to_chars("\n" * (10 - n)): n for n in range(9)}
    for byte in common.BYTE_ORDER:
        vocab[common.BYTE_CHAR[byte]] = len(vocab)
    made, kept, barred = set(vocab), [], {common.to_chars("YES")}
    for word in whole_pieces():
        vocab.setdefault(common.to_chars(word), len(vocab))
    for left, right in merges:
        if left + right in barred or left not in made or right not in made:
            continue
        made.add(left + right)
        kept.append([left, right])
        vocab.setdefault(left + right, len(vocab))
    return vocab, kept


def tokenizer_json(common: ModuleType) -> dict[str, Any]:
    pieces = corpus(common)
    vocab, merges = vocabulary(common, common.train_merges(pieces, MERGES))
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }
    added = [
        {"id": len(vocab) + n, "content": text, **flags} for n, text in enumerate(common.ADDED)
    ]
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    split = {
        "type": "Split",
        "pattern": {"Regex": common.SPLIT},
        "behavior": "Isolated",
        "invert": False,
    }
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": vocab,
        "merges": merges,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": dict(byte_level),
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": True,
        },
        "model": model,
    }


CONFIG = {
    "backend": "tokenizers",
    "bos_token": "<|startoftext|>",
    "clean_up_tokenization_spaces": False,
    "eos_token": "<|im_end|>",
    "image_token": "<image>",
    "is_local": True,
    "legacy": False,
    "model_max_length": 32768,
    "pad_token": "<|pad|>",
    "tokenizer_class": "TokenizersBackend",
}


def write_json(path: Path, value: object, indent: int) -> None:
    path.write_text(
        json.dumps(value, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8", newline="\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    oracle.add_argument(parser)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    spec = tokenizer_json(oracle.load(args.oracle))
    write_json(args.out / "tokenizer.json", spec, 1)
    write_json(args.out / "tokenizer_config.json", CONFIG, 2)
    print(
        f"{len(spec['model']['vocab'])} pieces, {len(spec['model']['merges'])} merges, {len(spec['added_tokens'])} added tokens"
    )


if __name__ == "__main__":
    main()
