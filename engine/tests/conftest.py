"""Makes tiny random models, once a session, that both transformers and the engine read."""

import gc
import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from pathlib import Path

import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

from tests.models import make_model


@pytest.fixture(scope="session", autouse=True)
def _threads():
    """Operators of models this small are not worth splitting: two threads wait for each other at each of them."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _frozen():
    """Modules stay, and looking for garbage among them takes a tenth of the session."""
    gc.freeze()


@pytest.fixture(scope="session")
def model_folders(tmp_path_factory):
    """`folder = model_folders(kind)`; kinds are the keys of `tests.models.CONFIGS`."""
    made: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in made:
            made[kind] = make_model(kind, tmp_path_factory.mktemp(kind))
        return made[kind]

    return folder
