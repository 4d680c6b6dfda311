"""The GGUF files of bench/peers, and llama.cpp on them. Needs numpy and gguf; what llama.cpp does also llama_cpp.

python3 tests/peers_gguf_test.py PROGRAM MODEL
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench" / "peers"))

from line_peer import Failed, LinePeer

HAS_GGUF = all(importlib.util.find_spec(name) for name in ("numpy", "gguf"))
if HAS_GGUF or TYPE_CHECKING:
    import gguf
    import numpy as np

    import llamacpp_gguf

MODEL = Path()
PREFIX = "model.language_model."
NAMES = {
    "embed_tokens": "token_embd",
    "embedding_norm": "token_embd_norm",
    "operator_norm": "attn_norm",
    "ffn_norm": "ffn_norm",
    "feed_forward.w1": "ffn_gate",
    "feed_forward.w2": "ffn_down",
    "feed_forward.w3": "ffn_up",
    "conv.conv": "shortconv.conv",
    "conv.in_proj": "shortconv.in_proj",
    "conv.out_proj": "shortconv.out_proj",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.out_proj": "attn_output",
    "self_attn.q_layernorm": "attn_q_norm",
    "self_attn.k_layernorm": "attn_k_norm",
}


def expected_name(name: str) -> str:
    parts = name.removeprefix(PREFIX).removesuffix(".weight").split(".", 2)
    if parts[0] == "layers":
        return f"blk.{parts[1]}.{NAMES[parts[2]]}.weight"
    return f"{NAMES[parts[0]]}.weight"


def stored(model: Path) -> dict[str, Any]:
    """The text tensors in fp32 under the names that llama.cpp looks for."""
    data = (model / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name.startswith(PREFIX):
            begin, end = entry["data_offsets"]
            raw = np.frombuffer(data[start + begin : start + end], "<u2").astype(np.uint32) << 16
            tensors[expected_name(name)] = raw.view(np.float32).reshape(entry["shape"])
    tensors["token_embd.weight"] = tensors["token_embd.weight"][: llamacpp_gguf.VOCABULARY]
    return tensors


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = Path(folder.name)
        for name in ("config.json", "model.safetensors"):
            shutil.copy(MODEL / name, self.model)

    def written(self, kind: str) -> dict[str, Any]:
        """Tensors as fp32, in the shapes of the checkpoint; matrices must be of the kind, the rest fp32."""
        reader = gguf.GGUFReader(llamacpp_gguf.cached(self.model, kind))
        tensors = {}
        for tensor in reader.tensors:
            small = tensor.name.endswith("norm.weight") or ".shortconv.conv." in tensor.name
            wanted = gguf.GGMLQuantizationType.F32 if small else llamacpp_gguf.KINDS[kind]
            self.assertEqual(tensor.tensor_type, wanted, tensor.name)
            shape = [int(size) for size in reversed(tensor.shape)]
            tensors[tensor.name] = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        return tensors


@unittest.skipUnless(HAS_GGUF, "gguf or numpy is not installed")
class Files(Case):
    def test_bf16_is_the_checkpoint_bit_by_bit(self) -> None:
        want, got = stored(self.model), self.written("bf16")
        self.assertEqual(got.keys(), want.keys())
        for name, values in want.items():
            flat = values.reshape(values.shape[0], -1) if ".shortconv.conv." in name else values
            np.testing.assert_array_equal(got[name], flat, name)

    def test_q8_0_is_within_half_a_step_of_its_block(self) -> None:
        want, got = stored(self.model), self.written("q8_0")
        self.assertEqual(got.keys(), want.keys())
        for name, values in want.items():
            if name.endswith("norm.weight") or ".shortconv.conv." in name:
                np.testing.assert_array_equal(got[name].ravel(), values.ravel(), name)
                continue
            blocks, read = values.reshape(-1, 32), got[name].reshape(-1, 32)
            step = abs(blocks).max(axis=1, keepdims=True) / 127
            # The scale is rounded to fp16: 2^-11 of it, times up to 127 steps, or 2^-25 below its normal numbers.
            room = step * (0.5 + 127 * 2**-11) + 127 * 2**-25
            self.assertTrue((abs(read - blocks) <= room).all(), name)

    def test_sizes_and_constants_are_the_models(self) -> None:
        fields = gguf.GGUFReader(llamacpp_gguf.cached(self.model, "bf16")).fields
        config = json.loads((self.model / "config.json").read_text())["text_config"]
        tensors = stored(self.model)
        attention = [
            f"blk.{n}.attn_q.weight" in tensors for n in range(config["num_hidden_layers"])
        ]
        want = {
            "general.architecture": "lfm2",
            "lfm2.block_count": config["num_hidden_layers"],
            "lfm2.embedding_length": config["hidden_size"],
            "lfm2.feed_forward_length": tensors["blk.0.ffn_gate.weight"].shape[0],
            "lfm2.attention.head_count": config["num_attention_heads"],
            "lfm2.attention.head_count_kv": [
                config["num_key_value_heads"] if here else 0 for here in attention
            ],
            "lfm2.attention.key_length": config["hidden_size"] // config["num_attention_heads"],
            "lfm2.rope.freq_base": 1e6,
            "lfm2.attention.layer_norm_rms_epsilon": float(np.float32(config["norm_eps"])),
            "lfm2.shortconv.l_cache": 3,
            "lfm2.vocab_size": llamacpp_gguf.VOCABULARY,
            "tokenizer.ggml.model": "none",
        }
        for key, value in want.items():
            self.assertEqual(fields[key].contents(), value, key)

    def test_a_file_is_kept_until_the_weights_change(self) -> None:
        first = llamacpp_gguf.cached(self.model, "q8_0")
        other = llamacpp_gguf.cached(self.model, "bf16")
        written = first.stat().st_mtime_ns
        self.assertEqual(llamacpp_gguf.cached(self.model, "q8_0").stat().st_mtime_ns, written)
        os.utime(self.model / "model.safetensors", ns=(0, 0))
        second = llamacpp_gguf.cached(self.model, "q8_0")
        self.assertNotEqual(first, second)
        self.assertEqual(sorted(self.model.glob("llamacpp-*")), sorted([second, other]))

    def test_a_folder_without_the_text_model_is_refused(self) -> None:
        (self.model / "model.safetensors").unlink()
        with self.assertRaisesRegex(Failed, "no safetensors file has"):
            llamacpp_gguf.cached(self.model, "bf16")
        self.assertEqual(list(self.model.glob("llamacpp-*")), [])

    def test_weights_that_are_not_bf16_are_refused(self) -> None:
        file = self.model / "model.safetensors"
        file.write_bytes(file.read_bytes().replace(b'"BF16"', b'"F16" ', 1_000))
        with self.assertRaisesRegex(Failed, "is F16, not BF16"):
            llamacpp_gguf.cached(self.model, "bf16")


@unittest.skipUnless(
    HAS_GGUF and importlib.util.find_spec("llama_cpp"), "llama_cpp or gguf is not installed"
)
class Engine(Case):
    def test_rows_start_from_nothing_and_refusals_are_said(self) -> None:
        file = llamacpp_gguf.cached(self.model, "bf16")
        worker = Path(llamacpp_gguf.__file__).with_name("llamacpp_worker.py")
        with LinePeer("llama", [sys.executable, str(worker), str(file), "64", "1"]) as peer:
            first = peer.ask({"logits": [1, 2, 3]})["logits"]
            assert isinstance(first, list)
            self.assertEqual(len(first), llamacpp_gguf.VOCABULARY)
            self.assertGreater(peer.row(64), 0)
            self.assertEqual(peer.ask({"logits": [1, 2, 3]})["logits"], first)
            self.assertNotEqual(peer.ask({"logits": [2, 1, 3]})["logits"], first)
            refused: list[dict[str, object]] = [
                {"tokens": 65},
                {"tokens": 0},
                {"logits": [256]},
                {"logits": []},
                {},
            ]
            for wrong in refused:
                self.assertIn("error", peer.ask(wrong), wrong)

    def test_a_file_that_is_none(self) -> None:
        worker = Path(llamacpp_gguf.__file__).with_name("llamacpp_worker.py")
        with self.assertRaisesRegex(Failed, "cannot load"):
            LinePeer("llama", [sys.executable, str(worker), str(self.model / "none"), "64", "1"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("model", type=Path)
    found, rest = parser.parse_known_args()
    MODEL = found.model
    unittest.main(argv=[sys.argv[0], *rest])
