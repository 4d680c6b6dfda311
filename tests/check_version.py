"""Every place that states the version states the same one."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# File, and a pattern whose group is the version. It must match exactly once.
PLACES = (
    ("CMakeLists.txt", r"project\(assay VERSION (\S+) "),
    ("include/assay/version.h", r'kVersion\[\] = "([^"]*)"'),
)


def main() -> int:
    root = Path(sys.argv[1])
    versions: dict[str, str] = {}
    for name, pattern in PLACES:
        found = re.findall(pattern, (root / name).read_text(encoding="utf-8"))
        if len(found) != 1:
            print(f"{name}: states the version {len(found)} times, not once", file=sys.stderr)
            return 1
        versions[name] = found[0]
    if len(set(versions.values())) != 1:
        stated = ", ".join(f"{name} {version}" for name, version in versions.items())
        print(f"the versions differ: {stated}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
