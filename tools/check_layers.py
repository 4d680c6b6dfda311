"""Fails when an include points up, when two layers of one height know each other, or when a header does not stand alone.

The layers and who may see whom are in LAYERS, lowest first; CONTRIBUTING.md says what each is for.
  python3 tools/check_layers.py [--compile] [--root DIR]
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# Folder under src -> folders it may include. `public` is include/assay; assay/error.h is part of base.
LAYERS: dict[str, set[str]] = {
    "base": set(),
    "formats": {"base"},
    "text": {"base"},
    "image": {"base"},
    "kernels": {"base"},
    "nn": {"base", "kernels"},
    "families": {"base", "formats", "text", "image", "kernels", "nn"},
    "decide": {"base", "kernels", "nn", "families", "public"},
    "generate": {"base", "kernels", "nn", "families", "public"},
    "gate": {"base", "formats", "kernels", "nn", "families", "decide", "public"},
    "bench": {"base", "formats", "kernels", "nn", "families", "decide", "public"},
    "cli": {"base", "public"},
    "serve": {"base", "public"},
    "python": {"public"},
}
# Their tests look behind the public API.
FRONT_DOORS = {"cli", "serve", "python"}
# Inside families, a family may not know another one.
FAMILIES = "families"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def layer_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    if parts[0] == "include":
        return "base" if path.name == "error.h" else "public"
    return parts[1]


def target_layer(name: str) -> str | None:
    """The layer that an include names; None when it is not one of ours."""
    first = name.split("/")[0]
    if first == "assay":
        return "base" if name == "assay/error.h" else "public"
    return first if first in LAYERS else None


def problems_of(path: Path, root: Path) -> list[str]:
    here = layer_of(path, root)
    shown = path.relative_to(root)
    if here == "testing":
        return []
    is_test = path.stem.endswith("_test")
    found = []
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if name.startswith("testing/"):
            if not is_test:
                found.append(f"{shown}: includes {name}, which is for tests only")
            continue
        there = target_layer(name)
        if there is None or there == here:
            if there == FAMILIES and crosses_families(path, name, root):
                found.append(f"{shown}: includes {name}: one family may not know another")
            continue
        if is_test and here in FRONT_DOORS:
            continue
        allowed = {"base"} if here == "public" else LAYERS.get(here)
        if allowed is None:
            found.append(f"{shown}: folder '{here}' has no row in tools/check_layers.py")
        elif there not in allowed:
            found.append(f"{shown}: includes {name}: {here} may not see {there}")
    return found


def crosses_families(path: Path, name: str, root: Path) -> bool:
    parts = path.relative_to(root / "src").parts
    target = name.split("/")
    if len(parts) < 3 or len(target) < 3:  # the registry and what all families share
        return False
    return parts[1] != target[1]


def compile_problem(header: Path, root: Path) -> str | None:
    if header.name.endswith("-inl.h"):
        return None
    command = ["g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-Iinclude", "-Isrc", str(header)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return f"{header.relative_to(root)}: does not compile alone\n{done.stderr.splitlines()[0]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="also compile every header alone")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    root: Path = args.root.resolve()
    files = [p for top in ("src", "include") for p in sorted((root / top).rglob("*"))]
    sources = [p for p in files if p.suffix in (".h", ".cc")]
    problems = [problem for path in sources for problem in problems_of(path, root)]
    if args.compile:
        headers = [p for p in sources if p.suffix == ".h"]
        problems += [p for header in headers if (p := compile_problem(header, root))]
    for problem in problems:
        print(problem)
    print(f"{len(sources)} files, {len(problems)} problems")
    return 1 if problems or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
