"""The process in which one checkpoint is written: `python -m heddle_engine.exports.process`.

Standard input holds the export as one line of JSON and then stays open: where it closes, the engine is gone and this
ends. Standard output gets one JSON object a line: `planned`, then `done` or `error`. What is written appears under its
name whole or not at all.
"""

import json
import os
import shutil
import sys
import threading
from pathlib import Path

from ..disk import make_folder, naming_full_disk, sync, sync_all
from ..errors import EngineError

_NICE = 19
"""Chats and training go first where the processor is short."""


def export(task: dict) -> None:
    from ..bases import read_config
    from ..model.config import DecoderConfig
    from ..model.files.hub import fetch_weights
    from .merged_folder import MergedFolder
    from .merged_weights import MergedWeights

    folder, output = Path(task["folder"]), Path(task["output"])
    if task["from_hub"]:
        fetch_weights(task["base"], folder)
    config = DecoderConfig.from_hf(read_config(folder))
    adapter = Path(task["adapter"]) if task["adapter"] else None
    weights = MergedWeights(folder, config, adapter, task["dtype"])
    if task["format"] == "merged":
        made = MergedFolder(folder, weights, task["dtype"])
    else:
        from .gguf_file import GgufFile

        made = GgufFile(folder, config, weights, task["title"])
    _check_size(made.size_bytes, task["most_bytes"])
    make_folder(output.parent)
    say({"planned": made.size_bytes})
    part = output.with_name(f"{output.name}.part")
    with naming_full_disk(output.parent, made.size_bytes):
        try:
            if task["format"] == "merged":
                part.mkdir()
                made.write(part)
                sync_all(part.iterdir())
            else:
                made.write(part)
            sync(part)
            os.rename(part, output)
        except BaseException:
            remove(part)
            raise
    files = output.iterdir() if output.is_dir() else [output]
    say({"done": sum(file.stat().st_size for file in files)})


def _check_size(size: int, most: int | None) -> None:
    """`most`: what the store of an engine on another machine holds; None where it has none."""
    if most is not None and size > most:
        raise EngineError(
            "disk_full",
            f"The export would take about {size} bytes, and the store of the engine on the other machine "
            f"holds {most} (--store-bytes). Choose a smaller dtype, or have it raised.",
        )


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)


def _exit_with_stdin() -> None:
    while sys.stdin.buffer.read(65536):
        pass
    os._exit(1)


def main() -> None:
    os.nice(_NICE)
    task = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_exit_with_stdin, daemon=True).start()
    try:
        export(task)
    except EngineError as error:
        say({"error": error.as_wire()})
    except MemoryError:
        say(
            {"error": EngineError("out_of_memory", "One tensor of the base model is larger than the memory.").as_wire()}
        )


if __name__ == "__main__":
    main()
