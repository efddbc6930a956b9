"""Functions traced with the weave client, on both of its write paths, read back from the server."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from weave_session import WRITE_PATHS, by_name, stored

#: On the complete path the client sends a start only with its end, unless this setting asks it to send starts at once.
EAGER = {"eager_call_start": True} if "complete" in WRITE_PATHS else {}


@weave.op
def add(a: int, b: int) -> int:
    return a + b


@weave.op
def total(numbers: list[int]) -> int:
    result = 0
    for number in numbers:
        result = add(result, number)
    return result


@weave.op
async def slowly(name: str) -> str:
    await asyncio.sleep(0.01)
    return f"hello {name}"


@weave.op
async def several(names: list[str]) -> list[str]:
    return list(await asyncio.gather(*map(slowly, names)))


def collected(numbers: list[int] | None, number: int) -> list[int]:
    return [*(numbers or []), number]


@weave.op(accumulator=collected)
def countdown(start: int) -> Iterator[int]:
    yield from range(start, 0, -1)


@weave.op(accumulator=collected)
async def countdown_slowly(start: int) -> AsyncIterator[int]:
    for number in range(start, 0, -1):
        yield number


@weave.op
def fails(reason: str) -> None:
    raise ValueError(reason)


@covers("weave-op")
def test_a_call_has_its_inputs_output_and_times(tracer: WeaveClient) -> None:
    assert add(2, b=3) == 5
    (call,) = stored(tracer)
    assert call.func_name == "add"
    assert call.op_name.startswith(f"weave:///{tracer.entity}/{tracer.project}/op/add:")
    assert dict(call.inputs) == {"a": 2, "b": 3}
    assert call.output == 5
    assert call.exception is None
    assert call.parent_id is None
    assert call.started_at <= call.ended_at
    assert call.summary["weave"]["status"] == "success"
    assert call.summary["weave"]["latency_ms"] >= 0
    assert call.summary["status_counts"] == {"success": 1, "error": 0}


@covers("weave-op-nested")
def test_calls_nest(tracer: WeaveClient) -> None:
    assert total([1, 2, 3]) == 6
    root, *children = stored(tracer)
    assert root.func_name == "total"
    assert [dict(child.inputs) for child in children] == [
        {"a": 0, "b": 1},
        {"a": 1, "b": 2},
        {"a": 3, "b": 3},
    ]
    assert {child.parent_id for child in children} == {root.id}
    assert {child.trace_id for child in children} == {root.trace_id}
    assert [child.id for child in root.children()] == [child.id for child in children]
    assert root.summary["status_counts"]["success"] == 4


@covers("weave-op-async")
async def test_async_calls_run_side_by_side(tracer: WeaveClient) -> None:
    assert await several(["a", "b"]) == ["hello a", "hello b"]
    root, *children = stored(tracer)
    assert root.output == ["hello a", "hello b"]
    assert {child.output for child in children} == {"hello a", "hello b"}
    assert {child.parent_id for child in children} == {root.id}


@covers("weave-op-generator")
async def test_generators_are_called_once_they_end(tracer: WeaveClient) -> None:
    assert list(countdown(3)) == [3, 2, 1]
    assert [number async for number in countdown_slowly(2)] == [2, 1]
    calls = by_name(stored(tracer))
    assert calls["countdown"].output == [3, 2, 1]
    assert calls["countdown_slowly"].output == [2, 1]
    assert {call.summary["weave"]["status"] for call in calls.values()} == {"success"}


@covers("weave-op-generator")
def test_a_generator_left_early_ends_too(tracer: WeaveClient) -> None:
    numbers = countdown(3)
    assert next(iter(numbers)) == 3
    del numbers
    (call,) = stored(tracer)
    assert call.func_name == "countdown"


@covers("weave-op-error")
def test_an_error_is_the_calls_exception(tracer: WeaveClient) -> None:
    with pytest.raises(ValueError, match="no luck"):
        fails("no luck")
    (call,) = stored(tracer)
    assert "ValueError" in call.exception
    assert "no luck" in call.exception
    assert call.output is None
    assert call.summary["weave"]["status"] == "error"
    assert call.summary["status_counts"]["error"] == 1


@covers("weave-op-error")
def test_a_childs_error_shows_on_its_parent(tracer: WeaveClient) -> None:
    @weave.op
    def forgiving() -> str:
        try:
            fails("inside")
        except ValueError:
            return "went on"

    assert forgiving() == "went on"
    calls = by_name(stored(tracer))
    assert calls["forgiving"].summary["weave"]["status"] == "descendant_error"
    assert calls["fails"].summary["weave"]["status"] == "error"


@covers("weave-op-threads")
def test_calls_of_many_threads_are_all_there(tracer: WeaveClient) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(add, range(100), range(100))) == list(range(0, 200, 2))
    calls = stored(tracer)
    assert sorted(call.output for call in calls) == list(range(0, 200, 2))
    assert all(call.parent_id is None for call in calls)


@covers("weave-op-threads")
def test_a_weave_thread_keeps_its_parent(tracer: WeaveClient) -> None:
    @weave.op
    def outer() -> None:
        worker = weave.Thread(target=add, args=(1, 1))
        worker.start()
        worker.join()

    outer()
    calls = by_name(stored(tracer))
    assert calls["add"].parent_id == calls["outer"].id


@covers("weave-running")
def test_a_call_is_visible_before_its_end(tracer: WeaveClient) -> None:
    seen: list[Any] = []

    @weave.op(**EAGER)
    def watched() -> None:
        seen.extend(stored(tracer))

    watched()
    (call,) = seen
    assert call.ended_at is None
    assert call.summary["weave"]["status"] == "running"
    (ended,) = stored(tracer)
    assert ended.id == call.id
    assert ended.summary["weave"]["status"] == "success"


@covers("weave-attributes")
def test_attributes_display_names_and_threads(tracer: WeaveClient) -> None:
    with weave.attributes({"env": "test", "nested": {"n": 1}}), weave.thread("thread-1"):
        add(1, 1)
        _, call = add.call(2, 2, __weave={"display_name": "two and two"})
    calls = stored(tracer)
    assert [call.attributes["env"] for call in calls] == ["test", "test"]
    assert calls[0].attributes["nested"]["n"] == 1
    assert [call.thread_id for call in calls] == ["thread-1", "thread-1"]
    assert [call.display_name for call in calls] == [None, "two and two"]
    call.set_display_name("renamed")
    tracer.flush()
    assert tracer.get_call(call.id).display_name == "renamed"
    call.remove_display_name()
    tracer.flush()
    assert tracer.get_call(call.id).display_name is None


@covers("weave-values")
def test_values_come_back_as_they_were(tracer: WeaveClient) -> None:
    value = {
        "big": 2**53 + 1,
        "bigger": 10**30,
        "negative": -(2**63),
        "float": 1.0,
        "small": 1e-07,
        "text": 'line\u2028paragraph\u2029next\x85 nul\x00 é 😀 \\ " \n',
        "none": None,
        "empty": {"list": [], "object": {}, "text": ""},
        "list": [1, 1.0, True, None, "x"],
        "weave.key.with.dots": 1,
        "": "empty key",
    }

    @weave.op
    def same(value: dict[str, Any]) -> dict[str, Any]:
        return value

    same(value)
    (call,) = stored(tracer)
    for seen in (call.inputs["value"], call.output):
        assert dict(seen) == value
        assert isinstance(seen["float"], float)
        assert isinstance(seen["list"][1], float)
        assert isinstance(seen["list"][0], int)


@covers("weave-values")
def test_a_megabyte_of_text(tracer: WeaveClient) -> None:
    text = "heddle 😀 " * 100_000

    @weave.op
    def long(text: str) -> int:
        return len(text)

    assert long(text) == 900_000
    (call,) = stored(tracer)
    assert call.inputs["text"] == text


@covers("weave-values")
def test_nan_and_infinity_in_an_output_do_no_harm(tracer: WeaveClient) -> None:
    """Python writes NaN and Infinity as bare words."""

    @weave.op
    def odd() -> dict[str, float]:
        return {"nan": math.nan, "infinity": math.inf, "one": 1.0}

    odd()
    add(1, 1)
    calls = by_name(stored(tracer))
    assert calls["odd"].output["one"] == 1.0
    assert calls["add"].output == 2


@covers("weave-usage")
def test_usage_adds_up_at_the_parent(tracer: WeaveClient) -> None:
    @weave.op
    def model_call(tokens: int) -> dict[str, Any]:
        call = weave.get_current_call()
        call.summary["usage"] = {"m-1": {"requests": 1, "prompt_tokens": tokens, "completion_tokens": 1}}
        return {}

    @weave.op
    def agent() -> None:
        model_call(10)
        model_call(20)

    agent()
    root = stored(tracer)[0]
    assert root.func_name == "agent"
    usage = root.summary["usage"]["m-1"]
    assert (usage["requests"], usage["prompt_tokens"], usage["completion_tokens"]) == (2, 30, 2)
