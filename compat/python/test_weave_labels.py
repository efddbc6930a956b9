"""Tags and aliases of published objects, by the client's own functions."""

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from weave_session import project_name, uri_of

pytestmark = pytest.mark.skipif(not hasattr(weave, "add_tags"), reason="0.52.22 has no tags and aliases")


@covers("weave-tags")
def test_tags_are_added_read_listed_and_removed(client: WeaveClient) -> None:
    first = weave.publish({"v": 1}, "tagged")
    second = weave.publish({"v": 2}, "tagged")
    weave.add_tags(first, ["reviewed", "mille-feuille é"])
    weave.add_tags(uri_of(second), ["reviewed"])
    assert weave.get_tags(first) == ["mille-feuille é", "reviewed"]
    assert weave.list_tags() == ["mille-feuille é", "reviewed"]
    weave.remove_tags(first, ["reviewed", "never there"])
    assert weave.get_tags(first) == ["mille-feuille é"]
    assert weave.get_tags_and_aliases(second) == (["reviewed"], ["latest"])


@covers("weave-tags")
def test_a_bad_tag_is_told(client: WeaveClient) -> None:
    ref = weave.publish({"v": 1}, "tagged")
    with pytest.raises(Exception, match="two  spaces"):
        weave.add_tags(ref, ["fine", "two  spaces"])
    assert weave.get_tags(ref) == []


@covers("weave-aliases")
def test_aliases_name_versions_and_move(client: WeaveClient) -> None:
    first = weave.publish({"v": 1}, "named")
    second = weave.publish({"v": 2}, "named")
    weave.set_aliases(first, ["production", "best so far"])
    base = f"weave:///{project_name(client)}/object/named"
    assert weave.ref(f"{base}:production").get() == {"v": 1}
    assert weave.get_aliases(first) == ["best so far", "production"]
    weave.set_aliases(second, "production")
    assert weave.ref(f"{base}:production").get() == {"v": 2}
    assert weave.get_aliases(second) == ["latest", "production"]
    assert weave.list_aliases() == ["best so far", "production"]
    weave.remove_aliases(second, "production")
    with pytest.raises(Exception, match=r"(?i)not found"):
        weave.ref(f"{base}:production").get()


@covers("weave-aliases")
def test_reserved_names_are_told(client: WeaveClient) -> None:
    ref = weave.publish({"v": 1}, "named")
    for name in ("latest", "v3"):
        with pytest.raises(Exception, match="reserved"):
            weave.set_aliases(ref, name)
    assert weave.list_aliases() == []
