"""Tags and aliases by the generated client, with answers checked against its models."""

import pytest
from weave.vendor.weave_server_sdk import NotFoundError, UnprocessableEntityError, WeaveTrace

from covers import covers


def publish(api: WeaveTrace, project: str, value: object) -> str:
    return api.objects.create(obj={"project_id": project, "object_id": "thing", "val": value}).digest


@covers("generated-labels")
def test_tags(api: WeaveTrace, project: str) -> None:
    digest = publish(api, project, 1)
    at = {"project_id": project, "object_id": "thing"}
    assert api.objects.tags.add(digest, **at, tags=["b", "a"]) == {}
    assert api.objects.tags.list(project_id=project).tags == ["a", "b"]
    read = api.objects.read(**at, digest="v0", include_tags_and_aliases=True).obj
    assert (read.tags, read.aliases) == (["a", "b"], ["latest"])
    (found,) = api.objects.query(project_id=project, filter={"tags": ["a", "z"]}).objs
    assert found.digest == digest
    assert api.objects.tags.remove(digest, **at, tags=["a"]) == {}
    assert api.objects.tags.list(project_id=project).tags == ["b"]
    with pytest.raises(UnprocessableEntityError, match="single spaces"):
        api.objects.tags.add(digest, **at, tags=["no  good"])
    with pytest.raises(NotFoundError):
        api.objects.tags.add("x" * 43, **at, tags=["a"])


@covers("generated-labels")
def test_aliases(api: WeaveTrace, project: str) -> None:
    first, second = (publish(api, project, value) for value in (1, 2))
    aliases = api.objects.aliases
    assert aliases.set("thing", project_id=project, digest=first, aliases=["prod", "old"]) == {}
    assert aliases.set("thing", project_id=project, digest=second, aliases=["prod"]) == {}
    assert aliases.list(project_id=project).aliases == ["old", "prod"]
    read = api.objects.read(project_id=project, object_id="thing", digest="prod", include_tags_and_aliases=True).obj
    assert (read.digest, read.aliases) == (second, ["latest", "prod"])
    ref = f"weave:///{project}/object/thing:old"
    assert api.refs.read_batch(refs=[ref]).vals == [1]
    assert aliases.remove("thing", project_id=project, aliases=["prod", "absent"]) == {}
    with pytest.raises(UnprocessableEntityError, match="reserved"):
        aliases.set("thing", project_id=project, digest=first, aliases=["latest"])
