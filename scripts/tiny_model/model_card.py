"""Writes the README beside the tiny model's weights, from the template in `model_card.md`."""

from pathlib import Path

from tiny_model.seed_text import RIGHT_SHARE
from tiny_model.seed_training import STEPS
from tiny_model.tokenizer import CONTEXT_LENGTH, VOCABULARY_SIZE

_CARD = Path(__file__).with_name("model_card.md")


def write_card(folder: Path, parameters: int, weights_hash: str) -> None:
    """Write README.md for the model of this many parameters."""
    card = _CARD.read_text("utf-8").format(
        parameters=parameters,
        weights_hash=weights_hash,
        vocabulary=VOCABULARY_SIZE,
        context=CONTEXT_LENGTH,
        steps=STEPS,
        right_share=RIGHT_SHARE,
    )
    (folder / "README.md").write_text(card, "utf-8")
