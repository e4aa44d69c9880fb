"""Models of other libraries, each captured whole: one program for several sizes, eager's answers.

What changes later (an eps, a parameter, a layer, a hook, a config) is followed.
"""

import copy
import warnings

import einops
import pytest
import torch
import transformers
from einops.layers.torch import Rearrange, Reduce
from torch import nn

import astjit
from astjit.errors import AstjitWarning

pytestmark = pytest.mark.slow
SMALL = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZES = [(2, 7), (3, 11), (5, 4)]


def bert(layers=2):
    sizes = {**SMALL, "num_hidden_layers": layers}
    config = transformers.BertConfig(**sizes, intermediate_size=64, max_position_embeddings=64)
    return transformers.BertModel(config).eval()


def gpt2():
    config = transformers.GPT2Config(
        vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1
    )
    return transformers.GPT2LMHeadModel(config).eval()


def llama():
    config = transformers.LlamaConfig(
        **SMALL, num_key_value_heads=2, intermediate_size=64, max_position_embeddings=64
    )
    return transformers.LlamaForCausalLM(config).eval()


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = einops.rearrange(
            self.qkv(x), "b n (three h d) -> three b h n d", three=3, h=self.heads
        )
        scores = torch.einsum("bhnd,bhmd->bhnm", q, k) * self.scale
        return self.out(einops.rearrange(scores.softmax(-1) @ v, "b h n d -> b n (h d)"))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class VisionTransformer(nn.Module):
    def __init__(self, width=32, depth=2):
        super().__init__()
        self.patches = nn.Sequential(
            nn.Conv2d(3, width, 4, stride=4), Rearrange("b c h w -> b (h w) c")
        )
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, images):
        x = self.patches(images)
        x = torch.cat([einops.repeat(self.token, "1 1 d -> b 1 d", b=x.shape[0]), x], 1)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


class Rearranged(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid, self.pool = (
            Rearrange("b (h w) c -> b c h w", h=4),
            Reduce("b c h w -> b c", "max"),
        )
        self.linear = nn.Linear(6, 6)

    def forward(self, x):
        q, k = einops.rearrange(self.linear(x), "b n (k h d) -> k h b n d", k=2, h=3)
        scores = einops.einsum(q, k, "h b n d, h b m d -> h b n m").softmax(-1)
        image = self.grid(x)
        pooled = einops.reduce(image, "b c (h p) w -> b h w", "mean", p=2)
        return pooled, self.pool(image), einops.repeat(scores.mean(0), "b n m -> b r n m", r=2)


def ids(size):
    return {"input_ids": torch.randint(0, 99, size)}


def masked(size):
    mask = torch.ones(size, dtype=torch.long)
    mask[0, size[1] - 2 :] = 0
    return {**ids(size), "attention_mask": mask}


def uncached(size):
    return {**ids(size), "use_cache": False}


def images(size):
    return {"images": torch.randn(size[0], 3, 4 * size[1], 16)}


def rows(size):
    return {"x": torch.randn(size[0], 4 * size[1], 6)}


MODELS = {
    "bert": (bert, masked),
    "bert_without_mask": (bert, ids),
    "gpt2": (gpt2, ids),
    "llama": (llama, uncached),
    "llama_with_cache": (llama, ids),
    "vision": (lambda: VisionTransformer().eval(), images),
    "einops": (lambda: Rearranged().eval(), rows),
}


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, transformers.Cache):
        return [leaf for layer in value.layers for leaf in (layer.keys, layer.values)]
    return []


def equal(one, other):
    first, second = leaves(one), leaves(other)
    assert type(one) is type(other)
    assert len(first) == len(second) > 0
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
        assert a.stride() == b.stride()


@pytest.fixture(autouse=True)
def _quiet():
    """No AstjitWarning but that a compiler is missing; gradients are off, as in serving."""
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error", AstjitWarning)
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


@pytest.mark.parametrize("name", MODELS)
def test_one_program_for_several_sizes(name):
    make, arguments = MODELS[name]
    model = make()
    fast = astjit.compile(model)
    for size in SIZES:
        given = arguments(size)
        equal(fast(**given), model(**given))
    assert fast.cache_info().programs == 1


def test_a_loop_that_fills_a_cache():
    model = llama()
    fast = astjit.compile(model)

    def decoded(call):
        torch.manual_seed(1)
        cache, given, made = transformers.DynamicCache(config=model.config), ids((2, 5)), []
        for _ in range(4):
            out = call(**given, cache=cache)
            given = {"input_ids": out.logits[:, -1:].argmax(-1)}
            made.append(out.logits)
        return made, cache

    one, other = decoded(fast), decoded(model)
    equal(one[0], other[0])
    equal(one[1], other[1])


def _new_parameter(model):
    model.encoder.layer[0].attention.self.query.weight = nn.Parameter(torch.randn(32, 32))


def _new_data(model):
    model.encoder.layer[0].attention.self.query.weight.data.mul_(2)


def _eps(model):
    model.encoder.layer[0].output.LayerNorm.eps = 0.5


def _layer(model):
    model.encoder.layer[1] = copy.deepcopy(model.encoder.layer[0])


def _activation(model):
    model.encoder.layer[0].intermediate.intermediate_act_fn = nn.ReLU()


def _fewer_layers(model):
    model.encoder.layer = model.encoder.layer[:1]
    model.config.num_hidden_layers = 1


def _hook(model):
    def double(module, args, out):
        return out[0] * 2 if isinstance(out, tuple) else out * 2

    model.encoder.layer[0].output.register_forward_hook(double)


def _config(model):
    model.config._attn_implementation = "eager"


@pytest.mark.parametrize(
    "change",
    [_eps, _new_parameter, _new_data, _layer, _activation, _fewer_layers, _hook, _config],
)
def test_what_changes_later_is_followed(change):
    model = bert(2 if change in (_layer, _fewer_layers) else 1)
    fast, given = astjit.compile(model), masked((2, 7))
    equal(fast(**given), model(**given))
    change(model)
    equal(fast(**given), model(**given))
