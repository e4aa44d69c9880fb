"""Language models of `transformers`, from small random configurations."""

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import nn

WORDS = 99
SMALL = {"vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
WIDE = {**SMALL, "intermediate_size": 64, "max_position_embeddings": 64}
GROUPED = {**WIDE, "num_key_value_heads": 2}
GPT2 = {"vocab_size": WORDS, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
MARKS = {"bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {"num_experts_per_tok": 2}
Arguments = dict[str, torch.Tensor | bool]

# Family: the class of the configuration without "Config", the class of the model, its settings.
FAMILIES: dict[str, tuple[str, str, dict[str, object]]] = {
    "bert": ("Bert", "BertModel", WIDE),
    "roberta": ("Roberta", "RobertaForSequenceClassification", {**WIDE, "pad_token_id": 1}),
    "distilbert": (
        "DistilBert",
        "DistilBertForMaskedLM",
        {
            "vocab_size": WORDS,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 64,
            "max_position_embeddings": 64,
        },
    ),
    "electra": ("Electra", "ElectraForPreTraining", {**WIDE, "embedding_size": 16}),
    "albert": ("Albert", "AlbertModel", {**WIDE, "embedding_size": 16}),
    "deberta": (
        "DebertaV2",
        "DebertaV2Model",
        {
            **WIDE,
            "relative_attention": True,
            "position_biased_input": False,
            "pos_att_type": ["p2c", "c2p"],
            "max_relative_positions": 16,
        },
    ),
    "gpt2": ("GPT2", "GPT2LMHeadModel", {**GPT2, **MARKS}),
    "gptj": ("GPTJ", "GPTJForCausalLM", {**GPT2, **MARKS, "rotary_dim": 4}),
    "gpt_neox": ("GPTNeoX", "GPTNeoXForCausalLM", WIDE),
    "opt": (
        "OPT",
        "OPTForCausalLM",
        {**SMALL, "word_embed_proj_dim": 32, "ffn_dim": 64, "max_position_embeddings": 64},
    ),
    "bloom": (
        "Bloom",
        "BloomForCausalLM",
        {"vocab_size": WORDS, "hidden_size": 32, "n_layer": 2, "n_head": 4, **MARKS},
    ),
    "falcon": ("Falcon", "FalconForCausalLM", {**SMALL, **MARKS}),
    "llama": ("Llama", "LlamaForCausalLM", GROUPED),
    "mistral": ("Mistral", "MistralForCausalLM", {**GROUPED, "sliding_window": 8}),
    "qwen2": ("Qwen2", "Qwen2ForCausalLM", GROUPED),
    "qwen3": ("Qwen3", "Qwen3ForCausalLM", {**GROUPED, "head_dim": 8}),
    "olmo": ("Olmo", "OlmoForCausalLM", {**GROUPED, **MARKS}),
    "phi": ("Phi", "PhiForCausalLM", WIDE),
    "phi3": ("Phi3", "Phi3ForCausalLM", {**GROUPED, **MARKS, "pad_token_id": 0}),
    "gemma": ("Gemma", "GemmaForCausalLM", {**GROUPED, "head_dim": 8}),
    "gemma2": (
        "Gemma2",
        "Gemma2ForCausalLM",
        {**GROUPED, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 8},
    ),
    "mixtral": ("Mixtral", "MixtralForCausalLM", {**GROUPED, **EXPERTS, "num_local_experts": 4}),
    "qwen3_moe": (
        "Qwen3Moe",
        "Qwen3MoeForCausalLM",
        {**GROUPED, **EXPERTS, "head_dim": 8, "num_experts": 4, "moe_intermediate_size": 16},
    ),
    "mamba": (
        "Mamba",
        "MambaForCausalLM",
        {"vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4, **MARKS},
    ),
    "t5": (
        "T5",
        "T5ForConditionalGeneration",
        {
            "vocab_size": WORDS,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 64,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
        },
    ),
    "bart": (
        "Bart",
        "BartForConditionalGeneration",
        {
            "vocab_size": WORDS,
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 64,
        },
    ),
    "clip_text": ("CLIPText", "CLIPTextModel", {**WIDE, **MARKS}),
    "vit": (
        "ViT",
        "ViTModel",
        {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 64,
            "image_size": 16,
            "patch_size": 4,
        },
    ),
}


def family(name: str, **settings: object) -> nn.Module:
    """The model of a family in eval mode, with other settings where they are given."""
    short, model, own = FAMILIES[name]
    config: Any = getattr(transformers, f"{short}Config")
    made = getattr(transformers, model)(config(**{**own, **settings}))
    assert isinstance(made, nn.Module)
    return made.eval()


def maker(name: str) -> Callable[[], nn.Module]:
    """What makes the model of a family."""
    return lambda: family(name)


# -- arguments of a call, by batch and length -----------------------------------------------------
def ids(batch: int, length: int) -> Arguments:
    return {"input_ids": torch.randint(3, WORDS, (batch, length))}


def masked(batch: int, length: int) -> Arguments:
    """The first sequence is two shorter."""
    mask = torch.ones(batch, length, dtype=torch.long)
    mask[0, length - 2 :] = 0
    return {**ids(batch, length), "attention_mask": mask}


def uncached(batch: int, length: int) -> Arguments:
    return {**ids(batch, length), "use_cache": False}


def translated(batch: int, length: int) -> Arguments:
    words = torch.randint(3, WORDS, (batch, length + 1))
    return {**ids(batch, length), "decoder_input_ids": words}


def ended(batch: int, length: int) -> Arguments:
    """The last word is the end mark."""
    words = torch.randint(3, WORDS, (batch, length))
    words[:, -1] = MARKS["eos_token_id"]
    return {"input_ids": words}


def pixels(batch: int, length: int) -> Arguments:
    return {"pixel_values": torch.randn(batch, 3, 16, 16)}


# -- what comes back ------------------------------------------------------------------------------
def cached(cache: object) -> list[object]:
    """The tensors that a cache of keys, values or states holds."""
    if isinstance(cache, transformers.EncoderDecoderCache):
        return [cache.self_attention_cache, cache.cross_attention_cache]
    names = ("keys", "values", "conv_states", "recurrent_states")
    layers = cache.layers if isinstance(cache, transformers.Cache) else ()
    return [getattr(layer, name, None) for layer in layers for name in names]
