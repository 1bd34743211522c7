"""The protobuf side of the wire: training requests that come in as messages, and results that go out as ones.

Messages are turned into the JSON bodies that `wire.py` reads, and results from the JSON that promises hold: one reading, one checking.
The message types are described below by number, name and type, and built once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from toolwise_engine.errors import user_error

CONTENT_TYPE = "application/x-protobuf"
PACKAGE = "tinker_public"

_MESSAGES = {
    "SampleResponse": "1 sequences *SampledSequence; 2 prompt_logprobs ?bytes; 4 prompt_cache_hit_tokens int32",
    "SampledSequence": "1 stop_reason StopReason; 2 tokens bytes; 3 logprobs ?bytes",
    "SparseCsr": "1 values bytes; 2 crow_indices bytes; 3 col_indices bytes",
    "Tensor": "1 dense |bytes; 2 sparse_csr |SparseCsr; 3 dtype DType; 4 shape *int64",
    "BatchedTensor": "1 data bytes; 2 offsets bytes; 3 dtype DType; 4 trailing_shape *int64",
    "ArrayRecord": "1 type_tag string; 2 fields {BatchedTensor}; 3 num_datums int64",
    "ForwardBackwardOutput": "1 loss_fn_output_type string; 2 loss_fn_outputs *ArrayRecord; 3 metrics {double}",
    "ForwardBackwardRequest": "1 model_id string; 2 seq_id int32; 3 data *Datum; 4 loss_fn string; 5 loss_fn_config {double};"
    "6 forward_only bool; 7 loss_fn_config_v2 {LossConfigValue}",
    "LossConfigValue": "1 number |double; 2 text |string",
    "Datum": "1 model_input *Chunk; 2 loss_fn_inputs {Tensor}",
    "Chunk": "1 encoded_text |EncodedTextChunk; 2 image |ImageChunk; 3 dmel |DmelChunk",
    "EncodedTextChunk": "1 tokens bytes",
    "ImageChunk": "1 data bytes",
    "DmelChunk": "1 dmel bytes",
}
"""Fields as `number name type`: `*` repeated, `?` optional, `|` one of several, `{}` a map from text."""

_ENUMS = {"StopReason": ("STOP", "LENGTH"), "DType": ("UNSPECIFIED", "FLOAT32", "INT64", "INT32", "BFLOAT16")}
_NUMPY = {1: np.dtype("<f4"), 2: np.dtype("<i8"), 3: np.dtype("<i4")}
_BFLOAT16 = 4
_Field = descriptor_pb2.FieldDescriptorProto

MOST_PARTS = 2**19
"""Data, chunks and tensors of one request, taken together. A part may be two bytes long, and takes hundreds once it is read."""

MOST_DIMENSIONS = 8


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="toolwise_engine.proto", package=PACKAGE, syntax="proto3")
    for name, values in _ENUMS.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=f"{name}_{value}", number=number)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split(";"):
            number, field_name, kind = text.split()
            _add_field(message, int(number), field_name, kind)
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, number: int, name: str, kind: str) -> None:
    field = message.field.add(name=name, number=number, label=_Field.LABEL_REPEATED if kind[0] in "*{" else _Field.LABEL_OPTIONAL)
    if kind[0] == "{":
        entry = "".join(part.title() for part in name.split("_")) + "Entry"
        nested = message.nested_type.add(name=entry)
        nested.options.map_entry = True
        _add_field(nested, 1, "key", "string")
        _add_field(nested, 2, "value", kind[1:-1])
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{PACKAGE}.{message.name}.{entry}"
        return
    if kind[0] in "?|":
        group = f"_{name}" if kind[0] == "?" else "choice"
        known = [one.name for one in message.oneof_decl]
        if group not in known:
            message.oneof_decl.add(name=group)
            known.append(group)
        field.oneof_index = known.index(group)
        field.proto3_optional = kind[0] == "?"
    plain = kind.lstrip("*?|")
    if plain in _MESSAGES:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{PACKAGE}.{plain}"
    elif plain in _ENUMS:
        field.type, field.type_name = _Field.TYPE_ENUM, f".{PACKAGE}.{plain}"
    else:
        field.type = getattr(_Field, f"TYPE_{plain.upper()}")


@cache
def _types() -> dict[str, type[Message]]:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES}


# --- requests -----------------------------------------------------------------------------------------------------------------------------


def read_training_request(raw: bytes) -> tuple[dict[str, Any], bool]:
    """A ForwardBackwardRequest as the JSON body of forward_backward or, with True beside it, of forward."""
    _refuse_crowds(raw)
    message: Any = _types()["ForwardBackwardRequest"]()
    try:
        message.ParseFromString(raw)
    except DecodeError:
        raise user_error("The body is not a protobuf ForwardBackwardRequest.") from None
    config: dict[str, Any] = dict(message.loss_fn_config)
    for key, value in message.loss_fn_config_v2.items():
        config[key] = value.text if value.WhichOneof("choice") == "text" else value.number
    data = [_datum(datum, f"data[{i}]") for i, datum in enumerate(message.data)]
    inputs = {"data": data, "loss_fn": message.loss_fn, "loss_fn_config": config or None}
    field = "forward_input" if message.forward_only else "forward_backward_input"
    return {"model_id": message.model_id, "seq_id": message.seq_id, field: inputs}, message.forward_only


def _refuse_crowds(raw: bytes) -> None:
    """Refuses a message of more parts than a request has any use for, before it is read. One that is no message is left to the reader."""
    parts = 0
    try:
        for number, begin, end in _fields(raw, 0, len(raw)):
            parts += 1
            if number == 3:
                parts += sum(1 for _ in islice(_fields(raw, begin, end), MOST_PARTS))
            if parts > MOST_PARTS:
                raise user_error(f"The message has more than {MOST_PARTS} data, chunks and tensors: send fewer at a time.", 413)
    except IndexError:
        pass


def _fields(raw: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of each field of the message in raw[at:end]. IndexError where it is none."""
    while at < end:
        tag, at = _varint(raw, at)
        wire = tag & 7
        if wire == 2:
            length, at = _varint(raw, at)
        elif wire == 0:
            length = _varint(raw, at)[1] - at
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise IndexError
        if length > end - at:
            raise IndexError
        yield tag >> 3, at, at + length
        at += length


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise IndexError


def _datum(datum: Any, field: str) -> dict[str, Any]:
    chunks = []
    for i, chunk in enumerate(datum.model_input):
        kind = chunk.WhichOneof("choice")
        tokens = _numbers(chunk.encoded_text.tokens, 3, f"{field}.model_input[{i}].tokens") if kind == "encoded_text" else None
        chunks.append({"type": kind, "tokens": tokens})
    return {
        "model_input": {"chunks": chunks},
        "loss_fn_inputs": {name: _tensor(tensor, f"{field}.loss_fn_inputs.{name}") for name, tensor in datum.loss_fn_inputs.items()},
    }


def _tensor(tensor: Any, field: str) -> dict[str, Any]:
    if tensor.WhichOneof("choice") == "sparse_csr":
        return {"sparse_crow_indices": []}
    if len(tensor.shape) > MOST_DIMENSIONS:
        raise user_error(f"{field} has {len(tensor.shape)} dimensions: at most {MOST_DIMENSIONS} are taken.")
    data = _numbers(tensor.dense, tensor.dtype, field)
    return {"data": data, "shape": list(tensor.shape) or None}


def _numbers(raw: bytes, dtype: int, field: str) -> list[Any]:
    if dtype == _BFLOAT16:
        raw, dtype = (np.frombuffer(raw[: len(raw) // 2 * 2], "<u2").astype("<u4") << 16).tobytes(), 1
    kind = _NUMPY.get(dtype)
    if kind is None:
        raise user_error(f"{field} has the dtype {dtype}: expected FLOAT32, INT64, INT32 or BFLOAT16.")
    if len(raw) % kind.itemsize:
        raise user_error(f"{field} has {len(raw)} bytes, which is no multiple of {kind.itemsize}.")
    return np.frombuffer(raw, kind).tolist()


# --- results ------------------------------------------------------------------------------------------------------------------------------


def write_result(result: bytes) -> bytes | None:
    """A result of sample, forward or forward_backward as its message; None for whatever stays JSON (all others, errors, try_again)."""
    value = orjson.loads(result)
    if value.get("type") == "sample":
        return _sample(value)
    if value.get("type") in ("forward", "forward_backward"):
        return _training(value)
    return None


def _sample(value: dict[str, Any]) -> bytes:
    message: Any = _types()["SampleResponse"]()
    for sequence in value["sequences"]:
        message.sequences.add(
            stop_reason=0 if sequence["stop_reason"] == "stop" else 1,
            tokens=np.asarray(sequence["tokens"], "<i4").tobytes(),
            logprobs=_floats(sequence["logprobs"]),
        )
    if value["prompt_logprobs"] is not None:
        message.prompt_logprobs = _floats(value["prompt_logprobs"])
    return message.SerializeToString()


def _training(value: dict[str, Any]) -> bytes:
    message: Any = _types()["ForwardBackwardOutput"](loss_fn_output_type=value["loss_fn_output_type"], metrics=value["metrics"])
    parts = [_floats(output["logprobs"]["data"]) for output in value["loss_fn_outputs"]]
    record = message.loss_fn_outputs.add(type_tag=value["loss_fn_output_type"], num_datums=len(parts))
    field = record.fields["logprobs"]
    field.data, field.dtype = b"".join(parts), 1
    field.offsets = np.cumsum([0, *map(len, parts)], dtype="<i8").tobytes()
    return message.SerializeToString()


def _floats(values: list[float | None]) -> bytes:
    """Float32; what JSON has no number for (null) is NaN."""
    return np.array([np.nan if v is None else v for v in values], "<f4").tobytes()
