"""A template that uses time or memory without end fails alone."""

import os
import threading
import time
from pathlib import Path

import pytest

from heddle_engine.errors import EngineError
from heddle_engine.text.sandbox import Sandbox

LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
LONG = "{% for i in range(3000) %}{% for j in range(3000) %}{% endfor %}{% endfor %}"
PARAM = "messages"


@pytest.fixture
def sandbox():
    """A sandbox whose time limit no task of these tests reaches."""
    return Sandbox(seconds=60)


def render(sandbox, template, **variables):
    task = {"task": "render", "template": template, "variables": variables, "most": 50_000_000}
    return sandbox.run("The template", task, PARAM)


def refusal(sandbox, template, **variables):
    with pytest.raises(EngineError) as refused:
        render(sandbox, template, **variables)
    assert (refused.value.kind, refused.value.param) == ("invalid", PARAM)
    return refused.value.message


def children():
    """Ids of the child processes that run."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return {pid for pid in listed if not Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")}


@pytest.mark.parametrize(
    "template",
    [
        LOOPS,
        "{{ 10 ** (10 ** 9) }}",
        "{% set x = 10 ** 5000000 %}{{ x ** 5000 }}",
        "{% macro again() %}" + LOOPS + "{% endmacro %}{{ again() }}",
    ],
    ids=["loops", "power", "power of a power", "macro"],
)
def test_a_template_without_end_is_ended(template):
    sandbox = Sandbox(seconds=1)
    assert refusal(sandbox, template) == "The template took longer than 1 s."
    assert not sandbox._idle


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10 ** 12 }}",
        "{{ '%0999999999d' % 1 }}",
        "{{ 'a' | center(10 ** 9) }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{{ range(10 ** 9) | list }}",
    ],
)
def test_a_template_that_wants_endless_memory_is_refused(sandbox, template):
    assert "took longer" not in refusal(sandbox, template)
    assert render(sandbox, "{{ x }}", x="still there") == "still there"


def test_a_text_that_is_too_long_is_not_carried_over(sandbox):
    assert render(sandbox, "{{ 'a' * 10 ** 8 }}") == 10**8
    assert render(sandbox, "{% set a = 'a' * 1000 %}{% for i in range(60000) %}{{ a }}{% endfor %}") == 50_001_000
    assert render(sandbox, "{{ 'a' * 1000 }}") == "a" * 1000


def test_the_error_of_a_refused_template_says_why(sandbox):
    assert refusal(sandbox, "{{ x.y.z }}") == "The chat template refused the messages: 'x' is undefined"
    assert refusal(sandbox, "{{ 1 // 0 }}").startswith("The chat template failed on the messages: ZeroDivisionError")
    assert refusal(sandbox, "{% if %}").startswith("The base model's chat template does not parse: ")


def test_the_process_can_write_no_files_and_knows_no_secrets(sandbox, monkeypatch):
    monkeypatch.setenv("HEDDLE_ADMIN_KEY", "secret")
    before = children()
    render(sandbox, "x")
    [child] = children() - before
    assert b"HEDDLE" not in Path(f"/proc/{child}/environ").read_bytes()
    limits = Path(f"/proc/{child}/limits").read_text().splitlines()
    assert [line.split()[3:5] for line in limits if line.startswith("Max file size")] == [["0", "0"]]


def test_processes_are_reused_and_end_with_their_owner(sandbox):
    before = children()
    for number in range(20):
        assert render(sandbox, "{{ n }}", n=number) == str(number)
    assert len(children() - before) == 1
    sandbox._idle.clear()
    for _ in range(200):
        if not children() - before:
            return
        time.sleep(0.05)
    raise AssertionError("a process goes on without its owner")


def test_tasks_of_many_threads_get_their_own_answers(sandbox):
    wrong = []

    def work(name):
        for number in range(25):
            text = f"{name}-{number}-" + "é" * 5000
            if render(sandbox, "{{ text }}", text=text) != text:
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_process_that_was_killed_is_replaced(sandbox):
    before = children()
    render(sandbox, "x")
    [child] = children() - before
    os.kill(int(child), 9)
    time.sleep(0.1)
    assert render(sandbox, "{{ 1 + 1 }}") == "2"


def lowered_by(before):
    """How far behind this process the others stand that were started since."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    return [os.getpriority(os.PRIO_PROCESS, int(pid)) - own for pid in children() - before]


def test_a_task_that_takes_long_gives_way_to_serving_and_its_process_is_not_used_again(sandbox):
    before = children()
    render(sandbox, "{{ x }}", x="short")
    assert lowered_by(before) == [0]
    lowered = threading.Thread(target=render, args=(sandbox, LONG))
    lowered.start()
    deadline = time.monotonic() + 60
    while lowered_by(before) != [10]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    lowered.join()
    assert children() == before
    render(sandbox, "{{ x }}", x="short")
    assert lowered_by(before) == [0]


def test_what_need_not_keep_up_with_serving_gives_way_at_once():
    sandbox, before = Sandbox(seconds=60, beside_serving=False), children()
    render(sandbox, "{{ x }}", x="short")
    assert lowered_by(before) == [10]
    assert render(sandbox, LONG) == ""
    assert lowered_by(before) == [10]
