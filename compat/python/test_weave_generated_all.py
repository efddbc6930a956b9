"""The whole list of the generated client's operations: some test of the session got an answer to each."""

import pytest
from weave.vendor.weave_server_sdk import WeaveTrace

from covers import covers
from generated_client import Answered, methods


@covers("generated-all")
@pytest.mark.last
def test_every_operation_was_answered(api: WeaveTrace, answered: Answered) -> None:
    """Run alone, this test names them all."""
    known = {method.name for method in methods(api)}
    assert len(known) == 118
    assert known - answered.names(api) == set(), "nobody got an answer to these"
