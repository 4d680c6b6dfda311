"""The demo's shape, its file, and a forward pass over requests in tree form.

A tree (one state, several questions) is one sequence: trunk, then the branches. Every branch sees the trunk and
itself only, its positions continue after the trunk, and its convolutions start from the trunk's end. So a state is
computed once for all its questions, and each question gives exactly what its own row would give."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AutoConfig, Lfm2VlForConditionalGeneration

# Attention at 1, 3, 5, 6: options are matched with the state by attention, so the last two layers both have it.
SHAPE: dict[str, Any] = {
    "hidden": 128, "layers": 7, "attention": [1, 3, 5, 6], "heads": 4, "kv": 2, "mlp": 320,
    "tower": 64, "tower_layers": 1, "tower_heads": 2, "tower_mlp": 128, "projector": 64,
}  # fmt: skip
BARE_TOWER, TOWER = "model.vision_tower.", "model.vision_tower.vision_model."


@dataclass(frozen=True)
class Row:
    """One question of a tree: its branch and the ids to read, one group an option."""

    kind: str
    branch: list[int]
    groups: list[list[int]]
    answer: int
    # where each option's line ends in the branch; for noul where the question ends
    marks: list[int]


@dataclass(frozen=True)
class Tree:
    trunk: list[int]
    rows: list[Row]

    def __len__(self) -> int:
        return len(self.trunk) + sum(len(row.branch) for row in self.rows)


@dataclass(frozen=True)
class Batch:
    ids: Tensor  # [trees, length]
    positions: Tensor  # [trees, length]
    sees: Tensor  # [trees, 1, length, length] bool
    first: Tensor  # [trees, length, 1] bool: first token of a branch
    second: Tensor  # [trees, length, 1] bool: second token of a branch
    trunk_end: Tensor  # [trees]: index of the trunk's last token
    following: Tensor  # [trees, length - 1]: the next id of the same part, -1 where there is none
    read: tuple[Tensor, Tensor]  # tree and index of every branch's last token, [questions] each
    groups: Tensor  # [questions, options, 3] ids, padded with the group's first id
    real: Tensor  # [questions, options] bool
    marks: Tensor  # [questions, options] index of the option's end
    answers: Tensor  # [questions]
    noul: Tensor  # [questions] bool
    kinds: list[str]


def layout(tree: Tree, length: int) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """Ids, positions, part of every token (0 trunk, 1.. branches, -1 padding), branch starts, read places."""
    ids, positions, part = list(tree.trunk), list(range(len(tree.trunk))), [0] * len(tree.trunk)
    starts, reads = [], []
    for n, row in enumerate(tree.rows, 1):
        starts.append(len(ids))
        ids += row.branch
        positions += range(len(tree.trunk), len(tree.trunk) + len(row.branch))
        part += [n] * len(row.branch)
        reads.append(len(ids) - 1)
    gap = length - len(ids)
    return ids + [0] * gap, positions + [0] * gap, part + [-1] * gap, starts, reads


def collate(trees: list[Tree]) -> Batch:
    """Padding stands on the right, where a causal model never looks."""
    length = max(len(tree) for tree in trees)
    places = [layout(tree, length) for tree in trees]
    part = torch.tensor([p[2] for p in places])
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    # padding sees itself, for a softmax over nothing is not a number
    sees = ((part[:, None, :] == 0) | (part[:, None, :] == part[:, :, None])) & causal
    first = torch.zeros(len(trees), length, 1, dtype=torch.bool)
    for n, place in enumerate(places):
        first[n, place[3]] = True
    second = F.pad(first, (0, 0, 1, 0))[:, :length]
    rows = [row for tree in trees for row in tree.rows]
    most = max(len(row.groups) for row in rows)
    groups = [
        [(g + [g[0]] * 3)[:3] for g in row.groups] + [[0] * 3] * (most - len(row.groups))
        for row in rows
    ]
    real = [[True] * len(row.groups) + [False] * (most - len(row.groups)) for row in rows]
    where = [(n, at) for n, place in enumerate(places) for at in place[4]]
    starts = [at for place in places for at in place[3]]
    marks = [
        [start + at for at in row.marks] + [0] * (most - len(row.marks))
        for start, row in zip(starts, rows, strict=True)
    ]
    ids = torch.tensor([p[0] for p in places])
    return Batch(
        ids,
        torch.tensor([p[1] for p in places]),
        sees[:, None],
        first,
        second,
        torch.tensor([len(tree.trunk) - 1 for tree in trees]),
        torch.where((part[:, 1:] == part[:, :-1]) & (part[:, 1:] >= 0), ids[:, 1:], -1),
        (torch.tensor([w[0] for w in where]), torch.tensor([w[1] for w in where])),
        torch.tensor(groups),
        torch.tensor(real),
        torch.tensor(marks),
        torch.tensor([row.answer for row in rows]),
        torch.tensor([row.kind == "noul" for row in rows]),
        [row.kind for row in rows],
    )


def short_conv(conv: nn.Module, x: Tensor, batch: Batch) -> Tensor:
    """The three-tap convolution where a branch's first two tokens look back into the trunk, not into the branch before."""
    b, c, v = conv.in_proj(x).chunk(3, dim=-1)
    u = b * v
    each = torch.arange(len(u))
    end, before = u[each, batch.trunk_end, None], u[each, batch.trunk_end - 1, None]
    back1 = torch.where(batch.first, end, F.pad(u, (0, 0, 1, 0))[:, :-1])
    back2 = torch.where(
        batch.first, before, torch.where(batch.second, end, F.pad(u, (0, 0, 2, 0))[:, :-2])
    )
    taps = conv.conv.weight[:, 0]
    return conv.out_proj(c * (back2 * taps[:, 0] + back1 * taps[:, 1] + u * taps[:, 2]))


def hidden_rows(model: Lfm2VlForConditionalGeneration, batch: Batch) -> tuple[Tensor, Tensor]:
    """The rows after the final norm, and those before the last layer, [trees, length, hidden]."""
    text = model.model.language_model
    h = before = text.embed_tokens(batch.ids)
    angles = text.rotary_emb(h, position_ids=batch.positions)
    for layer in text.layers:
        before = h
        y = layer.operator_norm(h)
        if layer.is_attention_layer:
            h = (
                h
                + layer.self_attn(
                    hidden_states=y, position_embeddings=angles, attention_mask=batch.sees
                )[0]
            )
        else:
            h = h + short_conv(layer.conv, y, batch)
        h = h + layer.feed_forward(layer.ffn_norm(h))
    return text.embedding_norm(h), before


def scores(
    model: Lfm2VlForConditionalGeneration, rows: Tensor, batch: Batch
) -> tuple[Tensor, Tensor]:
    """Logits over the vocabulary and the readout's score of every option (the largest logit of its group)."""
    logits = rows @ model.model.language_model.embed_tokens.weight.T
    each = torch.arange(len(logits))[:, None, None]
    best = logits[each, batch.groups].amax(dim=-1)
    return logits, best.masked_fill(~batch.real, -torch.inf)


def check_tree(model: Lfm2VlForConditionalGeneration, tree: Tree) -> float:
    """The largest difference between the tree's rows and transformers' own pass over each row alone."""
    with torch.no_grad():
        batch = collate([tree])
        ours = hidden_rows(model, batch)[0][batch.read]
        text = model.model.language_model
        alone = [
            text(
                input_ids=torch.tensor([tree.trunk + row.branch]), use_cache=False
            ).last_hidden_state[0, -1]
            for row in tree.rows
        ]
    return float((ours - torch.stack(alone)).abs().max())


def new_model(config_file: Path) -> Lfm2VlForConditionalGeneration:
    model = Lfm2VlForConditionalGeneration(AutoConfig.from_pretrained(config_file.parent)).float()
    with torch.no_grad():
        start_weights(model.model.language_model)
    return model


def start_weights(text: nn.Module) -> None:
    """Where training starts: blocks that already do something, and attention that looks everywhere alike."""
    width = text.config.hidden_size
    nn.init.normal_(text.embed_tokens.weight, std=0.3)
    nn.init.constant_(text.embedding_norm.weight, 0.25)
    for layer in text.layers:
        mlp = layer.feed_forward
        for matrix in (mlp.w1, mlp.w3):
            nn.init.normal_(matrix.weight, std=width**-0.5)
        nn.init.normal_(mlp.w2.weight, std=0.3 * mlp.w2.weight.shape[1] ** -0.5)
        if not layer.is_attention_layer:
            nn.init.normal_(layer.conv.in_proj.weight, std=width**-0.5)
            nn.init.normal_(layer.conv.out_proj.weight, std=0.3 * width**-0.5)
            nn.init.normal_(layer.conv.conv.weight, std=0.5)
            continue
        mixer = layer.self_attn
        for matrix in (mixer.q_proj, mixer.k_proj, mixer.v_proj):
            nn.init.normal_(matrix.weight, std=width**-0.5)
        nn.init.normal_(mixer.out_proj.weight, std=0.5 * width**-0.5)


def write_config(folder: Path, oracle: ModuleType) -> None:
    """config.json and processor_config.json in the spelling of the oracle's newer checkpoints. `oracle` is its d1 module."""
    spec = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids = {token["content"]: token["id"] for token in spec["added_tokens"]}
    # like the published table, some rows more than there are ids
    rows = -(-(max(ids.values()) + 41) // 64) * 64
    for name, value in (
        ("config.json", oracle.config_json("mid", SHAPE, rows, ids)),
        ("processor_config.json", oracle.PROCESSOR),
    ):
        (folder / name).write_text(
            json.dumps(value, indent=2) + "\n", encoding="utf-8", newline="\n"
        )


def write_weights(model: nn.Module, path: Path, common: ModuleType) -> str:
    """All tensors rounded to BF16 under their published names; the tied head is not stored. Returns the file's sha256."""
    entries = []
    for name, value in sorted(model.state_dict().items()):
        if name == "lm_head.weight":
            continue
        bits = common.bf16_bits(value.detach().numpy()).reshape(-1)
        published = name if name.startswith(TOWER) else name.replace(BARE_TOWER, TOWER)
        entries.append(
            (
                published,
                tuple(value.shape),
                lambda start, count, bits=bits: bits[start : start + count],
            )
        )
    return str(common.write_safetensors(str(path), sorted(entries, key=lambda entry: entry[0])))
