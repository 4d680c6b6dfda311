"""Requests with known answers, drawn from a random generator. `python data.py` prints some."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import world
from world import Meaning, Scale, Topic

KINDS = ("noul", "choice", "score")
DOMAINS = ("ticket", "moderation", "triage", "record")
KIND_WEIGHTS = (0.4, 0.42, 0.18)  # scores are learnt first
DOMAIN_WEIGHTS = (0.43, 0.2, 0.2, 0.17)  # a ticket says most
HELD_EVERY = 5


@dataclass(frozen=True)
class Question:
    kind: str
    body: dict[str, Any]
    answer: int  # index in option order; a noul's options are yes, no


@dataclass(frozen=True)
class Example:
    domain: str
    state: Any
    questions: tuple[Question, ...]

    def request(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "questions": {f"q{n}": q.body for n, q in enumerate(self.questions, 1)},
        }


@dataclass(frozen=True)
class Scene:
    """A state and what is true of it: the meaning of each topic, the level of each scale, yes/no facts."""

    state: Any
    topics: tuple[tuple[Topic, int], ...] = ()
    scales: tuple[tuple[Scale, int], ...] = ()
    facts: tuple[tuple[tuple[str, ...], bool], ...] = ()


# ---------------------------------------------------------------- states
def drawn(rng: random.Random, phrases: tuple[str, ...], held: bool) -> str:
    """Training never sees every HELD_EVERY-th phrase of a meaning; held-out text uses only those."""
    return rng.choice(
        [text for n, text in enumerate(phrases) if (n % HELD_EVERY == HELD_EVERY // 2) == held]
    )


def sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def filled(rng: random.Random, text: str, held: bool) -> str:
    return text.format(
        name=rng.choice(world.HELD_NAMES if held else world.NAMES),
        product=rng.choice(world.HELD_PRODUCTS if held else world.PRODUCTS),
        month=rng.choice(world.MONTHS),
        number=rng.randint(100, 999),
        hour=rng.randint(1, 12),
    )


def text_state(
    rng: random.Random, parts: list[str], fillers: tuple[str, ...], held: bool, ease: float
) -> str:
    """The parts in any order, often with a sentence that says nothing."""
    extra = 0 if rng.random() < ease else rng.choice((0, 1))
    parts = parts + [filled(rng, text, held) for text in rng.sample(fillers, extra)]
    rng.shuffle(parts)
    return " ".join(parts)


def ticket(rng: random.Random, held: bool, ease: float) -> Scene:
    """What happened, and some of: what is wanted, how soon, in which tone."""
    issue, wish = rng.randrange(len(world.ISSUE.meanings)), rng.randrange(len(world.WISH.meanings))
    urgency, tone = rng.randrange(3), rng.randrange(3)
    parts = [sentence(drawn(rng, world.ISSUE.meanings[issue].phrases, held))]
    topics, scales = [(world.ISSUE, issue)], []
    if rng.random() < 0.65:
        parts.append(sentence(drawn(rng, world.WISH.meanings[wish].phrases, held)))
        topics.append((world.WISH, wish))
    for scale, level in rng.sample(
        ((world.URGENCY, urgency), (world.TONE, tone)), rng.choice((1, 1, 2))
    ):
        parts.append(drawn(rng, scale.phrases[level], held))
        scales.append((scale, level))
    fillers = world.HELD_FILLERS if held else world.FILLERS
    return Scene(text_state(rng, parts, fillers, held, ease), tuple(topics), tuple(scales))


def moderation(rng: random.Random, held: bool, ease: float) -> Scene:
    kind = rng.randrange(len(world.POST.meanings))
    parts = [sentence(drawn(rng, world.POST.meanings[kind].phrases, held))]
    remove = (("Should this message be removed?", "Must this be taken down?"), kind != 0)
    state = text_state(rng, parts, world.POST_FILLERS, held, ease)
    return Scene(
        state, ((world.POST, kind),), ((world.SEVERITY, world.POST_SEVERITY[kind]),), (remove,)
    )


def triage(rng: random.Random, held: bool, ease: float) -> Scene:
    system, reach, solved = (
        rng.randrange(len(world.SYSTEM.meanings)),
        rng.randrange(3),
        rng.random() < 0.5,
    )
    parts = [
        sentence(drawn(rng, world.SYSTEM.meanings[system].phrases, held)),
        drawn(rng, world.REACH.phrases[reach], held),
        drawn(rng, world.SOLVED[0 if solved else 1], held),
    ]
    state = text_state(rng, parts, world.INCIDENT_FILLERS, held, ease)
    return Scene(
        state, ((world.SYSTEM, system),), ((world.REACH, reach),), ((world.SOLVED_ASK, solved),)
    )


def plain_topic(
    ask: tuple[str, ...], names: tuple[str, ...], nouls: Mapping[str, tuple[str, ...]]
) -> Topic:
    return Topic(ask, tuple(Meaning(name, name, nouls.get(name, ()), ()) for name in names))


STATUS_TOPIC = plain_topic(world.STATUS_ASK, world.STATUS, world.STATUS_NOUL)
PRIORITY_SCALE = Scale(
    world.PRIORITY_ASK, tuple((name.capitalize(), name) for name in world.PRIORITY), ()
)


def record(rng: random.Random, held: bool, ease: float) -> Scene:
    """An order as JSON; the members come in any order, some among them say nothing."""
    status, priority = rng.randrange(len(world.STATUS)), rng.randrange(3)
    paid, gift = rng.random() < 0.5, rng.random() < 0.5
    members: list[tuple[str, Any]] = [
        ("status", world.STATUS[status]),
        ("city", rng.choice(world.CITIES)),
        ("priority", world.PRIORITY[priority]),
        ("paid", paid),
        ("gift", gift),
    ]
    if rng.random() >= ease:
        members.append(("order", rng.randint(100, 999)))
        members.append(
            (
                "customer",
                {
                    "name": rng.choice(world.HELD_NAMES if held else world.NAMES),
                    "since": rng.randint(2001, 2025),
                },
            )
        )
        members.append(
            (
                "items",
                [
                    rng.choice(world.HELD_PRODUCTS if held else world.PRODUCTS)
                    for _ in range(rng.randint(1, 3))
                ],
            )
        )
    rng.shuffle(members)
    return Scene(
        dict(members),
        ((STATUS_TOPIC, status),),
        ((PRIORITY_SCALE, priority),),
        ((world.PAID_ASK, paid), (world.GIFT_ASK, gift)),
    )


SCENES = dict(zip(DOMAINS, (ticket, moderation, triage, record), strict=True))


# ---------------------------------------------------------------- questions
def noul(rng: random.Random, scene: Scene) -> Question:
    """Half of the answers are yes."""
    if scene.facts and rng.random() < 0.4:
        ask, truth = rng.choice(scene.facts)
        return Question(
            "noul", {"type": "noul", "instructions": rng.choice(ask)}, 0 if truth else 1
        )
    topic, right = rng.choice(scene.topics)
    yes = rng.random() < 0.5
    others = [n for n in range(len(topic.meanings)) if n != right]
    asked = topic.meanings[right if yes else rng.choice(others)]
    body: dict[str, Any] = {"type": "noul", "instructions": rng.choice(asked.ask)}
    if rng.random() < 0.2:
        body["criteria"] = {"true": asked.description, "false": "Something else"}
    return Question("noul", body, 0 if yes else 1)


def lists(topic: Topic) -> list[list[int]]:
    """The option lists of a topic: all meanings forwards and backwards, the first three, and those after them."""
    every = list(range(len(topic.meanings)))
    return [every, every[::-1], every[:3], every[2:]]


def choice(rng: random.Random, scene: Scene, mixed: float) -> Question:
    """One of the topic's lists that holds the right meaning, bare or with descriptions; a share `mixed` of the
    questions has some of the options in an order of its own instead."""
    topic, right = rng.choice(scene.topics)
    if rng.random() < mixed:
        others = [n for n in range(len(topic.meanings)) if n != right]
        picked = [right, *rng.sample(others, rng.randint(1, 3))]
        rng.shuffle(picked)
    else:
        picked = rng.choice([options for options in lists(topic) if right in options])
    described = rng.random() < 0.5
    criteria = {
        topic.meanings[n].label: topic.meanings[n].description if described else None
        for n in picked
    }
    body = {"type": "choice", "instructions": rng.choice(topic.ask), "criteria": criteria}
    return Question("choice", body, picked.index(right))


def score(rng: random.Random, scene: Scene) -> Question:
    """All levels, or two neighbours, so that the digits must be read too."""
    scale, right = rng.choice(scene.scales)
    first, last = 0, len(scale.levels) - 1
    if rng.random() < 0.25:
        first = rng.choice([n for n in (right - 1, right) if 0 <= n < last])
        last = first + 1
    levels = [rng.choice(scale.levels[n]) for n in range(first, last + 1)]
    body = {"type": "score", "instructions": rng.choice(scale.ask), "criteria": levels}
    return Question("score", body, right - first)


def question(rng: random.Random, scene: Scene, kind: str, mixed: float) -> Question:
    if kind == "noul":
        return noul(rng, scene)
    return choice(rng, scene, mixed) if kind == "choice" else score(rng, scene)


def example(
    rng: random.Random,
    held: bool,
    count: int,
    ease: float = 0.0,
    mixed: float = 0.0,
    domain: str | None = None,
    kind: str | None = None,
) -> Example:
    """`ease` is the share of states without extra sentences, high while training starts; `mixed` is for `choice`."""
    where = domain or rng.choices(DOMAINS, DOMAIN_WEIGHTS)[0]
    scene = SCENES[where](rng, held, ease)
    found: dict[str, Question] = {}
    for _ in range(2 * count):
        if len(found) == count:
            break
        made = question(rng, scene, kind or rng.choices(KINDS, KIND_WEIGHTS)[0], mixed)
        found.setdefault(json.dumps(made.body), made)
    return Example(where, scene.state, tuple(found.values()))


def state_text(shown: Example) -> str:
    return json.dumps(shown.state, ensure_ascii=False)


def held_out(
    seed: int, per_kind: int, seen: set[str], new_phrases: bool, mixed: float = 0.0
) -> list[Example]:
    """One question each, every kind and domain in turn, about states that are not in `seen`. With `new_phrases` their
    phrases, names and products are those that training never uses."""
    rng = random.Random(f"held {seed} {mixed} {new_phrases}")
    out: list[Example] = []
    for kind in KINDS:
        for n in range(per_kind):
            while True:
                domain = DOMAINS[n % len(DOMAINS)]
                shown = example(rng, new_phrases, 1, mixed=mixed, domain=domain, kind=kind)
                if state_text(shown) not in seen:
                    break
            out.append(shown)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held", action="store_true", help="held-out phrases and names")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(f"show {args.seed}")
    for _ in range(args.count):
        shown = example(rng, args.held, 4)
        print(json.dumps(shown.request(), ensure_ascii=False, indent=2))
        print("answers:", [q.answer for q in shown.questions], shown.domain, "\n")


if __name__ == "__main__":
    main()
