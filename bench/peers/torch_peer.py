"""torch + transformers: the makers' code, eager, on the same checkpoint."""

from __future__ import annotations

import time
from pathlib import Path

import torch
from transformers import Lfm2VlForConditionalGeneration

DTYPES = {"torch-fp32": torch.float32, "torch-bf16": torch.bfloat16}


class TorchPeer:
    def __init__(self, name: str, model: Path, threads: int) -> None:
        self.name = name
        torch.set_num_threads(threads)
        whole = Lfm2VlForConditionalGeneration.from_pretrained(
            model, dtype=DTYPES[name], attn_implementation="eager"
        )
        self.text = whole.model.language_model.eval()
        self.vocabulary = int(whole.config.text_config.vocab_size)

    def row(self, tokens: int) -> float:
        """Seconds from ids to the last hidden row; no head."""
        ids = torch.randint(
            self.vocabulary, (1, tokens), generator=torch.Generator().manual_seed(tokens)
        )
        with torch.inference_mode():
            start = time.perf_counter()
            self.text(input_ids=ids, use_cache=False).last_hidden_state[0, -1].float().sum().item()
            return time.perf_counter() - start

    def logits(self, ids: list[int], vocabulary: int) -> list[float]:
        """Of the last token, for the first `vocabulary` ids; the head is the embedding (spec d1 2.1)."""
        with torch.inference_mode():
            row = self.text(input_ids=torch.tensor([ids]), use_cache=False).last_hidden_state[0, -1]
            values: list[float] = (
                (self.text.embed_tokens.weight[:vocabulary] @ row).float().tolist()
            )
            return values
