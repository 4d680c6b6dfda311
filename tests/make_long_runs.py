"""Writes the requests of case folder 16_long_runs: a state that is one long run of one kind.

They are half a megabyte together, so they are made when a test runs. Each file's sha256 is
compared with the recorded one: these are the bytes that the case is about.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

LENGTH = 49152
FOLDER = "16_long_runs"
QUESTIONS = {"q": {"type": "noul", "instructions": "Does the text report a problem?"}}
SHA256 = {
    "blank_lines": "337c9373e572a396fa2d7ea753746b543d83170af241ab018a94bd72e2f1e9fb",
    "cjk": "9f9e198964d59ecf52707bafda54d76d0c4753490eac84e47c7189e7c4341943",
    "digits": "789aa7bded424758fa5d2021d188b791411bda99933c72cf9e2f5cea3c8e7d1f",
    "dots": "53dd71b94c345d492e3e47c730d43cd1cd3093f305da262410d713bc0c927791",
    "letters": "3800314f315377e9fb631c03cb6086b2bf502f40221bcae00d7c50a194d53e12",
    "marks": "07b031aab61592d7445e73921650e9412c4c0d3eac11a8a83d9c83bb0ade6949",
    "mixed_case": "25c636fe6452ab08ba0b979239508284577fc482bdb889ce2bcf6ced391ba79f",
    "quotes": "8d8a45f4c58b881eadd3592e5666384487394124004e3498beadc4638fec5d6d",
    "spaces": "3795a1d1c72712bdef360db6bf403471ac7f376c25c53c4246555072d667540b",
    "tabs_then_letter": "fed9e5938ee9dafd44ebf04a51f44c932360d236b404bd15f832a17058abe3ae",
    "us": "0f87ef12903e04b3a287623905461fa37f623b475a99a4ed07df00ee85e85846",
}


def runs(length: int = LENGTH) -> dict[str, str]:
    """The states by name; `length` is the number of characters of the longest ones."""
    return {
        "letters": "A" * length,
        "spaces": " " * length,
        "blank_lines": "\r\n" * (length // 2),
        "us": "us" * (length // 2),
        "dots": "." * length,
        "digits": "7" * (length // 2),
        "cjk": "\u8a9e" * (length // 4),
        "marks": "e" + "\u0301" * (length // 8),
        "mixed_case": "aB" * (length // 2),
        "quotes": "'s" * (length // 4),
        "tabs_then_letter": "\t" * (length // 2) + "x",
    }


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, state in runs().items():
        request = {"state": state, "model": "m", "questions": QUESTIONS}
        content = json.dumps(request, ensure_ascii=False).encode()
        if hashlib.sha256(content).hexdigest() != SHA256[name]:
            raise ValueError(f"{name}.json has other bytes than the recorded case")
        (folder / f"{name}.json").write_bytes(content)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
