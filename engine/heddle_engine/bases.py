"""The base models this engine knows: found, described, loaded once and shared."""

import hashlib
import json
import logging
import threading
from collections import defaultdict
from functools import cache, cached_property
from pathlib import Path

import torch

from .model.adapters import AdapterStore
from .model.config import DecoderConfig
from .model.config_fields import refused
from .model.decoder import Decoder
from .model.families import language_settings
from .model.files.hub import fetch_weights, hub_folder, local_folder
from .model.files.weight_files import check_weights, missing_weights
from .model.files.weights import check_experts, load_decoder
from .model.number_format import automatic_format, name_of
from .streams import wait_for
from .text.grammar import GrammarCompiler
from .text.render import TOOL_TEMPLATE, Renderer
from .text.sandbox import Sandbox
from .text.tokenizer import TextTokenizer

log = logging.getLogger(__name__)

_FINGERPRINTED = ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "chat_template.json")
_FINGERPRINTED_IF_THERE = (TOOL_TEMPLATE,)
"""Left out where they are missing: a model without them keeps the fingerprint that is stored with what it sampled."""


def default_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@cache
def _shared_sandbox() -> Sandbox:
    """That of all bases which are given none: each one of its own would start a process for its template."""
    return Sandbox()


class Base:
    """One base model. Weights load on first use of `decoder`; those `from_hub` are downloaded first."""

    def __init__(
        self,
        name: str,
        folder: Path,
        device: torch.device,
        dtype: torch.dtype | None = None,
        sandbox: Sandbox | None = None,
        adapter_bytes: int | None = None,
        from_hub: bool = False,
    ):
        """`dtype` None: as the checkpoint and the device ask for."""
        self.name, self.folder = name, folder
        self.from_hub = from_hub
        config = read_config(folder)
        self.config = DecoderConfig.from_hf(config)
        self._device, self.dtype = device, dtype or automatic_format(language_settings(config), device)
        self._lock = threading.Lock()
        self._decoder: Decoder | None = None
        self._compiler_lock = threading.Lock()
        self._compiler: GrammarCompiler | None = None
        check_experts(folder, self.config)
        self.tokenizer = TextTokenizer(folder, self.config.vocab_size)
        self.renderer = Renderer(folder, self.tokenizer, sandbox or _shared_sandbox())
        self.adapters = AdapterStore(self.config, device, self.dtype, adapter_bytes)

    @property
    def is_loaded(self) -> bool:
        return self._decoder is not None

    def lacks_weights(self) -> bool:
        """Whether `fetch` has something to download."""
        return self.from_hub and bool(missing_weights(self.folder))

    def fetch(self) -> None:
        """Have the weights on disk. Raises `unavailable`."""
        if self.from_hub:
            fetch_weights(self.name, self.folder)

    def load(self) -> None:
        """Have the weights in memory."""
        _ = self.decoder

    def unload(self) -> bool:
        """Forget weights and adapters; both come back when they are next asked for. False while they are being read."""
        if not self._lock.acquire(blocking=False):
            return False
        self._decoder = None
        self._lock.release()
        self.adapters.clear()
        return True

    @property
    def decoder(self) -> Decoder:
        with self._lock:
            if self._decoder is None:
                self.fetch()
                # Weights made in inference mode could not take part in a trainer's graph.
                with torch.inference_mode(False):
                    self._decoder = load_decoder(self.folder, self.config, self._device, self.dtype)
                wait_for(self._device)
                log.info("base model %s is in memory, in %s", self.name, name_of(self.dtype))
            return self._decoder

    @property
    def grammars(self) -> GrammarCompiler:
        with self._compiler_lock:
            if self._compiler is None:
                self._compiler = GrammarCompiler(self.tokenizer, self.config.vocab_size)
            return self._compiler

    @property
    def max_model_len(self) -> int:
        return self.config.max_position

    @cached_property
    def description(self) -> dict:
        """`baseDescription` of the wire."""
        return {
            "name": self.name,
            "path": str(self.folder),
            "architecture": self.config.architecture,
            "vocab_size": self.config.vocab_size,
            "max_model_len": self.max_model_len,
            "dtype": name_of(self.dtype),
            "fingerprint": self.fingerprint,
        }

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over every file that decides how a prompt becomes ids."""
        digest = hashlib.sha256()
        there = (name for name in _FINGERPRINTED_IF_THERE if (self.folder / name).is_file())
        for name in (*_FINGERPRINTED, *there):
            content = (self.folder / name).read_bytes() if (self.folder / name).is_file() else b""
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


class Bases:
    """Base models, one for each folder, by whatever names it is asked for. Safe to call from any thread."""

    def __init__(
        self,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
        sandbox: Sandbox | None = None,
        adapter_bytes: int | None = None,
    ):
        """`dtype` None: as each checkpoint and the device ask for."""
        self.device = device or default_device()
        self._dtype = dtype
        self._sandbox = sandbox or _shared_sandbox()
        self._adapter_bytes = adapter_bytes
        # One lock a model: a download of one must not hold up chats on another.
        self._locks: defaultdict[str | Path, threading.Lock] = defaultdict(threading.Lock)
        self._bases: dict[str | Path, Base] = {}
        self._by_folder: dict[Path, Base] = {}
        self._names: dict[str, Base] = {}

    @staticmethod
    def key(ref: dict) -> str | Path:
        """The key under which the base is found again: a folder has many spellings and links to it."""
        return ref["name"] if ref.get("path") is None else Path(ref["path"]).resolve()

    def known(self, ref: dict) -> Base | None:
        """The base when it was resolved before."""
        base = self._bases.get(self.key(ref))
        if base is not None:
            self._names[ref["name"]] = base
        return base

    def loaded_names(self) -> list[str]:
        """Of the bases whose weights are in memory, each name they were asked for."""
        return sorted(name for name, base in list(self._names.items()) if base.is_loaded)

    def resolve(self, ref: dict) -> Base:
        """Find and describe a base without loading its weights. Raises `not_found` or `invalid`."""
        key = self.key(ref)
        with self._locks[key]:
            if key not in self._bases:
                found = self._find(ref["name"], ref.get("path"))
                # A model of the hub may have been named by its folder in the cache: that would be another copy.
                self._bases[key] = self._by_folder.setdefault(found.folder.resolve(), found)
            self._names[ref["name"]] = self._bases[key]
            return self._bases[key]

    def _find(self, name: str, path: str | None) -> Base:
        local = local_folder(name, path)
        folder = hub_folder(name) if local is None else local
        shared = (self.device, self._dtype, self._sandbox, self._adapter_bytes)
        base = Base(name, folder, *shared, from_hub=local is None)
        if local is not None:
            check_weights(local)
        return base

    def load(self, ref: dict) -> Base:
        """As `resolve`, with the weights in memory."""
        base = self.resolve(ref)
        base.load()
        return base


def read_config(folder: Path) -> dict:
    """Raises `invalid`."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except ValueError as error:
        raise refused(f"{folder / 'config.json'} is not JSON: {error}.") from error
    if not isinstance(config, dict):
        raise refused(f"{folder / 'config.json'} is not an object.")
    return config
