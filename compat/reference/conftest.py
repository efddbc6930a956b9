"""Starts one server and one reference for all tests, and reads the number of cases and the seed.

The environment of this suite holds the reference, not a client: see lock.txt.
HEDDLE_DIFFERENTIAL_SEED and HEDDLE_DIFFERENTIAL_SCALE (a factor on the number of cases) ask for more.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
os.environ["WANDB_ERROR_REPORTING"] = "false"

from offline import block_outbound

block_outbound()

from our_server import OurServer
from reference_server import ReferenceServer
from started_server import started_server
from worlds import Servers

SEED = int(os.environ.get("HEDDLE_DIFFERENTIAL_SEED", "20260712"))
SCALE = float(os.environ.get("HEDDLE_DIFFERENTIAL_SCALE", "1"))


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with started_server(HEDDLE_ENGINE="none") as started:
        ours = OurServer(started)
        reference = ReferenceServer(tmp_path_factory.mktemp("reference"), _user_id(ours))
        yield Servers(ours, reference, f"differential-{SEED}")
        reference.close()


def _user_id(ours: OurServer) -> str:
    """The id of the key's owner, as the server writes it on a call."""
    call = {"project_id": "local/differential-user", "op_name": "who", "started_at": "2026-01-01T00:00:00Z"}
    made = ours.ask("/call/start", {"start": {**call, "attributes": {}, "inputs": {}}}).body
    return ours.ask("/call/read", {"project_id": "local/differential-user", "id": made["id"]}).body["call"][
        "wb_user_id"
    ]
