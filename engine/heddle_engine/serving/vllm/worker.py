"""The process that runs vLLM, with vLLM's own Python: `python -m heddle_engine.serving.vllm.worker '{...}'`.

Frames (`heddle_engine.protocol`) come in on standard input and go out on what was standard output:

    {"generate": id, "prompt_ids": [...], "sampling": {...}, "adapter": {"name", "id", "path"} | null,
     "salt": text | null}
    {"cancel": id}   {"drop": adapter id}

    {"ready": version}
    {"id", "started": cached tokens, "prompt": [[[id, logprob, rank], ...], ...] | null}
    {"id", "tokens": [[id, logprob, [[id, logprob], ...]], ...], "finished": bool}
    {"id", "failed": {"kind", "message"}}
    {"id", "gone": true}   after a cancel

A prompt's entries are those of its tokens after the first: the token itself, then the likeliest.
"""

import asyncio
import json
import os
import signal
import sys

from heddle_engine.child_process import end_with_parent
from heddle_engine.protocol import encode_frame, read_frame

# vLLM computes in processes that it forks, or that import this module anew: none may stay when its parent is killed.
end_with_parent()
os.register_at_fork(after_in_child=end_with_parent)


class Worker:
    """One vLLM engine, and the requests that run in it."""

    def __init__(self, llm, out: int):
        self._llm, self._out = llm, out
        self._running: dict[int, asyncio.Task] = {}

    def send(self, frame: dict) -> None:
        data = memoryview(encode_frame(frame))
        while data:
            data = data[os.write(self._out, data) :]

    async def take(self, frame: dict) -> None:
        if "generate" in frame:
            number = frame["generate"]
            self._running[number] = asyncio.create_task(self._generate(number, frame))
        elif "cancel" in frame:
            if task := self._running.pop(frame["cancel"], None):
                task.cancel()
        else:
            await self._llm.remove_lora(frame["drop"])

    async def _generate(self, number: int, frame: dict) -> None:
        from vllm.exceptions import VLLMClientError
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            await self._stream(number, frame)
        except asyncio.CancelledError:
            self.send({"id": number, "gone": True})
            raise
        except EngineDeadError:
            # The engine starts another process, with nothing in it of this one.
            print("vLLM's engine core ended", file=sys.stderr, flush=True)
            os._exit(1)
        except Exception as error:
            kind = "invalid" if isinstance(error, ValueError | VLLMClientError) else "internal"
            self.send({"id": number, "failed": {"kind": kind, "message": f"{type(error).__name__}: {error}"}})
        finally:
            self._running.pop(number, None)

    async def _stream(self, number: int, frame: dict) -> None:
        from vllm.lora.request import LoRARequest

        adapter = frame["adapter"]
        outputs = self._llm.generate(
            {"prompt_token_ids": frame["prompt_ids"]} | ({"cache_salt": frame["salt"]} if frame["salt"] else {}),
            _sampling(frame["sampling"]),
            str(number),
            lora_request=adapter and LoRARequest(adapter["name"], adapter["id"], adapter["path"]),
        )
        started = False
        async for output in outputs:
            if not started:
                started = True
                prompt = output.prompt_logprobs and [_ranked(each) for each in output.prompt_logprobs[1:]]
                self.send({"id": number, "started": output.num_cached_tokens or 0, "prompt": prompt})
            [choice] = output.outputs
            tokens = [_token(*pair) for pair in zip(choice.token_ids, choice.logprobs, strict=True)]
            self.send({"id": number, "tokens": tokens, "finished": output.finished})


def _sampling(wire: dict):
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    return SamplingParams(
        **{name: value for name, value in wire.items() if name != "logit_bias"},
        logit_bias={int(token): bias for token, bias in wire["logit_bias"].items()} or None,
        # Text, stop strings and the end of a turn are the engine's own work.
        detokenize=False,
        ignore_eos=True,
        output_kind=RequestOutputKind.DELTA,
    )


def _token(token_id: int, logprobs: dict) -> list:
    ranked = sorted(logprobs.items(), key=lambda each: each[1].rank)
    return [token_id, _finite(logprobs[token_id].logprob), [[other, _finite(each.logprob)] for other, each in ranked]]


def _ranked(logprobs: dict) -> list:
    """The prompt's own token comes first in vLLM's order."""
    return [[token_id, _finite(each.logprob), each.rank] for token_id, each in logprobs.items()]


def _finite(value: float) -> float | None:
    """JSON has neither infinity nor NaN."""
    return value if abs(value) < float("inf") else None


async def _serve(options: dict, out: int) -> None:
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM
    from vllm.version import __version__

    worker = Worker(AsyncLLM.from_engine_args(AsyncEngineArgs(**options)), out)
    worker.send({"ready": __version__})
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    while (frame := await read_frame(reader)) is not None:
        await worker.take(frame)
    # Nobody is there to work for; an orderly end would wait for what runs.
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    # What vLLM and its libraries print must not come between frames.
    out = os.dup(1)
    os.dup2(2, 1)
    asyncio.run(_serve(json.loads(sys.argv[1]), out))


if __name__ == "__main__":
    main()
