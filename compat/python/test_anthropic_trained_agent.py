"""An agent over the Anthropic SDK that knows nothing of Heddle learns by base URL, rollout header and later rewards."""

from functools import cache
from itertools import permutations

from anthropic import Anthropic

from covers import covers
from started_server import Server
from trained_agent import ENOUGH, Attempt, Course, held_out_rewards

COLOURS = ("red", "green", "blue", "black", "white", "pink", "brown", "gold")


@cache
def client_of(server: Server) -> Anthropic:
    return Anthropic(base_url=server.url, api_key=server.key)


def agent(server: Server, attempt: Attempt) -> str:
    message = client_of(server).messages.create(
        model=attempt.model,
        max_tokens=24,
        messages=[{"role": "user", "content": attempt.question}],
        extra_headers=attempt.headers,
        extra_body={"seed": attempt.seed},
    )
    return "".join(block.text for block in message.content if block.type == "text")


def reward(question: str, answer: str) -> float:
    """1.0 when the answer has the words in reverse order, else 0.0."""
    words = question.removeprefix("Reverse: ").split()
    return float(answer == " ".join(reversed(words)))


QUESTIONS = [f"Reverse: {' '.join(words)}" for words in permutations(COLOURS, 3)]
HELD_OUT = QUESTIONS[::14]
COURSE = Course(agent, reward, train=[one for one in QUESTIONS if one not in HELD_OUT], held_out=HELD_OUT)


@covers("agent-anthropic")
def test_the_agent_gets_better_by_its_rollouts_and_rewards(server: Server, name: str) -> None:
    before, *_, after = held_out_rewards(server, name, COURSE)
    assert after >= before + ENOUGH
