"""What a random chain is made of: templates of one assignment each, and how exact their result is.

A template names earlier values as {a}, {b}, {c}; the draw takes any and throws away what PyTorch
refuses, so that no rule about shapes or dtypes is needed here.
"""

from dataclasses import dataclass
from typing import Literal

Exactness = Literal["exact", "zeros", "ulp", "sum"]


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of statement.

    Attributes:
        text: the right side.
        exactness: exact: bit for bit as eager; zeros: but for the sign of a zero, which PyTorch's
            own vectors and remainders give differently; ulp: a few units in the last place; sum:
            an error as eager's, for what adds many terms.
        terms: for a sum, the text whose value bounds it (the sum of absolute values); "" for none.
    """

    text: str
    exactness: Exactness = "exact"
    terms: str = ""


def _all(texts: str, exactness: Exactness = "exact") -> tuple[Template, ...]:
    return tuple(Template(text.strip(), exactness) for text in texts.split(";"))


UNARY = _all(
    "-{a}; {a}.abs(); torch.relu({a}); {a}.floor(); {a}.ceil(); {a}.trunc(); {a}.round();"
    "{a}.sign(); {a} * {a}; {a}.square(); {a} * 0.5; 1 - {a}; {a} / 3; 2 / {a}; {a} + 1;"
    "torch.isnan({a}); torch.isfinite({a}); {a}.isinf(); torch.nan_to_num({a}); ~{a};"
    "{a}.clamp(-1, 1); {a}.clamp(min=0.25); torch.clamp({a}, max=2); F.hardtanh({a});"
    "F.leaky_relu({a}, 0.1); F.relu6({a}); F.threshold({a}, 0.1, 20.0); {a}.reciprocal();"
    "{a} * s; s - {a}; {a} > s; {a}.frac(); torch.logical_not({a}); {a}.positive();"
    "{a} % 3; {a} // 2; torch.fmod({a}, 0.7); torch.signbit(torch.nan_to_num({a})); {a}.neg() * {a}"
)
BINARY = _all(
    "{a} + {b}; {a} - {b}; {a} * {b}; {a} / {b}; {a} + {b}; {a} * {b}; {a} - {b};"
    "{a} < {b}; {a} == {b}; {a} >= {b};"
    "{a} != {b}; torch.where({a} > 0, {a}, {b}); torch.where({a} > {b}, {a}, 0.5);"
    "torch.where({c} == {c}, {a}, {b}); {a}.masked_fill({b} > 0, 0.25); {a} & {b}; {a} | {b};"
    "{a} ^ {b}; torch.logical_and({a} > 0, {b} > 0); torch.logical_or({a} > 0, {b} < 0);"
    "{a} // {b};"
    "{a} % {b}; torch.fmod({a}, {b}); torch.copysign({a}, torch.nan_to_num({b}));"
    "torch.add({a}, {b}, alpha=2); torch.sub({a}, {b}, alpha=0.5); "
    "torch.addcmul({a}, {b}, {c}, value=0.5); {a} + {b} * {c};"
    "torch.lerp({a}, {b}, 0.25); {a} << 2; {a} >> 1"
)
TIES = _all(
    "torch.maximum({a}, {b}); torch.minimum({a}, {b}); torch.clamp({a}, {b}, {c}); {a}.fmax({b})",
    "zeros",
)
CASTS = _all(
    "{a}.float(); {a}.double(); {a}.to(torch.bfloat16); {a}.half(); {a}.bool(); {a}.float();"
    "{a}.to({b}.dtype); {a}.type_as({b}); ({a} * 4).clamp(-100, 100).int().abs();"
    "({a} > 0).long(); {a}.float() + {b}"
)
VIEWS = _all(
    "{a}.transpose(0, -1); {a}.transpose(-1, -2); {a}.unsqueeze(0); {a}.unsqueeze(-1);"
    "{a}.squeeze(); {a}.flatten(); {a}.reshape(-1); {a}[1:]; {a}[..., ::2]; {a}[..., 1:];"
    "{a}[0]; {a}[..., -1]; {a}.flip(-1); {a}.flip(0); {a}[:, None]; {a}.expand(3, *{a}.shape);"
    "{a}.contiguous(); {a}.clone(); torch.cat([{a}, {b}], 0); torch.cat([{a}, {b}], -1);"
    "torch.stack([{a}, {a}], -1); torch.stack([{a}, {b}]); F.pad({a}, (1, 2)); {a}.roll(1, -1);"
    "torch.broadcast_to({a}, {b}.shape); {a}.expand_as({b}); {a}.movedim(0, -1);"
    "{a}.narrow(0, 0, 1); {a}.diagonal(); {a}.tril(); {a}.triu(1); "
    "{a}.chunk(2, -1)[0]; {a}.T; {a}.unbind(0)[0];"
    "{a}.permute(*reversed(range({a}.dim()))); torch.zeros_like({a}); torch.ones_like({a}) * s"
)
EXTREMES = _all(
    "{a}.amax(-1); {a}.amax(0); {a}.amin(-1, keepdim=True); {a}.max(); {a}.min();"
    "{a}.amax((0, -1)); {a}.max(-1).values",
    "zeros",
)
EXACT_REDUCTIONS = _all(
    "{a}.any(-1);"
    "{a}.all(0); {a}.any(); torch.argmax({a}, -1); {a}.argmin(0);"
    "{a}.max(-1).indices; ({a} > 0).sum(-1); {a}.int().sum(0);"
    "torch.count_nonzero({a}, -1); ({a} > 0).sum()"
)
GATHERS = _all(
    "{a}[{i}]; torch.index_select({a}, 0, {i}); F.embedding({i}, {a}); {a}[..., {i}];"
    "F.one_hot({i}, 9); {a}.index_select(-1, {i})"
)
CURVES = _all(
    "torch.exp({a}); {a}.tanh(); torch.sigmoid({a}); {a}.sin(); {a}.cos(); {a}.erf();"
    "F.gelu({a}); F.gelu({a}, approximate='tanh'); F.silu({a}); F.softplus({a}); {a}.log1p();"
    "{a}.abs().sqrt(); torch.rsqrt({a}.abs() + 0.5); {a}.abs().log(); {a}.expm1(); F.elu({a});"
    "torch.pow({a}.abs() + 0.1, 1.5); F.mish({a}); F.hardswish({a}); F.logsigmoid({a});"
    "torch.exp2({a}); {a}.atan(); F.selu({a}); F.hardsigmoid({a}); torch.hypot({a}, {b});"
    "torch.atan2({a}, {b}); torch.logaddexp({a}, {b}); F.softsign({a}); {a}.sinh(); {a}.log2()",
    "ulp",
)
SUMS = (
    Template("{a}.sum(-1)", "sum", "{a}.abs().sum(-1)"),
    Template("{a}.sum(0)", "sum", "{a}.abs().sum(0)"),
    Template("{a}.sum()", "sum", "{a}.abs().sum()"),
    Template("{a}.mean(-1, keepdim=True)", "sum", "{a}.abs().mean(-1, keepdim=True)"),
    Template("{a}.mean((0, -1))", "sum", "{a}.abs().mean((0, -1))"),
    Template("{a}.mean(0)", "sum", "{a}.abs().mean(0)"),
    Template("{a}.mean()", "sum", "{a}.abs().mean()"),
    Template("({a} * {b}).sum(-1)", "sum", "({a} * {b}).abs().sum(-1)"),
    *_all(
        "torch.softmax({a}, -1); torch.softmax({a}, 0); F.log_softmax({a}, -1); {a}.var(-1);"
        "{a}.std(0); {a}.norm(dim=-1); torch.logsumexp({a}, -1); F.normalize({a}, dim=-1);"
        "F.layer_norm({a}, {a}.shape[-1:]); {a}.var(-1, correction=0);"
        "{a}.square().mean(-1).sqrt(); F.rms_norm({a}, {a}.shape[-1:]); "
        "F.mse_loss({a}, {b}); F.l1_loss({a}, {b});"
        "F.softmax({a} / 2, 1); torch.linalg.vector_norm({a}); F.cosine_similarity({a}, {b}, -1)",
        "sum",
    ),
)
EXACT = (*UNARY, *BINARY, *BINARY, *TIES, *CASTS, *VIEWS, *EXTREMES, *EXACT_REDUCTIONS, *GATHERS)
EVERY = (*EXACT, *UNARY, *BINARY, *CURVES, *CURVES, *SUMS, *SUMS, *SUMS)
