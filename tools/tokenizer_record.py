#!/usr/bin/env python3
"""Writes tests/data/text/recorded.json: ids that PyPI tokenizers==0.23.3 gives, for the unit tests.

    python3 tools/tokenizer_record.py

The vocabulary is tests/data/text/tiny.json (a random checkpoint's, d1 pipeline). Each entry of the
output names fields that replace those of the file, and texts with their ids. The same texts are in
no other test: they are drawn with another seed than tools/tokenizer_diff.py uses by default."""

import json
import pathlib

import tokenizers

import tokenizer_diff

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "text"
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
QWEN2 = (
    CONTRACTION
    + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN35 = QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(
    r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]"
)
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
FLAGS = [
    ("word", "single_word"),
    ("<l>", "lstrip"),
    ("<r>", "rstrip"),
    ("<lr>", "lstrip rstrip"),
    ("e\u0301t", "normalized"),
    ("  ", "rstrip"),
]


def split(pattern: str) -> dict[str, object]:
    return {
        "type": "Sequence",
        "pretokenizers": [
            {
                "type": "Split",
                "pattern": {"Regex": pattern},
                "behavior": "Isolated",
                "invert": False,
            },
            BYTE_LEVEL,
        ],
    }


def main() -> None:
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    tiny = json.loads((DATA / "tiny.json").read_text(encoding="utf-8"))
    first = tiny["added_tokens"][-1]["id"] + 1
    extra = [
        {
            "id": first + i,
            "content": c,
            "special": False,
            **{f: f in flags.split() for f in ("single_word", "lstrip", "rstrip", "normalized")},
        }
        for i, (c, flags) in enumerate(FLAGS)
    ]
    nfc = {"type": "NFC"}
    pipelines: dict[str, dict[str, object]] = {
        "d1": {},
        "llama3": {"pre_tokenizer": split(LLAMA3)},
        "qwen2": {"normalizer": nfc, "pre_tokenizer": split(QWEN2)},
        "qwen3.5": {
            "normalizer": {"type": "Sequence", "normalizers": [nfc]},
            "pre_tokenizer": split(QWEN35),
        },
        "byte level": {"pre_tokenizer": {**BYTE_LEVEL, "use_regex": True}},
        "one piece": {"pre_tokenizer": BYTE_LEVEL},
        "flags": {"normalizer": nfc, "added_tokens": tiny["added_tokens"] + extra},
    }
    out = []
    for number, (name, fields) in enumerate(pipelines.items()):
        reference = tokenizers.Tokenizer.from_str(json.dumps({**tiny, **fields}))
        added = [t["content"] for t in (extra if name == "flags" else tiny["added_tokens"][:20])]
        texts = list(tokenizer_diff.random_texts(40, added, 1000 + number))
        texts += (
            [t for t in tokenizer_diff.flag_texts(added, 60) if len(t) < 40][-60:]
            if name == "flags"
            else []
        )
        out.append(
            {
                "pipeline": name,
                "fields": fields,
                "texts": [{"text": t, "ids": reference.encode(t).ids} for t in texts],
            }
        )
    lines = ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in out)
    (DATA / "recorded.json").write_text(f"[{lines}]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
