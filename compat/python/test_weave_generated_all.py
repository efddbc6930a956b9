"""Each operation of the generated client got an answer in some test of the session."""

import pytest
from weave.vendor.weave_server_sdk import WeaveTrace

from covers import covers
from generated_client import Answered, methods


@covers("generated-all")
@pytest.mark.last
def test_every_operation_was_answered(api: WeaveTrace, answered: Answered) -> None:
    """Fails and names all operations when it runs alone."""
    known = {method.name for method in methods(api)}
    assert len(known) == 118
    assert known - answered.names(api) == set(), "nobody got an answer to these"
