"""Models of transformers with random weights, by the name of their architecture, and inputs for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import transformers
from shrink import tiny
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

_TABLES = {
    "seq2seq": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "speech2seq": "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "masked": "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "causal": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "images": "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES",
    "speech": "MODEL_FOR_CTC_MAPPING_NAMES",
    "base": "MODEL_MAPPING_NAMES",
}
_LARGEST = 30_000_000  # parameters


@dataclass
class Tiny:
    """A model, and what it's for: a key of _TABLES."""

    model: Any
    kind: str

    @property
    def generates(self) -> bool:
        return self.kind in ("causal", "seq2seq", "speech2seq") and bool(self.model.can_generate())


def build(name: str) -> Tiny:
    kind, of_model = _find_class(name)
    torch.manual_seed(0)
    model = of_model(tiny(CONFIG_MAPPING[name])).eval()
    count = sum(each.numel() for each in model.parameters())
    if count > _LARGEST:
        raise ValueError(f"{name}: expected a tiny model, got one of {count:,} parameters: see shrink.py")
    _randomise(model)
    if kind == "seq2seq" and model.generation_config.decoder_start_token_id is None:
        model.generation_config.decoder_start_token_id = 1
    return Tiny(model, kind)


def _find_class(name: str) -> tuple[str, Any]:
    for kind, table in _TABLES.items():
        names = getattr(modeling_auto, table).get(name)
        if names is not None:
            return kind, getattr(transformers, names if isinstance(names, str) else names[0])
    raise ValueError(f"{name}: transformers has no model of this name that the zoo knows how to call")


def _randomise(model: Any) -> None:
    """So that no weight of a norm is 1, no bias 0, and no parameter without effect."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for each in model.parameters():
            if not each.is_floating_point() or not each.numel():
                continue
            noise = torch.randn(each.shape, generator=generator).to(each.dtype) * 0.1
            if each.ndim == 1:
                each.add_(noise)
            elif not each.any():
                each.copy_(noise)


def inputs(tiny_model: Tiny, length: int = 12) -> dict[str, torch.Tensor]:
    """Two items of more tokens than windows have."""
    model, config = tiny_model.model, tiny_model.model.config
    generator = torch.Generator().manual_seed(3)
    text = config.get_text_config()

    def tokens(count: int) -> torch.Tensor:
        return torch.randint(3, min(100, getattr(text, "vocab_size", None) or 100), (2, count), generator=generator)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(2, *shape, generator=generator)

    main = model.main_input_name
    if main == "pixel_values":
        part = getattr(config, "vision_config", config)
        size = part.image_size if isinstance(part.image_size, int) else part.image_size[0]
        return {main: numbers(getattr(part, "num_channels", None) or 3, size, size)}
    if main == "input_values":
        return {main: numbers(400)}
    if main == "input_features":
        if tiny_model.kind == "speech2seq":
            return {main: numbers(config.num_mel_bins, 64), "decoder_input_ids": tokens(5)}
        return {main: numbers(32, getattr(config, "feature_projection_input_dim", None) or config.num_mel_bins)}
    of_decoder = {"decoder_input_ids": tokens(7)} if config.is_encoder_decoder else {}
    return {"input_ids": tokens(length), **of_decoder}
