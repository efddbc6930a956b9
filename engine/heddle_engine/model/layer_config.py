"""How far back each layer of a model sees, and how it turns positions, as `config.json` says.

Families differ in which layers have a sliding window (arXiv:2004.05150): all, the upper ones, or all but every n-th.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .attention.rope import RopeConfig
from .config_fields import refused, settings_in, whole_number

FULL, SLIDING, DELTA = "full_attention", "sliding_attention", "linear_attention"
"""The kinds of layers, in the words of `layer_types`."""


@dataclass(frozen=True)
class LayerConfig:
    """`window`: how many tokens a token sees, itself included; None: all up to itself.

    `is_delta`: a gated delta net stands in place of the attention.
    """

    rope: RopeConfig
    window: int | None
    is_delta: bool = False


def full_layers(config: dict) -> tuple[LayerConfig, ...]:
    return _layers([FULL] * _num_layers(config), None, lambda _kind: RopeConfig.from_hf(config))


def sliding_layers(config: dict) -> tuple[LayerConfig, ...]:
    """Mistral: a window in every layer, 4096 where none is named, no window where it is null."""
    return _all_within(config, config.get("sliding_window", 4096))


def switched_sliding_layers(config: dict) -> tuple[LayerConfig, ...]:
    """Qwen3-MoE: the same, where `use_sliding_window` switches it on."""
    return _all_within(config, _switched_window(config))


def upper_sliding_layers(config: dict) -> tuple[LayerConfig, ...]:
    """Qwen2 and Qwen3: a window in `layer_types`, else from layer `max_window_layers` on."""
    window, first = _switched_window(config), config.get("max_window_layers")
    if first is None:
        first = 28
    if not isinstance(first, int):
        raise refused(f"The base model's max_window_layers is {first!r}; a whole number is needed.")
    kinds = (SLIDING if layer >= first else FULL for layer in range(_num_layers(config)))
    return _layers(_named_kinds(config) or kinds, window, lambda _kind: RopeConfig.from_hf(config))


def alternating_layers(config: dict) -> tuple[LayerConfig, ...]:
    """Gemma 3: a window in `layer_types`, else in all but every sixth layer (`sliding_window_pattern`).

    Positions are scaled in the layers without one alone, and those with one have a theta of their own.
    """
    pattern = whole_number(config, "sliding_window_pattern", 6)
    kinds = (SLIDING if (layer + 1) % pattern else FULL for layer in range(_num_layers(config)))
    window = config.get("sliding_window", 4096)
    return _layers(_named_kinds(config) or kinds, window, lambda kind: _rope_of_kind(config, kind))


def every_other_sliding(config: dict) -> tuple[LayerConfig, ...]:
    """gpt-oss: a window in `layer_types`, else in the first layer and every other one."""
    kinds = (FULL if layer % 2 else SLIDING for layer in range(_num_layers(config)))
    window = config.get("sliding_window", 128)
    return _layers(_named_kinds(config) or kinds, window, lambda _kind: RopeConfig.from_hf(config))


def hybrid_layers(config: dict) -> tuple[LayerConfig, ...]:
    """Qwen3.5 and Qwen3-Next: delta nets in `layer_types`, else in all but every `full_attention_interval`-th layer."""
    kinds = config.get("layer_types")
    if kinds is None:
        interval = whole_number(config, "full_attention_interval", 4)
        kinds = [DELTA if (layer + 1) % interval else FULL for layer in range(_num_layers(config))]
    kinds = _checked_kinds(config, kinds, (FULL, DELTA))
    if FULL not in kinds:
        raise refused("None of the base model's layers has attention; the engine needs one at least.")
    rope = RopeConfig.from_hf(config)
    return tuple(LayerConfig(rope, None, is_delta=kind == DELTA) for kind in kinds)


def _rope_of_kind(config: dict, kind: str) -> RopeConfig:
    """transformers 5 writes `rope_parameters` by kind, the hub's configs have a name for each."""
    settings = settings_in(settings_in(config, "rope_parameters"), kind)
    if kind == SLIDING:
        theta = config.get("rope_local_base_freq", 10_000.0)
    else:
        theta = config.get("rope_theta", 1_000_000.0)
        settings = {**settings_in(config, "rope_scaling"), **settings}
    return RopeConfig.from_hf({"rope_theta": theta, "rope_parameters": settings})


def _all_within(config: dict, window: int | None) -> tuple[LayerConfig, ...]:
    return _layers([SLIDING] * _num_layers(config), window, lambda _kind: RopeConfig.from_hf(config))


def _layers(kinds: Iterable[str], window: int | None, rope_of: Callable[[str], RopeConfig]) -> tuple[LayerConfig, ...]:
    if window is not None and not (isinstance(window, int) and window > 0):
        raise refused(f"The base model's sliding_window is {window!r}; a whole number above 0 is needed.")
    by_kind = {FULL: LayerConfig(rope_of(FULL), None), SLIDING: LayerConfig(rope_of(SLIDING), window)}
    return tuple(by_kind[kind] for kind in kinds)


def _named_kinds(config: dict) -> list[str] | None:
    kinds = config.get("layer_types")
    return None if kinds is None else _checked_kinds(config, kinds, (FULL, SLIDING))


def _checked_kinds(config: dict, kinds: list[str], computed: tuple[str, ...]) -> list[str]:
    if not (isinstance(kinds, list) and len(kinds) == _num_layers(config)):
        raise refused(f"The base model's layer_types is {kinds!r}; one for each of its layers is needed.")
    other = next((kind for kind in kinds if kind not in computed), None)
    if other is not None:
        raise refused(f"The base model has layers of the kind {other!r}; the engine computes {' and '.join(computed)}.")
    return kinds


def _switched_window(config: dict) -> int | None:
    """Qwen configs name a window and switch it off."""
    return config.get("sliding_window") if config.get("use_sliding_window") else None


def _num_layers(config: dict) -> int:
    return whole_number(config, "num_hidden_layers")
