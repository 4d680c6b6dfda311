"""bench/peers without torch: the protocol with assay, statistics, refusals.

python3 tests/peers_test.py PROGRAM MODEL
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench" / "peers"))

import llamacpp_peer
import peers
from assay_peer import AssayPeer
from line_peer import Failed, LinePeer
from timing import Pair, Times, quantile, table

PROGRAM = Path()
MODEL = Path()


class Counter:
    """A peer that notes in which order it is called."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self.name = name
        self.calls = calls

    def row(self, tokens: int) -> float:
        self.calls.append(f"{self.name} {tokens}")
        return float(len(self.calls))


class Statistics(unittest.TestCase):
    def test_quantiles_lie_between_values(self) -> None:
        self.assertEqual(quantile([4.0, 1.0, 3.0, 2.0], 0.5), 2.5)
        self.assertEqual(quantile([1.0, 2.0, 3.0], 1.0), 3.0)
        self.assertAlmostEqual(quantile([0.0, 10.0], 0.1), 1.0)

    def test_the_ratio_is_peer_over_assay(self) -> None:
        pair = Pair("torch-fp32", 39, Times(3, 2, 4, 5), Times(1.5, 1, 2, 5))
        self.assertEqual(pair.ratio, 2)
        self.assertIn("2.00", table([pair], {"cpu": "x"}).splitlines()[-1])
        self.assertEqual(pair.json()["ratio"], 2)


class Rounds(unittest.TestCase):
    def test_everyone_is_called_in_turn_after_the_warm_up(self) -> None:
        calls: list[str] = []
        with contextlib.redirect_stderr(io.StringIO()):
            pairs = peers.measure(Counter("peer", calls), Counter("assay", calls), [3, 5], 2)
        self.assertEqual(
            calls,
            ["assay 3", "peer 3"] * 2
            + ["assay 5", "peer 5"] * 2
            + ["assay 3", "peer 3", "assay 5", "peer 5"] * 2,
        )
        self.assertEqual([pair.ours.calls for pair in pairs], [2, 2])
        self.assertEqual(pairs[0].ours.median, (9 + 13) / 2)


class Assay(unittest.TestCase):
    def test_rows_and_questions_are_timed_and_refusals_are_said(self) -> None:
        with AssayPeer(PROGRAM, MODEL, 1) as assay:
            self.assertGreater(assay.row(8), 0)
            self.assertGreater(
                assay.seconds({"questions": 2, "state": 20, "question_tokens": 5}), 0
            )
            with self.assertRaisesRegex(Failed, "refused"):
                assay.row(10**9)
            self.assertGreater(assay.row(8), 0, "it goes on after a refusal")

    def test_a_model_that_is_none(self) -> None:
        with self.assertRaisesRegex(Failed, "exit code 3"):
            AssayPeer(PROGRAM, MODEL / "none", 1)


class Children(unittest.TestCase):
    def child(self, program: str) -> LinePeer:
        return LinePeer("child", [sys.executable, "-c", program])

    def test_one_that_dies_is_named_with_its_signal(self) -> None:
        said = "print('{\"ready\": {}}', flush=True); input(); "
        with (
            self.child(said + "import os; os.kill(os.getpid(), 4)") as peer,
            self.assertRaisesRegex(Failed, "child: ended with SIGILL"),
        ):
            peer.row(3)

    def test_one_that_cannot_start_says_why(self) -> None:
        with self.assertRaisesRegex(Failed, "child: did not become ready: too big"):
            self.child('print(\'{"error": "too big"}\')')


class Llamacpp(unittest.TestCase):
    def test_logits_of_another_model_are_refused(self) -> None:
        right = [[1.0, 2.0, -3.0], [1.0, 0.0, 0.0]]
        close = [[2.0, 4.0, -6.1], [1.0, 0.1, 0.0]]
        self.assertAlmostEqual(llamacpp_peer.check_alike("llamacpp-bf16", close, right), 0.997, 2)
        for wrong in ([1.0, 2.0, 3.0], [1.0, 2.0], [1.0, 2.0, float("nan")], [0.0, 0.0, 0.0]):
            with self.assertRaisesRegex(Failed, "llamacpp-q8_0: its logits and torch's have"):
                llamacpp_peer.check_alike("llamacpp-q8_0", [wrong, close[1]], right)
        half = [close[0], [1.0, 0.5, 0.0]]  # cosines 1 and 0.89
        llamacpp_peer.check_alike("llamacpp-q8_0", half, right)
        with self.assertRaisesRegex(Failed, "not 0.98 or more"):
            llamacpp_peer.check_alike("llamacpp-bf16", half, right)

    def test_a_build_above_the_level_that_assay_is_held_to_is_refused(self) -> None:
        system = "CPU : AVX2 = 1 | AVX512 = 1 | AMX_INT8 = 1 | REPACK = 1 | "
        llamacpp_peer.check_level("x", system, None)
        with self.assertRaisesRegex(Failed, "built with AMX_INT8, ASSAY_CPU is avx512"):
            llamacpp_peer.check_level("x", system, "avx512")
        lower = "CPU : AVX2 = 1 | AVX512 = 1 | REPACK = 1 | "
        llamacpp_peer.check_level("x", lower, "avx512")
        with self.assertRaisesRegex(Failed, "built with AVX512, ASSAY_CPU is avx2"):
            llamacpp_peer.check_level("x", lower, "avx2")

    def test_a_package_that_is_missing_is_named_with_the_command(self) -> None:
        said = "llama_cpp and gguf not installed .*pip install -r .*-llamacpp.txt"
        with (
            mock.patch("importlib.util.find_spec", return_value=None),
            self.assertRaisesRegex(Failed, said),
        ):
            llamacpp_peer.check_installed("llamacpp-bf16")


class Refusals(unittest.TestCase):
    def refusal(self, *argv: str) -> str:
        error = io.StringIO()
        with contextlib.redirect_stderr(error), mock.patch.object(sys, "argv", ["peers", *argv]):
            self.assertEqual(peers.main(), 2)
        return error.getvalue()

    def test_an_unknown_peer_is_named(self) -> None:
        self.assertIn("llamacpp-q2_k is none of", self.refusal("--peers", "llamacpp-q2_k"))

    def test_a_program_that_is_missing(self) -> None:
        self.assertIn("make build", self.refusal("--program", "nowhere"))

    def test_memory_that_is_not_there_names_both_numbers(self) -> None:
        with mock.patch.object(peers, "available_bytes", return_value=1000):
            said = self.refusal("--program", str(PROGRAM), "--model", str(MODEL))
        self.assertRegex(said, r"needs \d+ bytes beside assay, 1000 are available")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("model", type=Path)
    found, rest = parser.parse_known_args()
    PROGRAM, MODEL = found.program, found.model
    unittest.main(argv=[sys.argv[0], *rest])
