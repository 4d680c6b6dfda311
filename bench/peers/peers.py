"""Times assay beside other engines on the same random weights, in turn, in one run. See README.md."""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from assay_peer import AssayPeer
from line_peer import Failed
from llamacpp_peer import PREFIX as LLAMACPP
from llamacpp_peer import LlamacppPeer, check_installed, kind_of, make_reference, reference_file
from timing import Pair, Times, table

ROOT = Path(__file__).resolve().parents[2]
# q8_0 has an fp16 scale for 32 weights.
BYTES_PER_WEIGHT = {
    "torch-fp32": 4.0,
    "torch-bf16": 2.0,
    "llamacpp-bf16": 2.0,
    "llamacpp-q8_0": 34 / 32,
}


class Peer(Protocol):
    name: str

    def row(self, tokens: int) -> float: ...


def checkpoint(family: str, size: str) -> Path:
    """The oracle's random weights, made once."""
    folder = ROOT / "build" / "peers" / f"{family}-{size}"
    if not (folder / "made").exists():
        print(f"making {folder}", file=sys.stderr)
        maker = ROOT / "tools" / "oracle" / f"{family}.py"
        subprocess.run(
            [
                sys.executable,
                str(maker),
                "make",
                "--size",
                size,
                "--seed",
                "1",
                "--out",
                str(folder),
            ],
            check=True,
            stdout=sys.stderr,
        )
        (folder / "made").touch()
    return folder


def available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise Failed("/proc/meminfo does not say how much memory is free")


def check_memory(peer: str, model: Path) -> None:
    """The peer's copy of the weights, and the mapped file, of which bf16 is two bytes a weight."""
    stored = sum(file.stat().st_size for file in model.glob("*.safetensors"))
    needed = int(stored // 2 * BYTES_PER_WEIGHT[peer]) + stored
    free = available_bytes()
    if needed > free:
        raise Failed(f"{peer}: needs {needed} bytes beside assay, {free} are available")


def prepare(name: str, model: Path, threads: int) -> None:
    """What takes memory or the disk, before assay is there: the GGUF file, and torch's answer for the check."""
    if not name.startswith(LLAMACPP):
        return
    from llamacpp_gguf import cached

    cached(model, kind_of(name))
    if not reference_file(model).exists():
        check_memory("torch-fp32", model)
        print(f"{name}: torch's logits for the check", file=sys.stderr)
        make_reference(model, threads)
        gc.collect()


def make_peer(name: str, model: Path, threads: int, longest: int) -> Peer:
    if name.startswith(LLAMACPP):
        return LlamacppPeer(name, model, threads, longest)
    from torch_peer import TorchPeer  # slow to import; usage errors come first

    return TorchPeer(name, model, threads)


def measure(peer: Peer, assay: Peer, lengths: list[int], repeats: int) -> list[Pair]:
    """Two calls of each to warm up; then rounds in which everyone is called once, in turn."""
    theirs: dict[int, list[float]] = {tokens: [] for tokens in lengths}
    ours: dict[int, list[float]] = {tokens: [] for tokens in lengths}
    for tokens in lengths:
        for _ in range(2):
            assay.row(tokens), peer.row(tokens)
    for done in range(repeats):
        for tokens in lengths:
            ours[tokens].append(assay.row(tokens))
            theirs[tokens].append(peer.row(tokens))
        print(f"{peer.name}: round {done + 1} of {repeats}", file=sys.stderr, flush=True)
    return [
        Pair(peer.name, tokens, Times.of(theirs[tokens]), Times.of(ours[tokens]))
        for tokens in lengths
    ]


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def counts(text: str) -> list[int]:
    values = [int(part) for part in text.split(",")]
    if any(value < 1 for value in values):
        raise argparse.ArgumentTypeError("each must be 1 or more")
    return values


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=["d1"], default="d1")
    parser.add_argument("--size", choices=["tiny", "mid", "3b"], default="mid")
    parser.add_argument("--model", type=Path, help="a checkpoint folder instead of a made one")
    parser.add_argument("--tokens", type=counts, default=[39, 402])
    parser.add_argument("--peers", default="torch-fp32,torch-bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "assay")
    parser.add_argument("--compute", default="auto", help="assay's compute form")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


def run(options: argparse.Namespace) -> None:
    names = options.peers.split(",")
    for name in names:
        if name not in BYTES_PER_WEIGHT:
            raise Failed(f"--peers: {name} is none of {', '.join(BYTES_PER_WEIGHT)}")
        if name.startswith(LLAMACPP):
            check_installed(name)
    if not options.program.exists():
        raise Failed(f"{options.program}: no such file (make build)")
    model = options.model or checkpoint(options.family, options.size)
    stamp: dict[str, object] = {
        "cpu": cpu_name(),
        "ASSAY_CPU": os.environ.get("ASSAY_CPU", "best"),
        "threads": options.threads,
        "compute": options.compute,
        "model": model.name,
        "load": f"{os.getloadavg()[0]:.2f} at the start",
    }
    pairs: list[Pair] = []
    for name in names:
        check_memory(name, model)
        prepare(name, model, options.threads)
        with ExitStack() as running:
            assay = running.enter_context(
                AssayPeer(options.program, model, options.threads, options.compute)
            )
            peer = make_peer(name, model, options.threads, max(options.tokens))
            if isinstance(peer, LlamacppPeer):
                running.enter_context(peer)
                stamp[name] = peer.note
            pairs += measure(peer, assay, options.tokens, options.repeats)
            del peer
        gc.collect()
    if options.json:
        print(json.dumps({"stamp": stamp, "pairs": [pair.json() for pair in pairs]}, indent=2))
    else:
        print(table(pairs, stamp))


def main() -> int:
    try:
        run(arguments())
    except Failed as problem:
        print(f"peers: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
