"""One row a model: how it is made, and what its calls are given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from zoo import language, sequences, vision

Given = torch.Tensor | dict[str, torch.Tensor | bool]
SEQUENCES, SQUARES = ((2, 7), (3, 11), (5, 4)), ((2, 32), (3, 48), (4, 64), (2, 35))
STEPS = ((2, 5), (2, 6), (2, 7))


@dataclass(frozen=True, slots=True)
class Model:
    """A row.

    Attributes:
        make: the module, with random weights.
        data: what a call is given, for two sizes: the argument, or all of them by name.
        sizes: of calls, one program serving them all.
        large: sizes at which it is timed.
        decodes: whether calls fill a cache that later calls are given.
    """

    make: Callable[[], nn.Module]
    data: Callable[[int, int], Given]
    sizes: Sequence[tuple[int, int]] = SEQUENCES
    large: tuple[int, int] = (8, 60)
    decodes: bool = False

    def call(self, module: Callable[..., object], given: Given) -> object:
        """What a call of the module, or of it compiled, gives."""
        return module(**given) if isinstance(given, dict) else module(given)


_DATA = {
    "gpt2": language.ids,
    "llama": language.ids,
    "t5": language.translated,
    "bart": language.translated,
    "clip_text": language.ended,
    "vit": language.pixels,
}
# The families that are no language models of the next word, or whose cache is of another kind.
_NO_DECODERS = {
    *("bert", "roberta", "distilbert", "electra", "albert", "deberta"),
    *("mamba", "t5", "bart", "clip_text", "vit"),
}

FAMILIES = {
    name: Model(
        language.maker(name), _DATA.get(name, language.masked), decodes=name not in _NO_DECODERS
    )
    for name in language.FAMILIES
}

PLAIN = {
    "mlp": Model(
        lambda: nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 16)),
        sequences.vectors,
    ),
    "encoder in training, no dropout": Model(
        lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True),
        sequences.vectors,
    ),
    "encoder": Model(
        lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(), sequences.vectors
    ),
    "transformer": Model(lambda: sequences.Transformer().eval(), sequences.words),
    "attention": Model(lambda: sequences.Attention().eval(), sequences.vectors),
    "recurrent": Model(lambda: sequences.Recurrent().eval(), sequences.words),
    "stepped": Model(lambda: sequences.Stepped().eval(), sequences.vectors, STEPS),
    "selective": Model(lambda: sequences.Selective().eval(), sequences.vectors),
    "block": Model(lambda: vision.Block(3, 8, 2).eval(), vision.squares, SQUARES),
    "block in training": Model(lambda: vision.Block(3, 8, 2), vision.squares, SQUARES),
    "resnet": Model(lambda: vision.ResNet().eval(), vision.squares, SQUARES),
    "unet": Model(lambda: vision.UNet(4, 8, 16).eval(), vision.squares, SQUARES[:3]),
    "mobilenet": Model(lambda: vision.MobileNet().eval(), vision.squares, SQUARES),
    "diffusion": Model(lambda: vision.Diffusion().eval(), vision.squares, SQUARES[:2]),
    "vision": Model(lambda: vision.VisionTransformer().eval(), vision.images),
    "einops": Model(lambda: vision.Rearranged().eval(), vision.rows),
}

MODELS = {**FAMILIES, **PLAIN}
