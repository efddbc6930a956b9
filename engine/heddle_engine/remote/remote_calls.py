"""The engine as servers on other machines call it: files are named by content, base models by what this machine has.

A job's work stays in its folder here. When the connection breaks, the job stops at its gradient step and leaves a
snapshot; the same job asked for again, on whatever connection, goes on from there.
"""

import base64
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..engine import Emit, Engine
from ..errors import EngineError
from ..fair_pool import FairPool
from .content_store import ContentStore

_SHIPPED = {"heddle/tiny": Path(__file__).parents[2] / "models" / "heddle-tiny"}
_THREADS = 4

Result = TypeVar("Result")


@dataclass(eq=False)
class _TrainCall:
    job_id: str
    is_cancelled: bool = False


class RemoteCalls:
    """Has the engine's methods, with parameters that name no paths of this machine except those of base models."""

    def __init__(self, engine: Engine, store: ContentStore, model_folders: Sequence[Path]):
        """`model_folders`: those in which base models may be named by their folder."""
        self._engine, self._store = engine, store
        self._model_folders = [folder.resolve() for folder in model_folders]
        self._files = FairPool(_THREADS, _THREADS, "files")
        # Adapters that a job here published, by what they hold: they are ready under the key that it gave them.
        self._published: dict[str, str] = {}
        self.hello, self.heartbeat, self.drain = engine.hello, engine.heartbeat, engine.drain
        self.status = engine.status
        self._train_calls: list[_TrainCall] = []

    async def base_resolve(self, params: dict, emit: Emit) -> dict:
        return await self._engine.base_resolve(self._with_base(params), emit)

    async def tokenize(self, params: dict, emit: Emit) -> dict:
        return await self._engine.tokenize(self._with_base(params), emit)

    async def detokenize(self, params: dict, emit: Emit) -> dict:
        return await self._engine.detokenize(self._with_base(params), emit)

    async def chat(self, params: dict, emit: Emit) -> dict:
        return await self._engine.chat(await self._with_adapter(params), emit)

    async def embed(self, params: dict, emit: Emit) -> dict:
        return await self._engine.embed(await self._with_adapter(params), emit)

    async def train(self, params: dict, emit: Emit) -> dict:
        call = _TrainCall(params["job_id"])
        self._train_calls.append(call)
        try:
            return await self._train(call, params, emit)
        finally:
            self._train_calls.remove(call)

    async def train_cancel(self, params: dict, emit: Emit) -> dict:
        """A job that waits, for its files or for an earlier run of it to stop, does not begin."""
        calls = [call for call in self._train_calls if call.job_id == params["job_id"]]
        for call in calls:
            call.is_cancelled = True
        try:
            return await self._engine.train_cancel(params, emit)
        except EngineError:
            if not calls:
                raise
            return {}

    async def _train(self, call: _TrainCall, params: dict, emit: Emit) -> dict:
        job_id, output = call.job_id, params["output"]
        work = self._store.job(job_id)
        made = work / f"made-{_short_digest(output['key'])}"
        record = work / "record"
        with self._store.held(work):
            await self._run(partial(work.mkdir, exist_ok=True))
            data = await self._run(partial(self._store.file, params["data"]["sha256"]))
            adapters = {name: await self._folder_of(params[name]) for name in ("start", "reference")}
            local = {
                **self._with_base(params),
                **{name: ref and {"key": params[name]["key"], "path": ref} for name, ref in adapters.items()},
                "data": {"path": str(data), "sha256": params["data"]["sha256"]},
                "work_dir": str(work / "snapshots"),
                "record_dir": str(record) if params["is_recorded"] else None,
                "output": {"key": output["key"], "path": str(made)},
            }
            with self._store.held(data, *(Path(ref) for ref in adapters.values() if ref)):
                await self._engine.stopped(job_id)
                # Nothing is awaited between this and the engine's knowing the job.
                if call.is_cancelled:
                    raise EngineError("cancelled", f"Job {job_id} was cancelled.")
                result = await self._engine.train(local, emit)
            files = await self._run(partial(self._store.adopt, made))
            recorded = await self._run(partial(self._store.adopt, record)) if record.exists() else []
        self._published[_content(files)] = result["output"]["key"]
        return {**result, "files": files, "record": recorded}

    async def train_forget(self, params: dict, _emit: Emit) -> dict:
        """What the job left here besides the files that it made is not needed any more."""
        await self._run(partial(self._store.forget_job, params["job_id"]))
        return {}

    async def files_lacking(self, params: dict, _emit: Emit) -> dict:
        return {"lacking": await self._run(partial(self._store.lacking, params["sha256"]))}

    async def file_put(self, params: dict, _emit: Emit) -> dict:
        data = base64.b64decode(params["data"])
        return await self._run(partial(self._store.put, params["sha256"], params["size"], params["offset"], data))

    async def file_get(self, params: dict, _emit: Emit) -> dict:
        data = await self._run(partial(self._store.get, params["sha256"], params["offset"]))
        return {"data": base64.b64encode(data).decode()}

    async def checkpoint_export(self, params: dict, emit: Emit) -> dict:
        """The engine's result, with the ``files`` that it made. Cancelling the task leaves nothing of them."""
        with_adapter = await self._with_adapter(params)
        adapter = with_adapter["adapter"]
        async with self._new_folder() as folder:
            made = folder / "made"
            # A folder that appears under its name, or a file in one.
            output = made if params["format"] == "merged" else made / "model.gguf"
            local = {**with_adapter, "output": {"path": str(output)}, "most_bytes": self._store.most_bytes}
            with self._store.held(*([Path(adapter["path"])] if adapter else [])):
                result = await self._engine.checkpoint_export(local, emit)
            return {**result, "files": await self._run(partial(self._store.adopt, made))}

    async def adapter_import(self, params: dict, emit: Emit) -> dict:
        """The engine's result, with the ``files`` that it made of the archive that the server has sent."""
        archive = await self._run(partial(self._store.file, params["archive"]["sha256"]))
        async with self._new_folder() as folder:
            # It is unpacked beside itself.
            own = folder / "adapter.tar"
            await self._run(partial(os.link, archive, own))
            output = {"path": str(folder / "made")}
            local = {**self._with_base(params), "archive": str(own), "output": output}
            result = await self._engine.adapter_import(local, emit)
            return {**result, "files": await self._run(partial(self._store.adopt, folder / "made"))}

    @asynccontextmanager
    async def _new_folder(self) -> AsyncIterator[Path]:
        """It goes at the end; files that were adopted stay as blobs."""
        folder = await self._run(self._store.new_folder)
        try:
            yield folder
        finally:
            await self._run(partial(shutil.rmtree, folder, ignore_errors=True))

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await self._files.run("", work)

    def _with_base(self, params: dict) -> dict:
        """The base as this machine has it. Raises `not_found`."""
        name, path = params["base"]["name"], params["base"].get("path")
        shipped = _SHIPPED.get(name)
        if shipped is not None:
            path = str(shipped)
        elif path is not None or name.startswith(("/", ".", "~")):
            path = self._allowed_folder(path or name)
        return {**params, "base": {"name": name, "path": path}}

    def _allowed_folder(self, path: str) -> str:
        folder = Path(path).resolve()
        if not any(folder.is_relative_to(allowed) for allowed in self._model_folders):
            raise EngineError(
                "not_found",
                f"Base model {path!r} is in no folder that this engine reads models from (its option --models).",
                "base_model",
            )
        return str(folder)

    async def _with_adapter(self, params: dict) -> dict:
        adapter = params["adapter"]
        if adapter is None:
            return self._with_base(params)
        content = _content(adapter["files"])
        key = self._published.get(content) or f"{adapter['key']}#{content}"
        return {**self._with_base(params), "adapter": {"key": key, "path": await self._folder_of(adapter)}}

    async def _folder_of(self, adapter: dict | None) -> str | None:
        if adapter is None:
            return None
        # A chat must not wait for a thread that checks a large file.
        known = self._store.known_folder(adapter["files"])
        return str(known or await self._run(partial(self._store.folder, adapter["files"])))


def _content(files: list[dict]) -> str:
    """What weights an adapter has: the digests of the two files that PEFT reads."""
    listed = sorted(f"{file['name']} {file['sha256']}" for file in files if file["name"].startswith("adapter_"))
    return _short_digest("\n".join(listed))


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
