"""An agent written with LangChain that knows nothing of Heddle learns by base URL, rollout header and later rewards."""

from itertools import permutations

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI

from covers import covers
from started_server import Server
from trained_agent import ENOUGH, Attempt, Course, held_out_rewards

COLOURS = ("red", "green", "blue", "black", "white", "pink", "brown", "gold")
PROMPT = ChatPromptTemplate.from_messages([("human", "Reverse: {words}")])


def agent(server: Server, attempt: Attempt) -> str:
    model = ChatOpenAI(
        model=attempt.model,
        base_url=server.api,
        api_key=server.key,
        default_headers=attempt.headers,
        max_tokens=24,
        seed=attempt.seed,
    )
    chain = PROMPT | model | StrOutputParser()
    return chain.invoke({"words": attempt.question})


def reward(question: str, answer: str) -> float:
    """1.0 when the answer has the words in reverse order, else 0.0."""
    return float(answer == " ".join(reversed(question.split())))


QUESTIONS = [" ".join(words) for words in permutations(COLOURS, 3)]
HELD_OUT = QUESTIONS[::14]
COURSE = Course(agent, reward, train=[one for one in QUESTIONS if one not in HELD_OUT], held_out=HELD_OUT)


@covers("agent-langchain")
def test_the_agent_gets_better_by_its_rollouts_and_rewards(server: Server, name: str) -> None:
    before, *_, after = held_out_rewards(server, name, COURSE)
    assert after >= before + ENOUGH
