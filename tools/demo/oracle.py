"""The parts of the reference oracle that the demo shares: prompt text, option codes, tokenizer layout, weight file.

The oracle lies beside this folder (tools/oracle); `--oracle DIR` names another place."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

BESIDE = Path(__file__).resolve().parent.parent / "oracle"


def add_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--oracle", type=Path, default=BESIDE, help="folder with d1_common.py")


def load(folder: Path, module: str = "d1_common") -> ModuleType:
    """The oracle's modules carry no types: all that they hold is Any."""
    if not (folder / f"{module}.py").is_file():
        raise SystemExit(f"{folder}: {module}.py is not there; name its folder with --oracle")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return importlib.import_module(module)
