"""Makes the rollouts, the same for every training contender: groups of completions that share their prompt."""

import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path

SHORTEST, LONGEST = 64, 128
"""Bounds of a completion's length in tokens."""

MICRO_BATCH_TOKENS = 4096
"""Tokens that peers take through the model at once: plain peft took longer for two times 2,100 than one by one."""


@dataclass(frozen=True)
class Group:
    prompt: list[int]
    completions: list[list[int]]
    rewards: list[float]

    @property
    def tokens(self) -> int:
        """Tokens of all trajectories, each with its prompt: the work of a trainer that does not share prefixes."""
        return sum(len(self.prompt) + len(completion) for completion in self.completions)

    @property
    def micro_batch(self) -> int:
        """How many of its completions a peer takes at once: at least one."""
        return max(1, MICRO_BATCH_TOKENS // (len(self.prompt) + max(map(len, self.completions))))


def make_groups(groups: int, size: int, prompt: int, vocabulary: int, seed: int) -> list[Group]:
    """`groups` × `size` rollouts of random token ids, prompts of `prompt` tokens. Ids 0 to 2 are special."""
    source = random.Random(seed)

    def ids(length: int) -> list[int]:
        return [source.randrange(3, vocabulary) for _ in range(length)]

    return [
        Group(
            ids(prompt),
            [ids(source.randint(SHORTEST, LONGEST)) for _ in range(size)],
            [source.random() for _ in range(size)],
        )
        for _ in range(groups)
    ]


def write_engine_data(path: Path, groups: list[Group], logprobs: list[list[list[float]]]) -> str:
    """Writes the engine's RL data file, one trajectory a line, and returns its SHA-256.

    `logprobs[group][trajectory]` are the sampled log-probabilities, one per completion token.
    """
    lines = [
        json.dumps({"group": number, "index": index, "reward": group.rewards[index], "histories": [history]})
        for number, group in enumerate(groups)
        for index, history in enumerate(_histories(group, logprobs[number]))
    ]
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def _histories(group: Group, logprobs: list[list[float]]) -> list[dict]:
    return [
        {
            "tools": None,
            "items": [
                {"message": {"role": "user", "content": ""}},
                {"choice": _choice(group.prompt, completion, sampled)},
            ],
        }
        for completion, sampled in zip(group.completions, logprobs, strict=True)
    ]


def _choice(prompt: list[int], completion: list[int], logprobs: list[float]) -> dict:
    return {
        "message": {"role": "assistant", "content": ""},
        "finish_reason": "length",
        "token_ids": completion,
        "prompt_token_ids": prompt,
        "logprobs": [
            {"token": f"token_id:{token}", "logprob": value} for token, value in zip(completion, logprobs, strict=True)
        ],
        "ledger": None,
    }
