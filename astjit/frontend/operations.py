"""Torch calls on symbolic tensors: a row, a property, a library call, or the end of the capture."""

from collections.abc import Callable, Mapping, Sequence

import torch

from astjit.frontend import torch_api, writes
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int, Number, carrier, number_of
from astjit.frontend.library import device_text, library_call
from astjit.frontend.metas import accepts
from astjit.frontend.registered import registered_call
from astjit.frontend.stops import Failed, Stop, forget, words
from astjit.frontend.symbolic import SymbolicTensor, refuse_gradients, tensors_in
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ops.binding import bind
from astjit.ops.layout import contiguous
from astjit.ops.spec import FieldKind
from astjit.types.dtype import BY_TORCH
from astjit.types.shape import Dim, hint

_READS = words(
    "item tolist numpy __bool__ __int__ __float__ __index__ __complex__ __array__ "
    "__contains__ __repr__ __format__ __str__ data_ptr untyped_storage storage is_nonzero "
    "equal allclose __dlpack__ register_hook backward retain_grad share_memory_ cuda cpu "
    "__reduce_ex__ __deepcopy__ pin_memory is_set_to is_pinned"
)
_RANDOM = words(
    "rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial "
    "normal poisson dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout "
    "rrelu feature_alpha_dropout gumbel_softmax native_dropout fractional_max_pool2d "
    "binomial fractional_max_pool3d normal_ uniform_ exponential_ geometric_ log_normal_ cauchy_ "
    "random_ bernoulli_ dropout_ alpha_dropout_ feature_dropout_ rrelu_ feature_alpha_dropout_"
)
_METADATA = words(
    "requires_grad_ resize_ resize_as_ set_ t_ transpose_ squeeze_ unsqueeze_ swapaxes_ swapdims_ "
    "as_strided_ detach_ rename_ share_memory_ apply_ map_ map2_ __set__ __delitem__ "
    "sparse_resize_ sparse_resize_and_clear_ coalesce_ conj_physical_ _coalesced_"
)
_QUESTIONS = words("promote_types can_cast is_tensor is_storage broadcast_shapes")
_DEVICES = ("cuda", "cpu", "xpu", "mps", "xla", "hpu", "mtia", "vulkan", "ipu", "maia")


class Operations:
    """Answers torch calls during one capture.

    Args:
        capture: the SSA function that grows.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture

    def torch_call(
        self, func: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
    ) -> object:
        """The result of a torch function, symbolically.

        Raises:
            Stop: if this call cannot be captured.
            Failed: if its operands do not fit.
        """
        name = getattr(func, "__name__", "")
        if (read := torch_api.attribute_of(func)) is not None:
            return self._property(read, args[0])
        if (known := torch_api.registered(func)) is not None:
            return registered_call(self.capture, *known, func, args, kwargs)
        self.capture.operators.update(torch_api.operators_of(name))
        if isinstance(func, type) or name in _QUESTIONS:  # torch.device is one as well
            with torch_api.plain_calls():
                return func(*args, **kwargs)
        if torch_api.grad_mode(func):
            return func(*args)
        refuse_gradients(self.capture.wants_grad, (*args, *kwargs.values()))
        if name in ("to", "cpu", "cuda") and args and isinstance(args[0], SymbolicTensor):
            return self._to(func, args[0], args[1:], kwargs)
        if name == "unbind" and args and isinstance(args[0], SymbolicTensor):
            return self._unbind(*args, **kwargs)  # type: ignore[arg-type]
        if name in _PLAIN and args and isinstance(args[0], SymbolicTensor):
            return _PLAIN[name](self, *args, **kwargs)
        self._refuse(name, args, kwargs)
        dotted = torch_api.dotted_name(func)
        if dotted is None:
            raise Stop(f"{name or func} is not a public function of torch")
        if (written := writes.written(self, func, dotted, args, kwargs)) is not NotImplemented:
            return written
        if name in ("cat", "concat", "concatenate") and args:
            args = (self._joined(args[0]), *args[1:])
        made = self.operation(dotted, func, args, kwargs)
        if name == "__getitem__" and isinstance(made, SymbolicTensor) and made is args[0]:
            return self.capture.alias(made, "[...]")  # another object of the same memory
        return made

    def operation(
        self,
        dotted: str,
        func: Callable[..., object],
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> object:
        """A call as a use of a row, or of PyTorch's own kernel.

        Raises:
            Stop: if it cannot be captured.
            Failed: if PyTorch refuses it as well.
        """
        refused: Failed | None = None
        try:
            made = self.row(dotted, args, kwargs)
            if made is not NotImplemented:
                return made
        except Failed as failed:
            refused = failed
            forget(failed)  # what a row refuses, such as a dtype, PyTorch may accept
        try:
            made = library_call(self.capture, dotted, func, args, kwargs)
        except Failed as failed:
            raise refused or failed from None
        if refused is not None and not accepts(func, args, kwargs):
            raise Stop(f"{dotted} may refuse its operands: {refused.error}")
        return made

    def _joined(self, tensors: object) -> object:
        """The operands of cat without those of size [0], which it passes over at any rank."""
        given = [t for t in tensors if isinstance(t, SymbolicTensor)]  # type: ignore[attr-defined]
        if not isinstance(tensors, tuple | list) or len(given) != len(tensors):
            return tensors
        others = [t for t in given if t.kind.rank != 1]
        dtypes = {t.kind.dtype for t in given}
        if not others or len(dtypes) > 1:
            return tensors
        empty = [t for t in given if t.kind.rank == 1 and hint(t.kind.dims[0]) == 0]
        for tensor in empty:
            self.capture.sizes.holds("==", tensor.kind.dims[0], 0)
        return [t for t in given if not any(t is e for e in empty)]

    def row(self, dotted: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """A call as a use of rows, NotImplemented where no row does it.

        Raises:
            Failed: if its operands do not fit.
        """
        try:
            bound = bind(dotted, args, kwargs, _is_operand, self._convert)
            made = NotImplemented if bound is None else bound.build(self.capture, self._value)
        except (TypeError, ValueError, IndexError, ZeroDivisionError, RuntimeError) as error:
            raise Failed(error) from error
        if made is NotImplemented:
            return made
        found = self._wrap(made, tensors_in((*args, *kwargs.values())))
        kind = getattr(torch.return_types, dotted.rsplit(".", 1)[-1], None)
        return found if kind is None or not isinstance(found, tuple) else kind(found)

    def _wrap(self, made: object, operands: Sequence[SymbolicTensor]) -> object:
        if isinstance(made, (tuple, list)):
            return tuple(self._wrap(part, operands) for part in made)
        assert isinstance(made, (Param, Result, Literal))
        return self.capture.wrap(made, operands)

    def _value(self, operand: object) -> Value | float | None:
        """An operand as the caller gave it, as an SSA value."""
        if isinstance(operand, SymbolicTensor):
            return operand.value
        if isinstance(operand, Int | Float):
            return self.capture.number_value(operand.node.number)
        return operand  # type: ignore[return-value]  # a number or None

    def _convert(self, kind: FieldKind, value: object) -> object:
        """A value of a field: sizes stay symbolic, other run-time numbers are pinned (D2)."""
        if isinstance(value, SymbolicTensor) and kind is FieldKind.ANY:
            return value.value
        if isinstance(value, torch.dtype):
            return BY_TORCH.get(str(value).removeprefix("torch."), value)
        if isinstance(value, Int | Float):
            number = value.node.number
            if kind in (FieldKind.SIZE, FieldKind.ANY):
                dim = self.capture.size_of(number)
                if dim is not None:
                    return dim
            return self.capture.pin(number, "given to a torch function as an attribute")
        if isinstance(value, (torch.device, torch.memory_format)) and kind is FieldKind.TEXT:
            return str(value)
        return value

    def _refuse(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        if name in _READS:
            raise Stop(f"{name}() reads the values of a tensor")
        if name in _METADATA:
            instead = "the operation that returns a new tensor"
            raise Stop(f"{name}() changes what a tensor is", instead=instead)
        if draws_numbers(name, args, kwargs):
            raise Stop(f"{name}() draws random numbers")

    # --- what a tensor answers without an operation ---

    def _property(self, name: str, owner: object) -> object:
        if not isinstance(owner, SymbolicTensor):
            raise Stop(f".{name} of a tensor that was reached without a path")
        kind = owner.kind
        if name == "shape":
            return self.shape(owner)
        if name == "data":
            return self.capture.alias(owner, ".data")
        if name.startswith("is_") and name[3:] in _DEVICES:
            return kind.device.split(":")[0] == name[3:]
        if name == "device":
            return torch.device(kind.device)
        if name == "requires_grad":
            if owner.origin is not None:
                asked = f"{owner.origin.path}.requires_grad"
                self.capture.guard(f"{asked} is {owner.wants_grad}", f"{asked} was read")
            return owner.wants_grad
        if name in ("grad_fn", "is_leaf") and not owner.wants_grad:
            return None if name == "grad_fn" else True
        if name == "nbytes":
            return self._number(kind.numel) * kind.dtype.itemsize  # type: ignore[operator]
        if name in _ATTRIBUTES:
            with torch_api.plain_calls():
                return getattr(owner, name)
        if name in ("T", "mT", "mH", "H"):
            return self.operation(f"Tensor.{name}", _unknown(name), (owner,), {})
        if name == "real" and kind.dtype.is_float:
            return owner
        raise Stop(f"the tensor attribute .{name}")

    def shape(self, tensor: SymbolicTensor) -> torch.Size:
        """`.shape`, with run-time sizes."""
        return torch.Size([self._number(d) for d in tensor.kind.dims])  # type: ignore[misc]

    def _number(self, dim: Dim) -> object:
        number = Number(hint(dim), self.capture.dim_text(dim), dim)
        return carrier(self.capture, number)

    def _size(self, tensor: SymbolicTensor, dim: object = None) -> object:
        shape = self.shape(tensor)
        return shape if dim is None else shape[int(dim)]  # type: ignore[call-overload]

    def _numel(self, tensor: SymbolicTensor) -> object:
        return self._number(tensor.kind.numel)

    def _stride(self, tensor: SymbolicTensor, dim: object = None) -> object:
        if self.capture.sizes.equal(tensor.kind.numel, 0):  # types do not hold them
            raise Stop("the strides of a tensor without elements")
        asked = range(tensor.kind.rank) if dim is None else [int(dim)]  # type: ignore[call-overload]
        if any(tensor.kind.dims[axis] == 1 for axis in asked):  # they may be anything
            raise Stop("the stride of an axis of size 1")
        strides = tuple(self._number(s) for s in tensor.kind.element_strides())
        return strides if dim is None else strides[int(dim)]  # type: ignore[call-overload]

    def _is_contiguous(self, tensor: SymbolicTensor, memory_format: object = None) -> bool:
        if memory_format not in (None, torch.contiguous_format):
            raise Stop("is_contiguous() of another memory format")
        return contiguous(self.capture.sizes, tensor.kind)

    def _dim(self, tensor: SymbolicTensor) -> int:
        return tensor.kind.rank

    def _length(self, tensor: SymbolicTensor) -> object:
        if not tensor.kind.rank:
            raise TypeError("len() of a 0-d tensor")
        return self.shape(tensor)[0]

    def _is_float(self, tensor: SymbolicTensor) -> bool:
        return tensor.kind.dtype.is_float

    def _element_size(self, tensor: SymbolicTensor) -> int:
        return tensor.kind.dtype.itemsize

    def _get_device(self, tensor: SymbolicTensor) -> int:
        _, _, index = tensor.kind.device.partition(":")
        return int(index) if index else -1

    def _never(self, tensor: SymbolicTensor) -> bool:
        return False

    def _detach(self, tensor: SymbolicTensor) -> object:
        return self.capture.alias(tensor, ".detach()")

    def _to(
        self,
        func: Callable[..., object],
        tensor: SymbolicTensor,
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> object:
        """`.to(...)`, `.cpu()`, `.cuda()`: a move to where the tensor is already is nothing."""
        name = getattr(func, "__name__", "to")
        rest = {k: v for k, v in kwargs.items() if k != "device"}
        others = [a for a in args if not isinstance(a, torch.device | str)]
        wanted = [a for a in (*args, kwargs.get("device")) if isinstance(a, torch.device | str)]
        if name != "to":
            wanted, others = [*(wanted or [name])], []
        for device in wanted:
            if device_text(device) != tensor.kind.device:
                raise Stop(f"a tensor is moved from {tensor.kind.device} to {device}")
        if not others and not rest:
            return tensor
        return self.operation("Tensor.to", torch.Tensor.to, (tensor, *others), rest)

    def _unbind(self, tensor: SymbolicTensor, dim: int = 0) -> object:
        """As many results as there are elements along `dim`: that size is pinned."""
        count = range(self.shape(tensor)[dim])
        return tuple(torch.select(tensor, dim, i) for i in count)

    def _iterate(self, tensor: SymbolicTensor) -> object:
        return iter([tensor[i] for i in range(self._length(tensor))])  # type: ignore[call-overload]


_ATTRIBUTES = words(
    "dtype ndim layout itemsize is_sparse is_quantized is_meta is_complex is_nested "
    "is_mkldnn is_sparse_csr names"
)
_PLAIN: dict[str, Callable[..., object]] = {
    "size": Operations._size,
    "numel": Operations._numel,
    "nelement": Operations._numel,
    "stride": Operations._stride,
    "is_contiguous": Operations._is_contiguous,
    "dim": Operations._dim,
    "ndimension": Operations._dim,
    "__len__": Operations._length,
    "is_floating_point": Operations._is_float,
    "element_size": Operations._element_size,
    "get_device": Operations._get_device,
    "is_complex": Operations._never,
    "is_conj": Operations._never,
    "is_neg": Operations._never,
    "is_inference": Operations._never,
    "detach": Operations._detach,
    "__iter__": Operations._iterate,
}


def _is_operand(value: object) -> bool:
    return isinstance(value, SymbolicTensor) or number_of(value) is not None


def _argument(
    args: Sequence[object], kwargs: Mapping[str, object], name: str, position: int, default: object
) -> object:
    if name in kwargs:
        return kwargs[name]
    return args[position] if len(args) > position else default


def draws_numbers(name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Whether a call draws random numbers: its results differ from call to call."""
    if name == "scaled_dot_product_attention":
        return bool(_argument(args, kwargs, "dropout_p", 4, 0.0))
    if name == "multi_head_attention_forward":
        training = _argument(args, kwargs, "training", 13, True)
        return bool(training) and _argument(args, kwargs, "dropout_p", 10, 0.0) != 0.0
    off = kwargs.get("training") is False or kwargs.get("p") == 0.0
    return name in _RANDOM and not off


def _unknown(name: str) -> Callable[..., object]:
    def stop(*args: object) -> object:
        raise Stop(f"the tensor attribute .{name}")

    return stop
