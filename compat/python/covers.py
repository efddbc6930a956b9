"""The mark by which a test names the required behaviours that it checks (compat/requirements.json)."""

import pytest


def covers(*ids: str) -> pytest.MarkDecorator:
    """Cites required behaviours; a gate compares the citations with the list."""
    return pytest.mark.covers(*ids)
