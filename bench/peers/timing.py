"""What times of several calls come to, and the table of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between the two values around it."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@dataclass(frozen=True)
class Times:
    median: float
    p10: float
    p90: float
    calls: int

    @staticmethod
    def of(seconds: Sequence[float]) -> Times:
        return Times(
            quantile(seconds, 0.5), quantile(seconds, 0.1), quantile(seconds, 0.9), len(seconds)
        )


@dataclass(frozen=True)
class Pair:
    """One peer and assay at one length, timed in turn."""

    peer: str
    tokens: int
    theirs: Times
    ours: Times

    @property
    def ratio(self) -> float:
        """How many times as long as assay the peer takes."""
        return self.theirs.median / self.ours.median

    def json(self) -> dict[str, object]:
        return {
            "peer": self.peer,
            "tokens": self.tokens,
            "peer_seconds": asdict(self.theirs),
            "assay_seconds": asdict(self.ours),
            "ratio": self.ratio,
        }


def shown(times: Times) -> str:
    return f"{times.median:9.4f} ({times.p10:.4f} to {times.p90:.4f})"


def table(pairs: Sequence[Pair], stamp: Mapping[str, object]) -> str:
    lines = [f"{key:<13} {value}" for key, value in stamp.items()]
    lines.append(f"\n{'peer':<13} {'tokens':>6}  {'peer, s':>29}  {'assay, s':>29}  peer / assay")
    lines += [
        f"{pair.peer:<13} {pair.tokens:>6}  {shown(pair.theirs):>29}  {shown(pair.ours):>29}  {pair.ratio:12.2f}"
        for pair in pairs
    ]
    return "\n".join(lines)
