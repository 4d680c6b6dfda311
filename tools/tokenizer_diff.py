#!/usr/bin/env python3
"""Compares assay's tokenizer with PyPI tokenizers==0.23.3, id by id.

    python3 tools/tokenizer_diff.py --engine build/dev/src/text/assay_encode_lines FILE...

Each FILE is a tokenizer.json. The Python that runs this needs tokenizers 0.23.3 and nothing else.
Groups of texts (--groups picks some; all by default):
  alone, between   every code point by itself, and between two letters
  contractions     every code point after an apostrophe, and after 'l 'v 'r, many to a text
  nfc              every pair that composes in any version, every mark before and after others
  random           --count generated texts: scripts, emoji, marks, control strings and added tokens,
                   white space, code, contractions, NFC and NFD
  long             runs of one kind, up to --long characters
  flags            the file with single_word, lstrip, rstrip and normalized tokens added; every code
                   point beside each of them, and random texts
Prints a line per group and `differential TEXTS/DIFFERENCES` at the end; exit 1 on a difference.

With --cost no engine runs: it counts the random texts whose ids change when the reference itself is
spoiled in one of the ways that tokenizers are wrong elsewhere.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tokenizers

Make = Callable[[str], str]

CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BATCH = 20000
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
GROUPS = ["alone", "between", "contractions", "nfc", "random", "long", "flags"]

# First and last code point of stretches that texts are drawn from.
SCRIPTS = {
    "latin": [(0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x1E00, 0x1EFF)],
    "greek": [(0x370, 0x3FF), (0x1F00, 0x1FFF)],
    "cyrillic": [(0x400, 0x52F)],
    "armenian": [(0x530, 0x58F)],
    "hebrew": [(0x591, 0x5F4)],
    "arabic": [(0x600, 0x6FF), (0xFB50, 0xFDFF)],
    "syriac": [(0x700, 0x74F)],
    "devanagari": [(0x900, 0x97F)],
    "bengali": [(0x980, 0x9FF)],
    "gurmukhi": [(0xA00, 0xA7F)],
    "tamil": [(0xB80, 0xBFF)],
    "telugu": [(0xC00, 0xC7F)],
    "kannada": [(0xC80, 0xCFF)],
    "malayalam": [(0xD00, 0xD7F)],
    "sinhala": [(0xD80, 0xDFF)],
    "thai": [(0xE00, 0xE7F)],
    "lao": [(0xE80, 0xEFF)],
    "tibetan": [(0xF00, 0xFFF)],
    "burmese": [(0x1000, 0x109F)],
    "georgian": [(0x10A0, 0x10FF)],
    "hangul": [(0x1100, 0x11FF), (0xAC00, 0xD7A3)],
    "ethiopic": [(0x1200, 0x137F)],
    "khmer": [(0x1780, 0x17FF)],
    "mongolian": [(0x1800, 0x18AF)],
    "kana": [(0x3040, 0x30FF)],
    "han": [(0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2F800, 0x2FA1F)],
    "new": [(0x10D40, 0x10D8F), (0x11380, 0x113FF)],
    "numbers": [
        (0x30, 0x39),
        (0x660, 0x669),
        (0x2150, 0x218F),
        (0x2460, 0x249B),
        (0x1D7CE, 0x1D7FF),
    ],
    "math": [(0x2200, 0x22FF), (0x1D400, 0x1D7FF)],
    "symbols": [(0x21, 0x2F), (0x3A, 0x40), (0xA1, 0xBF), (0x2010, 0x203E), (0x2190, 0x21FF)],
    "marks": [
        (0x300, 0x36F),
        (0x1AB0, 0x1AFF),
        (0x1DC0, 0x1DFF),
        (0x20D0, 0x20F0),
        (0xFE20, 0xFE2F),
    ],
    "music": [(0x1D100, 0x1D1FF)],
    "any": [(0, 0xD7FF), (0xE000, 0x10FFFF)],
    "control": [(0, 0x1F), (0x7F, 0x9F), (0x200B, 0x200F)],
}
SPACES = [
    "\t",
    "\n",
    "\x0b",
    "\x0c",
    "\r",
    " ",
    "\x85",
    "\xa0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u2029",
    "\u202f",
    "\u3000",
    "\x1c",
    "\x1f",
    "\u200b",
    "\ufeff",
    "\u180e",
]
EMOJI = [
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1ee\U0001f1f9",
    "\U0001f44d\U0001f3fd",
    "1\ufe0f\u20e3",
    "\u2764\ufe0f",
]
CODE = [
    "def f(x):\n    return x**2\n",
    "if (a&&b) { c += 1; }\r\n",
    "\t\tfor i in range(10):\n",
    '<div class="a">&nbsp;</div>\n',
    "x = {'a': [1, 2.50]}",
    "// TODO: don't\n",
    "SELECT * FROM t WHERE id='7';",
    "$HOME/bin:/usr/x_y-z",
    "\\u00e9\\n",
    "a->b::c<D>()",
    "#include <x>\n\n\n",
]
CONTROL = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<think>",
    "</think>",
    "<image>",
    "<|image|>",
    "<|",
    "|>",
    "<|im_start",
    "<|fim-prefix|>",
    "<|img_row_1_col_1|>",
    "<|img_row_1_col_10|>",
    "<|img_row_10_col_",
    "<tool_call>",
    "<<|im_end|>>",
    "<|pad|>",
]
WORDS = [
    "the",
    "The",
    "customer",
    "REFUND",
    "naïve",
    "Größe",
    "don",
    "we",
    "it",
    "Über",
    "x1",
    "a_b",
    "caf\u0065\u0301",
    "Żółć",
    "résumé",
]
ENDINGS = [
    "s",
    "t",
    "re",
    "ve",
    "m",
    "ll",
    "d",
    "S",
    "T",
    "RE",
    "Ve",
    "vE",
    "M",
    "LL",
    "lL",
    "D",
    "\u017f",
    "l",
    "r",
    "x",
    "\u212a",
]


def draw(rng: random.Random, name: str) -> str:
    low, high = rng.choice(SCRIPTS[name])
    code = rng.randint(low, high)
    return chr(code if not 0xD800 <= code < 0xE000 else 0x20)


def part(rng: random.Random, added: list[str]) -> str:
    kind = rng.randrange(13)
    if kind <= 2:
        name = rng.choice(list(SCRIPTS))
        return "".join(draw(rng, name) for _ in range(rng.randint(1, 12)))
    if kind == 3:
        return "".join(draw(rng, "any") for _ in range(rng.randint(1, 4)))
    if kind == 4:
        return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 6)))
    if kind == 5:
        return rng.choice([" ", "\n", "\t", "\r\n", "  "]) * rng.randint(1, 9)
    if kind == 6:
        return rng.choice(EMOJI)
    if kind == 7:
        return rng.choice(CODE)
    if kind == 8:
        return rng.choice(added) if added and rng.random() < 0.6 else rng.choice(CONTROL)
    if kind == 9:
        return (
            rng.choice(WORDS)
            + rng.choice(["'", "\u2019", " '", "''"])
            + rng.choice(ENDINGS)
            + rng.choice(["", "e", " ", "s"])
        )
    if kind == 10:
        return draw(rng, rng.choice(["latin", "greek", "hangul", "any"])) + "".join(
            draw(rng, "marks") for _ in range(rng.randint(1, 25))
        )
    if kind == 11:
        return "".join(draw(rng, "numbers") for _ in range(rng.randint(1, 9)))
    return " " + rng.choice(WORDS)


def random_texts(count: int, added: list[str], seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        text = "".join(part(rng, added) for _ in range(rng.randint(1, 14)))
        form = rng.randrange(8)
        if form <= 1:
            text = unicodedata.normalize("NFD" if form == 0 else "NFC", text)
        yield text


def packed(make: Make, size: int = 64) -> Iterator[str]:
    for at in range(0, len(CODES), size):
        yield "\n".join(make(chr(c)) for c in CODES[at : at + size])


def contraction_texts() -> Iterator[str]:
    for make in (
        lambda x: f"a'{x}a",
        lambda x: f"a'{x}",
        lambda x: f"'l{x}x",
        lambda x: f"'V{x}x",
        lambda x: f"'r{x}",
        lambda x: f"'{x}e",
        lambda x: f"'{x}L",
    ):
        yield from packed(make)


def nfc_texts() -> Iterator[str]:
    marks = [chr(c) for c in CODES if unicodedata.combining(chr(c))]
    whole = [
        chr(c)
        for c in CODES
        if unicodedata.decomposition(chr(c))
        and not unicodedata.decomposition(chr(c)).startswith("<")
    ]
    for text in whole:
        yield text
        yield "".join(chr(int(x, 16)) for x in unicodedata.decomposition(text).split())
        yield unicodedata.normalize("NFD", text)
        for mark in "\u0300\u0323\u0345\u0338":
            yield text + mark
    for mark in marks:
        for other in "\u0301\u0316\u0334\u05b0\u3099":
            yield f"e{mark}{other}"
            yield f"e{other}{mark}"
    # Newer pairs than this Python knows, and Hangul.
    newer = [
        0x105D2,
        0x307,
        0x11382,
        0x113C9,
        0x11935,
        0x11930,
        0x1611E,
        0x16129,
        0x16D67,
        0x11099,
        0x110BA,
        0x11131,
        0x11127,
    ]
    for pair in itertools.product(newer, repeat=2):
        yield "a" + chr(pair[0]) + chr(pair[1])
    for a, b, c in itertools.product(
        "\u1100\u1112\u1113\uac00\uac01\ud788",
        "\u1161\u1175\u1176\u1160",
        "\u11a7\u11a8\u11c2\u11c3\u1100",
    ):
        yield a + b + c
        yield a + c


def long_texts(limit: int) -> Iterator[str]:
    for size in (100, 1000, limit):
        for unit in (
            "a",
            " ",
            "\n",
            "us",
            ".",
            "7",
            "\u4e2d",
            "\u0301",
            "aB",
            "'",
            "\t",
            "<|im_end|>",
            " \n",
            "\u0301\u0316",
            "\uac00",
            "'s",
        ):
            run = unit * (size // len(unit))
            yield from (run, "e" + run + "x")


def read_spec(path: str | pathlib.Path) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return spec


def added_tokens(spec: dict[str, Any]) -> list[str]:
    return [token["content"] for token in spec["added_tokens"]]


class Case:
    """One tokenizer.json on both sides."""

    def __init__(self, engine: str, path: str | pathlib.Path) -> None:
        self.engine, self.path = engine, path
        self.reference = tokenizers.Tokenizer.from_file(str(path))
        self.texts = self.differences = 0

    def added(self) -> list[str]:
        return added_tokens(read_spec(self.path))

    def ours(self, texts: list[str]) -> list[str]:
        lines = "".join(json.dumps(t) + "\n" for t in texts)
        done = subprocess.run(
            [self.engine, str(self.path)], input=lines.encode(), stdout=subprocess.PIPE, check=True
        )
        out = done.stdout.decode().split("\n")[:-1]
        assert len(out) == len(texts), (len(out), len(texts))
        return out

    def run(self, group: str, texts: Iterable[str]) -> None:
        count = differences = 0
        texts = iter(texts)
        while chunk := list(itertools.islice(texts, BATCH * 10)):
            ours = self.ours(chunk)
            for at in range(0, len(chunk), BATCH):
                batch = self.reference.encode_batch(chunk[at : at + BATCH], add_special_tokens=True)
                for text, theirs, mine in zip(
                    chunk[at : at + BATCH], batch, ours[at : at + BATCH], strict=True
                ):
                    if " ".join(map(str, theirs.ids)) != mine.rstrip():
                        differences += 1
                        if differences <= 5:
                            print(f"  {ascii(text)[:300]}")
                            print(f"    reference {theirs.ids[:40]}\n    assay     {mine[:200]}")
            count += len(chunk)
        print(f"{group}: {count} texts, {differences} differences", flush=True)
        self.texts += count
        self.differences += differences


def with_flags(path: str, folder: str) -> pathlib.Path:
    """The file with tokens of every flag put after its own."""
    spec = read_spec(path)
    known = [t["id"] for t in spec["added_tokens"]]
    spec["added_tokens"].sort(key=lambda t: t["id"])
    at = max([len(spec["model"]["vocab"]) - 1, *known]) + 1
    tokens = [
        ("word", "single_word"),
        ("<l>", "lstrip"),
        ("<r>", "rstrip"),
        ("<lr>", "lstrip rstrip"),
        ("<n>", "normalized"),
        ("e\u0301t", "normalized"),
        ("\u1e9b\u0323", "normalized"),
        ("Wort", "single_word normalized"),
        ("<s>", "lstrip rstrip single_word"),
        (" <sp>", ""),
        ("  ", "rstrip"),
        ("\u00fc", ""),
        ("<nl>", "normalized lstrip"),
        ("\n<x>", "lstrip"),
        ("<l><r>", ""),
        ("<l", "single_word"),
        ("the", "single_word"),
    ]
    for content, flags in tokens:
        token = {"id": at, "content": content, "special": False}
        spec["added_tokens"].append(token | {flag: flag in flags.split() for flag in FLAGS})
        if content not in spec["model"]["vocab"]:
            at += 1
        else:
            spec["added_tokens"][-1]["id"] = spec["model"]["vocab"][content]
    out = pathlib.Path(folder) / "tokenizer.json"
    out.write_text(json.dumps(spec), encoding="utf-8")
    return out


def flag_texts(added: list[str], count: int) -> Iterator[str]:
    beside: list[Make] = [
        lambda x: f"{x}word",
        lambda x: f"word{x}",
        lambda x: f"{x}<l>",
        lambda x: f"<r>{x}a",
        lambda x: f"a{x}<s>{x}",
        lambda x: f"{x}Wort{x}",
    ]
    for make in beside:
        yield from (
            make(chr(c)) for c in CODES if c < 0x32000 or c % 97 == 0 or 0xE0000 <= c < 0xE0200
        )
    rng = random.Random(7)
    tail = added[-17:]
    for _ in range(count):
        yield "".join(
            rng.choice(tail)
            if rng.random() < 0.5
            else rng.choice([*SPACES, "a", "é", "e\u0301", "word", "1", ".", "  ", "\u0323"])
            for _ in range(rng.randint(1, 12))
        )


def with_pattern(spec: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The file with another split pattern."""
    out: dict[str, Any] = json.loads(json.dumps(spec))
    for step in out["pre_tokenizer"]["pretokenizers"]:
        if step["type"] == "Split":
            step["pattern"]["Regex"] = change(step["pattern"]["Regex"])
    return out


def base_pattern(pattern: str) -> str:
    """Qwen3.5's own pattern from Qwen2's: marks are letters."""
    letters = pattern.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+")
    return letters.replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")


class ByClusters:
    """A tokenizer whose pattern sees grapheme clusters where it should see code points: strings of
    some languages are made of those. Each cluster counts as what its first code point is."""

    def __init__(self, spec: dict[str, Any]) -> None:
        reference = tokenizers.Tokenizer.from_str(json.dumps(spec))
        self.normalizer = reference.normalizer
        pattern = tokenizers.Regex(spec["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"])
        self.split = tokenizers.pre_tokenizers.Split(pattern, "isolated")
        self.clusters = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\X"), "isolated")
        pieces = json.loads(json.dumps(spec))
        pieces["pre_tokenizer"]["pretokenizers"] = pieces["pre_tokenizer"]["pretokenizers"][1:]
        pieces["post_processor"] = None
        self.pieces = tokenizers.Tokenizer.from_str(json.dumps(pieces))
        longest_first = sorted(added_tokens(spec), key=len, reverse=True)
        self.added = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")
        self.first = reference.encode("").ids

    def stretch(self, text: str) -> list[str]:
        """The pieces of a text without added tokens."""
        if self.normalizer is not None:
            text = self.normalizer.normalize_str(text)
        clusters = [piece for piece, _ in self.clusters.pre_tokenize_str(text)]
        ends = list(itertools.accumulate(map(len, clusters), initial=0))
        firsts = "".join(cluster[0] for cluster in clusters)
        offsets = [offset for _, offset in self.split.pre_tokenize_str(firsts)]
        return [text[ends[begin] : ends[end]] for begin, end in offsets]

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        pieces: list[list[str]] = []
        for text in texts:
            own: list[str] = []
            for at, part_of_text in enumerate(self.added.split(text)):
                own += [part_of_text] if at % 2 else self.stretch(part_of_text)
            pieces.append(own)
        flat = list(itertools.chain.from_iterable(pieces))
        encoded = iter(self.pieces.encode_batch(flat, add_special_tokens=False))
        return [self.first + [i for _ in own for i in next(encoded).ids] for own in pieces]


def cost(path: str, count: int, seed: int) -> None:
    """How many of the random texts get other ids from each wrong tokenizer."""
    spec = read_spec(path)
    texts = list(random_texts(count, added_tokens(spec), seed))

    def ids(variant: dict[str, Any], of: list[str]) -> list[list[int]]:
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(variant))
        return [encoding.ids for encoding in tokenizer.encode_batch(of)]

    right = ids(spec, texts)
    wrong = {"U+FEFF dropped": ids(spec, [text.replace("\ufeff", "") for text in texts])}
    wrong["pattern over grapheme clusters"] = ByClusters(spec).encode_batch(texts)
    if spec["model"].get("ignore_merges"):
        off = spec | {"model": spec["model"] | {"ignore_merges": False}}
        wrong["ignore_merges off"] = ids(off, texts)
    if spec["normalizer"] is not None:
        wrong["no NFC"] = ids(spec | {"normalizer": None}, texts)
        wrong["the base model's pattern"] = ids(with_pattern(spec, base_pattern), texts)
    for name, found in wrong.items():
        different = sum(a != b for a, b in zip(right, found, strict=True))
        print(f"{path}: {name}: {different} of {len(texts)} texts have other ids", flush=True)


def compare(arguments: argparse.Namespace, groups: list[str]) -> int:
    texts = differences = 0
    for path in arguments.files:
        print(path)
        case = Case(arguments.engine, path)
        added = case.added()
        makers: dict[str, Callable[[], Iterable[str]]] = {
            "alone": lambda: map(chr, CODES),
            "between": lambda: (f"a{chr(c)}a" for c in CODES),
            "contractions": contraction_texts,
            "nfc": nfc_texts,
            "random": functools.partial(random_texts, arguments.count, added, arguments.seed),
            "long": lambda: long_texts(arguments.long),
        }
        for group in groups:
            if group in makers:
                case.run(group, makers[group]())
        texts, differences = texts + case.texts, differences + case.differences
        if "flags" in groups:
            with tempfile.TemporaryDirectory() as folder:
                flagged = Case(arguments.engine, with_flags(path, folder))
                flagged.run("flags", flag_texts(flagged.added(), arguments.count))
                texts, differences = texts + flagged.texts, differences + flagged.differences
    print(f"differential {texts}/{differences}")
    return 1 if differences else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--engine", help="the assay_encode_lines program")
    parser.add_argument("--cost", action="store_true", help="count what wrong tokenizers cost")
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--count", type=int, default=50000, help="random texts a file")
    parser.add_argument("--long", type=int, default=20000, help="characters of the longest runs")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    groups = arguments.groups.split(",")
    assert set(groups) <= set(GROUPS), f"groups: {GROUPS}"
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    if arguments.cost:
        for path in arguments.files:
            cost(path, arguments.count, arguments.seed)
        return 0
    if arguments.engine is None:
        parser.error("name --engine, or ask for --cost")
    return compare(arguments, groups)


if __name__ == "__main__":
    sys.exit(main())
