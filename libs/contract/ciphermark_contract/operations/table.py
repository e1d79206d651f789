"""The operation table: one row per operation. Whatever else names operations asks here."""

from __future__ import annotations

from collections.abc import Mapping

from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import arguments, meaning, shapes
from ciphermark_contract.operations.operation import Kind, Operation
from ciphermark_contract.operations.table_beyond import ROWS_BEYOND, keys_of_elements, keys_of_steps

_ONE = (Kind.CIPHERTEXT,)
_TWO = (Kind.CIPHERTEXT, Kind.CIPHERTEXT)
_WITH_PLAIN = (Kind.CIPHERTEXT, Kind.PLAINTEXT)
_PREPARED = (Kind.TRANSFORMED, Kind.PREPARED)
_ENCODED_SO = "ckks encodes to evaluation form: {} takes such plaintexts"


def _relinearization() -> KeyRequest:
    return KeyRequest.of(relinearization=True)


_ROWS = (
    Operation(
        "negate",
        "The negative of a ciphertext.",
        _ONE,
        meaning.negated,
        is_repeatable=True,
        is_managed=True,
    ),
    Operation(
        "add",
        "The sum of two ciphertexts.",
        _TWO,
        meaning.total,
        shapes.added,
        is_repeatable=True,
        is_managed=True,
        is_default=True,
    ),
    Operation(
        "sub",
        "The difference of two ciphertexts.",
        _TWO,
        meaning.difference,
        shapes.added,
        is_repeatable=True,
        is_managed=True,
    ),
    Operation(
        "add_plain",
        "The sum of a ciphertext and an encoded plaintext.",
        _WITH_PLAIN,
        meaning.total,
        shapes.added,
        is_at_scale=True,
        is_repeatable=True,
        is_managed=True,
        is_default=True,
    ),
    Operation(
        "sub_plain",
        "A ciphertext less an encoded plaintext.",
        _WITH_PLAIN,
        meaning.difference,
        shapes.added,
        is_at_scale=True,
        is_repeatable=True,
        is_managed=True,
    ),
    Operation(
        "mul_plain",
        "The product of a ciphertext and an encoded plaintext, not rescaled.",
        _WITH_PLAIN,
        meaning.product,
        shapes.multiplied,
        is_multiplication=True,
        is_repeatable=True,
        is_managed=True,
        is_default=True,
    ),
    Operation(
        "add_plain_prepared",
        "The sum of a ciphertext and a plaintext, both in evaluation form already.",
        _PREPARED,
        meaning.total,
        shapes.added,
        result=Kind.TRANSFORMED,
        schemes=("bfv", "bgv"),
        not_in=_ENCODED_SO.format("add_plain"),
        absence="has no sum with a plaintext that was transformed before",
    ),
    Operation(
        "mul_plain_prepared",
        "The product of a ciphertext and a plaintext, both in evaluation form already.",
        _PREPARED,
        meaning.product,
        shapes.multiplied,
        result=Kind.TRANSFORMED,
        schemes=("bfv", "bgv"),
        not_in=_ENCODED_SO.format("mul_plain"),
        absence="has no product with a plaintext that was transformed before",
        is_multiplication=True,
    ),
    Operation(
        "mul",
        "The product of two ciphertexts, of three polynomials: neither relinearized nor rescaled.",
        _TWO,
        meaning.product,
        shapes.multiplied,
        is_multiplication=True,
        is_product=True,
        is_repeatable=True,
        is_managed=True,
        is_default=True,
    ),
    Operation(
        "square",
        "The product of a ciphertext with itself, of three polynomials.",
        _ONE,
        meaning.square,
        shapes.squared,
        is_multiplication=True,
        is_product=True,
        is_repeatable=True,
        is_managed=True,
    ),
    Operation(
        "mul_full",
        "The product of two ciphertexts with all that a level takes: relinearized, in ckks rescaled, in bgv switched to"
        " the next modulus.",
        _TWO,
        meaning.product,
        shapes.multiplied_fully,
        absence="has no relinearization to complete a product with",
        keys=_relinearization,
        is_multiplication=True,
        is_sequence=True,
    ),
    Operation(
        "relinearize",
        "A product of three polynomials brought back to two by key switching.",
        _ONE,
        meaning.same,
        shapes.relinearized,
        keys=_relinearization,
        prepared_by="mul",
        is_maintenance=True,
    ),
    Operation(
        "rescale",
        "A ciphertext divided by the last prime of its modulus: one level less, and a smaller scale.",
        _ONE,
        meaning.same,
        shapes.rescaled,
        schemes=("ckks",),
        not_in="bfv and bgv have no scale: use mod_switch",
        prepared_by="mul_plain",
        is_maintenance=True,
    ),
    Operation(
        "mod_switch",
        "A ciphertext brought to the next smaller modulus: one level less, values and scale as they are.",
        _ONE,
        meaning.same,
        shapes.switched,
        is_maintenance=True,
    ),
    Operation(
        "rotate",
        "Slots turned by some steps within each row, with one key: an automorphism and a key switching.",
        _ONE,
        meaning.rotated,
        shapes.turned,
        argument=arguments.STEPS,
        keys=keys_of_steps,
        is_rotation=True,
        is_repeatable=True,
        is_managed=True,
        is_default=True,
    ),
    Operation(
        "rotate_columns",
        "The two rows of slots swapped.",
        _ONE,
        meaning.columns_rotated,
        shapes.turned,
        schemes=("bfv", "bgv"),
        not_in="ckks slots form one row, not two",
        keys=lambda: keys_of_elements(-1),
        is_rotation=True,
        is_repeatable=True,
        is_managed=True,
        is_default=True,
    ),
    *ROWS_BEYOND,
)

OPERATIONS: Mapping[str, Operation] = {row.name: row for row in _ROWS}
