"""Links of objects to a registry, made by the client."""

import pytest
import weave
from weave.trace.weave_client import WeaveClient

from covers import covers
from weave_session import uri_of

pytestmark = pytest.mark.skipif(
    not hasattr(WeaveClient, "link_prompt_to_registry"), reason="0.52.22 has no registry links"
)


@covers("weave-registry")
def test_a_prompt_is_linked_to_a_collection(client: WeaveClient) -> None:
    ref = weave.publish(weave.StringPrompt("Hello {name}"), "greeting")
    registry = f"wandb-registry-{client.project}"
    path = f"{registry}/greetings"
    linked = client.link_prompt_to_registry(ref, target_path=path, aliases=["production"])
    assert linked.version_index == 0
    collection = f"weave:///{client.entity}/{registry}/object/greetings"
    assert weave.ref(f"{collection}:production").get().format(name="Ada") == "Hello Ada"
    second = weave.publish(weave.StringPrompt("Hi {name}"), "greeting")
    assert client.link_prompt_to_registry(uri_of(second), target_path=path).version_index == 1
