"""assay as a child process that measures what each line asks for (`assay bench MODEL --stdin`)."""

from __future__ import annotations

from pathlib import Path

from line_peer import LinePeer


class AssayPeer(LinePeer):
    def __init__(self, program: Path, model: Path, threads: int, compute: str = "auto") -> None:
        command = [str(program), "bench", str(model), "--stdin", "--threads", str(threads)]
        super().__init__("assay", [*command, "--compute", compute])
