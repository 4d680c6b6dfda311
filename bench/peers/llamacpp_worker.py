"""llama.cpp as a child process of peers.py: llamacpp_worker.py GGUF LONGEST THREADS

{"tokens": N}       -> {"seconds": S}: N random ids as one row from an empty context
{"logits": [ids]}   -> {"logits": [...]}: of the row's last token, one for each id of the GGUF file's vocabulary
anything else       -> {"error": "..."}
"""

from __future__ import annotations

import ctypes
import json
import logging
import random
import sys
import time

import llama_cpp


class Engine:
    """One sequence, one pass a call: the batch and the micro-batch hold the longest row."""

    def __init__(self, path: str, longest: int, threads: int) -> None:
        logging.getLogger("llama-cpp-python").setLevel(logging.ERROR)
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(
            path.encode(), llama_cpp.llama_model_default_params()
        )
        if not self.model:
            raise ValueError(f"llama.cpp cannot load {path}")
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = longest
        options.n_batch = options.n_ubatch = longest
        options.n_seq_max = 1
        options.n_threads = options.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        if not self.context:
            raise ValueError(f"llama.cpp cannot make a context of {longest} tokens")
        self.longest = longest
        self.vocabulary = int(
            llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        )

    def run(self, ids: list[int]) -> tuple[float, list[float]]:
        """Seconds, and the logits of the last token: no other row leaves the last layer."""
        if not 1 <= len(ids) <= self.longest:
            raise ValueError(f"{len(ids)} tokens; 1 to {self.longest} are possible")
        if not all(0 <= value < self.vocabulary for value in ids):
            raise ValueError(f"an id is not one of 0 to {self.vocabulary - 1}")
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        tokens = (llama_cpp.llama_token * len(ids))(*ids)
        batch = llama_cpp.llama_batch_get_one(tokens, len(ids))
        start = time.perf_counter()
        status = llama_cpp.llama_decode(self.context, batch)
        last = llama_cpp.llama_get_logits_ith(self.context, ctypes.c_int32(-1))
        seconds = time.perf_counter() - start
        if status != 0:
            raise ValueError(f"llama_decode of {len(ids)} tokens gave {status}")
        return seconds, list(last[: self.vocabulary])

    def answer(self, asked: dict[str, object]) -> dict[str, object]:
        match asked:
            case {"tokens": int(count)} if 1 <= count <= self.longest:
                drawn = random.Random(count)
                seconds, _ = self.run([drawn.randrange(self.vocabulary) for _ in range(count)])
                return {"seconds": seconds}
            case {"logits": list(ids)}:
                return {"logits": self.run(ids)[1]}
        raise ValueError(f"neither tokens (1 to {self.longest}) nor logits: {asked}")


def say(value: dict[str, object]) -> None:
    print(json.dumps(value), flush=True)


def main() -> int:
    path, longest, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    try:
        engine = Engine(path, longest, threads)
    except ValueError as problem:
        say({"error": str(problem)})
        return 2
    say({"ready": {"system": llama_cpp.llama_print_system_info().decode()}})
    for line in sys.stdin:
        try:
            say(engine.answer(json.loads(line)))
        except ValueError as problem:
            say({"error": str(problem)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
