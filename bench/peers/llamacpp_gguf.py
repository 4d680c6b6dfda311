"""The text part of a d1 checkpoint as a GGUF file that llama.cpp loads (architecture lfm2); needs numpy and gguf.

Only the first VOCABULARY rows of the embedding are taken: llama.cpp multiplies the row that is read by the whole head, which is the
embedding, and the other engines run no head. Tensors are read one at a time.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from line_peer import Failed

VOCABULARY = 256
FORMAT = 1  # raised when what is written changes
KINDS = {
    "bf16": gguf.GGMLQuantizationType.BF16,
    "q8_0": gguf.GGMLQuantizationType.Q8_0,
}
FILE_TYPES = {"bf16": gguf.LlamaFileType.MOSTLY_BF16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
PREFIX = "model.language_model."
CHUNK = 1 << 22  # weights that are widened and quantized at a time


@dataclass(frozen=True)
class Stored:
    """A bf16 tensor of a safetensors file: [out, in], rows one after the other from `begin` on."""

    file: Path
    begin: int
    shape: tuple[int, ...]

    def read(self) -> npt.NDArray[np.uint16]:
        count = math.prod(self.shape)
        return np.fromfile(self.file, "<u2", count, offset=self.begin).reshape(self.shape)


@dataclass(frozen=True)
class Entry:
    """A tensor of the GGUF file; llama.cpp wants norms and the short convolution in fp32."""

    name: str
    source: Stored
    kind: gguf.GGMLQuantizationType


def header(file: Path) -> dict[str, Stored]:
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        listed = json.loads(stream.read(length))
    tensors = {}
    for name, entry in listed.items():
        if not name.startswith(PREFIX):
            continue
        if entry["dtype"] != "BF16":
            raise Failed(f"{file}: {name} is {entry['dtype']}, not BF16")
        begin = 8 + length + entry["data_offsets"][0]
        tensors[name.removeprefix(PREFIX)] = Stored(file, begin, tuple(entry["shape"]))
    return tensors


def text_tensors(model: Path) -> dict[str, Stored]:
    tensors: dict[str, Stored] = {}
    for file in sorted(model.glob("*.safetensors")):
        tensors |= header(file)
    if "embed_tokens.weight" not in tensors:
        raise Failed(f"{model}: no safetensors file has {PREFIX}embed_tokens.weight")
    return tensors


def first_rows(whole: Stored) -> Stored:
    return Stored(whole.file, whole.begin, (min(VOCABULARY, whole.shape[0]), *whole.shape[1:]))


def vocabulary_of(model: Path) -> int:
    """How many ids the file knows: 0 and on."""
    return first_rows(text_tensors(model)["embed_tokens.weight"]).shape[0]


def layer_count(tensors: dict[str, Stored]) -> int:
    return 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))


def entries(tensors: dict[str, Stored], kind: str) -> list[Entry]:
    """Names by gguf's own map; the convolution loses its middle dimension of 1."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LFM2, layer_count(tensors))
    listed = []
    for name, source in sorted(tensors.items()):
        known = names.get_name(f"model.{name}", (".weight",))
        if known is None:
            raise Failed(f"{source.file}: {PREFIX}{name} has no place in a GGUF file of lfm2")
        matrix = len(source.shape) == 2
        if name == "embed_tokens.weight":
            source = first_rows(source)
        elif name.endswith("conv.conv.weight"):
            channels, _, taps = source.shape
            source = Stored(source.file, source.begin, (channels, taps))
        listed.append(
            Entry(known, source, KINDS[kind] if matrix else gguf.GGMLQuantizationType.F32)
        )
    return listed


def widened(stored: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    return (stored.astype(np.uint32) << 16).view(np.float32)


def payload(entry: Entry) -> npt.NDArray[np.generic]:
    """The tensor's bytes as the file has them."""
    stored = entry.source.read()
    if entry.kind == gguf.GGMLQuantizationType.BF16:
        return stored
    if entry.kind == gguf.GGMLQuantizationType.F32:
        return widened(stored)
    step = max(1, CHUNK // stored.shape[1])
    # A block whose largest weight is below 1e-36 overflows on the way; its fp16 scale is 0, and so is what it says.
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [
            gguf.quantize(widened(stored[begin : begin + step]), entry.kind)
            for begin in range(0, stored.shape[0], step)
        ]
    return np.concatenate(parts)


def payload_bytes(entry: Entry) -> int:
    block, size = (int(each) for each in gguf.GGML_QUANT_SIZES[entry.kind])
    if entry.source.shape[-1] % block:
        raise Failed(f"{entry.name}: rows of {entry.source.shape[-1]} are no multiple of {block}")
    return math.prod(entry.source.shape) // block * size


def describe(writer: gguf.GGUFWriter, model: Path, tensors: dict[str, Stored], kind: str) -> None:
    """Sizes come from the tensors' shapes; config.json has what they do not show (spec d1 1.3)."""
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))["text_config"]
    rope = config.get("rope_parameters") or {}
    layers = layer_count(tensors)
    attention = [f"layers.{n}.self_attn.q_proj.weight" in tensors for n in range(layers)]
    conv = attention.index(False)
    first = f"layers.{attention.index(True)}.self_attn."
    head = tensors[first + "q_layernorm.weight"].shape[0]
    kv_heads = tensors[first + "k_proj.weight"].shape[0] // head
    vocabulary, width = first_rows(tensors["embed_tokens.weight"]).shape
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_block_count(layers)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(tensors["layers.0.feed_forward.w1.weight"].shape[0])
    writer.add_head_count(tensors[first + "q_proj.weight"].shape[0] // head)
    writer.add_head_count_kv([kv_heads if here else 0 for here in attention])
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_freq_base(config.get("rope_theta", rope.get("rope_theta", 1e6)))
    writer.add_layer_norm_rms_eps(config["norm_eps"])
    writer.add_shortconv_l_cache(tensors[f"layers.{conv}.conv.conv.weight"].shape[-1])
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("none")  # ids are given


def write(model: Path, kind: str, out: Path) -> None:
    tensors = text_tensors(model)
    listed = entries(tensors, kind)
    writer = gguf.GGUFWriter(out, gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.LFM2])
    describe(writer, model, tensors, kind)
    for entry in listed:
        size = payload_bytes(entry)
        # The element type is only asked for where the kind is not given; shapes are in elements.
        writer.add_tensor_info(entry.name, entry.source.shape, np.dtype("<f4"), size, entry.kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for entry in listed:
        writer.write_tensor_data(payload(entry))
    writer.close()


def stamp(model: Path) -> str:
    """Other weights have another one; so has another format of this file."""
    digest = hashlib.sha256(f"{FORMAT} {VOCABULARY} {gguf.GGUF_VERSION}".encode())
    for file in sorted([model / "config.json", *model.glob("*.safetensors")]):
        state = file.stat()
        digest.update(f"{file.name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]


def cached(model: Path, kind: str) -> Path:
    """The GGUF file beside the checkpoint, written when it is not there; those of older weights are removed."""
    out = model / f"llamacpp-{kind}-{stamp(model)}.gguf"
    if not out.exists():
        part = out.with_suffix(f".part{os.getpid()}")
        try:
            write(model, kind, part)
            with part.open("rb") as stream:
                os.fsync(stream.fileno())  # or the disk is busy with it while calls are timed
            for old in model.glob(f"llamacpp-{kind}-*.gguf"):
                old.unlink()
            part.replace(out)
        except OSError as problem:
            raise Failed(f"{out}: cannot be written: {problem}") from problem
        finally:
            part.unlink(missing_ok=True)
    return out
