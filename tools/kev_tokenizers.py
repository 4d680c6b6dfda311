#!/usr/bin/env python3
"""Writes tokenizer.json files of the Kev oracle, byte for byte as tools/oracle/kev.py make does.

    python3 tools/kev_tokenizers.py --ranks 8192 --out DIR     # the tiny and mid models' files
    python3 tools/kev_tokenizers.py --ranks all --out DIR      # the full vocabulary

DIR/base/tokenizer.json has Qwen3.5's own split pattern, DIR/kev/tokenizer.json that of Qwen2. Needs
tools/requirements-tokenizer.txt; the checkpoint that kev.py makes beside them needs torch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "oracle"))
import kev


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the Kev tokenizer files.")
    parser.add_argument("--ranks", required=True, help="how many ranks of the vocabulary, or all")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    ranks = kev.FULL_RANKS if arguments.ranks == "all" else int(arguments.ranks)
    base, own = arguments.out / "base", arguments.out / "kev"
    for folder in (base, own):
        folder.mkdir(parents=True, exist_ok=True)
    kev.write_tokenizers(str(base), str(own), ranks)


if __name__ == "__main__":
    main()
