"""The operation table: one row per operation, the only list of operations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ciphermark_contract import noise_bound
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import coefficients, meaning, operation, shapes, words
from ciphermark_contract.operations.operation import Kind, Number, Operation

_ONE = (Kind.CIPHERTEXT,)
_TWO = (Kind.CIPHERTEXT, Kind.CIPHERTEXT)
_WITH_PLAIN = (Kind.CIPHERTEXT, Kind.PLAINTEXT)
_IN_NTT_FORM = (Kind.TRANSFORMED, Kind.NTT_PLAINTEXT)
_ENCODED_SO = "CKKS encodes to NTT form: {} takes such plaintexts"
_KEPT_SO = "BGV and CKKS ciphertexts are stored in NTT form"
_NO_SCALAR = "has no call for a single number: encode it as a plaintext"


def _relinearization() -> KeyRequest:
    return KeyRequest.of(relinearization=True)


def keys_of_steps(*steps: Number) -> KeyRequest:
    """A rotation key for each of the steps."""
    return KeyRequest.of(rotations=map(int, steps))


def keys_of_elements(*elements: Number) -> KeyRequest:
    """A key for the automorphism of each Galois element."""
    return KeyRequest.of(automorphisms=map(int, elements))


# Operations that circuits may use, and apply repeatedly to their own result.
_repeatable = partial(Operation, is_repeatable=True, is_managed=True)

_ROWS = (
    _repeatable("negate", "The negative of a ciphertext.", _ONE, meaning.negated),
    _repeatable("add", "The sum of two ciphertexts.", _TWO, meaning.total, shapes.added, is_default=True),
    _repeatable("sub", "The difference of two ciphertexts.", _TWO, meaning.difference, shapes.added),
    _repeatable(
        "add_plain",
        "The sum of a ciphertext and an encoded plaintext.",
        _WITH_PLAIN,
        meaning.total,
        shapes.added,
        is_at_scale=True,
        is_default=True,
    ),
    _repeatable(
        "sub_plain",
        "A ciphertext less an encoded plaintext.",
        _WITH_PLAIN,
        meaning.difference,
        shapes.added,
        is_at_scale=True,
    ),
    _repeatable(
        "mul_plain",
        "The product of a ciphertext and an encoded plaintext, not rescaled.",
        _WITH_PLAIN,
        meaning.product,
        shapes.multiplied,
        is_multiplication=True,
        is_default=True,
    ),
    Operation(
        "add_plain_ntt",
        "The sum of a ciphertext and a plaintext, both in NTT form already.",
        _IN_NTT_FORM,
        meaning.total,
        shapes.added,
        result=Kind.TRANSFORMED,
        schemes=("bfv", "bgv"),
        not_in=_ENCODED_SO.format("add_plain"),
        absence="has no sum with a plaintext that was transformed before",
    ),
    Operation(
        "mul_plain_ntt",
        "The product of a ciphertext and a plaintext, both in NTT form already.",
        _IN_NTT_FORM,
        meaning.product,
        shapes.multiplied,
        result=Kind.TRANSFORMED,
        schemes=("bfv", "bgv"),
        not_in=_ENCODED_SO.format("mul_plain"),
        absence="has no product with a plaintext that was transformed before",
        is_multiplication=True,
    ),
    _repeatable(
        "mul",
        "The product of two ciphertexts, of three polynomials: neither relinearized nor rescaled.",
        _TWO,
        meaning.product,
        shapes.multiplied,
        is_multiplication=True,
        is_product=True,
        is_default=True,
    ),
    _repeatable(
        "square",
        "The product of a ciphertext with itself, of three polynomials.",
        _ONE,
        meaning.square,
        shapes.squared,
        is_multiplication=True,
        is_product=True,
    ),
    Operation(
        "mul_full",
        "The product of two ciphertexts with all that a level takes: relinearized, in CKKS rescaled, in BGV switched to"
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
        transformed_by="mul",
        is_maintenance=True,
    ),
    Operation(
        "rescale",
        "A ciphertext divided by the last prime of its modulus: one level less, and a smaller scale.",
        _ONE,
        meaning.same,
        shapes.rescaled,
        schemes=("ckks",),
        not_in="BFV and BGV have no scale: use mod_switch",
        transformed_by="mul_plain",
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
    _repeatable(
        "rotate",
        "Slots turned by some steps within each row, with one key: an automorphism and a key switching.",
        _ONE,
        meaning.rotated,
        shapes.turned,
        argument=operation.STEPS,
        keys=keys_of_steps,
        is_rotation=True,
        is_default=True,
    ),
    _repeatable(
        "rotate_columns",
        "The two rows of slots swapped.",
        _ONE,
        meaning.columns_rotated,
        shapes.turned,
        schemes=("bfv", "bgv"),
        not_in="CKKS slots form one row, not two",
        keys=lambda: keys_of_elements(-1),
        is_rotation=True,
        is_default=True,
    ),
    Operation(
        "rotate_hoisted",
        "One ciphertext rotated by several steps at once: what they share is computed once, and each has a result.",
        _ONE,
        meaning.rotated_to_many,
        shapes.turned,
        result=Kind.CIPHERTEXTS,
        absence="has no call that decomposes a ciphertext once for several rotations",
        argument=operation.SEVERAL_STEPS,
        keys=keys_of_steps,
        is_rotation=True,
        is_managed=True,
    ),
    _repeatable(
        "substitute",
        "The automorphism X → X^k of a Galois element k: slots change places as the library orders them.",
        _ONE,
        meaning.substituted,
        shapes.turned,
        absence="has no call for an automorphism of one's own choice",
        argument=operation.ELEMENT,
        keys=keys_of_elements,
        is_rotation=True,
    ),
    _repeatable(
        "conjugate",
        "Every slot conjugated; real values stay.",
        _ONE,
        meaning.same,
        shapes.turned,
        schemes=("ckks",),
        not_in="BFV and BGV slots are integers: there is nothing to conjugate",
        absence="has no call that conjugates",
        keys=lambda: keys_of_elements(-1),
        is_rotation=True,
    ),
    _repeatable(
        "add_scalar",
        "The sum of a ciphertext and one number, in every slot.",
        _ONE,
        meaning.total,
        absence=_NO_SCALAR,
        argument=operation.SCALAR,
    ),
    Operation(
        "mul_scalar",
        "The product of a ciphertext and one number, in every slot; CKKS encodes it at the default scale.",
        _ONE,
        meaning.product,
        shapes.multiplied_by_number,
        absence=_NO_SCALAR,
        argument=operation.SCALAR,
        is_multiplication=True,
        is_managed=True,
    ),
    Operation(
        "weighted_sum",
        "The sum of as many ciphertexts, each times a number of its own; CKKS encodes these at the default scale.",
        (Kind.CIPHERTEXT, Kind.NUMBER),
        meaning.weighted_sum,
        shapes.weighted_sum,
        absence="has no call for a sum of products with numbers",
        argument=operation.COUNT,
        is_multiplication=True,
    ),
    _repeatable(
        "mul_monomial",
        "The product of a ciphertext and X^k: its coefficients shifted, and no noise added.",
        _ONE,
        meaning.shifted,
        schemes=("bfv", "bgv"),
        not_in="slots of a product with X^k are complex",
        absence="has no call for a product with X^k",
        argument=operation.EXPONENT,
    ),
    Operation(
        "add_many",
        "The sum of many ciphertexts in one call.",
        (Kind.CIPHERTEXT,),
        meaning.total_of_many,
        shapes.added_many,
        absence="has no call that adds more than two ciphertexts",
        argument=operation.COUNT,
    ),
    Operation(
        "encode",
        "A vector of values encoded as a plaintext, at the top level and the default scale.",
        (Kind.VECTOR,),
        meaning.same,
        shapes.encoded,
        result=Kind.PLAINTEXT,
        absence="has no plaintext objects: its operations encode their operands",
    ),
    Operation(
        "encode_at_level",
        "A vector of values encoded as a plaintext, at the level of a ciphertext and the default scale.",
        (Kind.VECTOR, Kind.CIPHERTEXT),
        meaning.same,
        shapes.encoded_at,
        result=Kind.PLAINTEXT,
        schemes=("ckks",),
        not_in="encodings of BFV and BGV are measured at the top level: use encode",
        absence="has no call that encodes at a lower level",
    ),
    Operation(
        "encode_coefficients",
        "A vector encoded as the coefficients of a plaintext: slots get the values of that polynomial.",
        (Kind.VECTOR,),
        coefficients.slots_of,
        shapes.encoded,
        result=Kind.PLAINTEXT,
        schemes=("bfv", "bgv"),
        not_in="coefficients of CKKS are rounded multiples of a scale: use encode",
        absence="has no call that takes the coefficients of a plaintext: encode their slots",
    ),
    Operation(
        "transform_plain",
        "An encoded plaintext brought to NTT form, at the level of a ciphertext.",
        (Kind.PLAINTEXT, Kind.CIPHERTEXT),
        meaning.same,
        shapes.placed,
        result=Kind.NTT_PLAINTEXT,
        schemes=("bfv", "bgv"),
        not_in="CKKS encodes to NTT form",
        absence="has no call that transforms a plaintext apart from other operations",
    ),
    Operation(
        "transform_ciphertext",
        "A ciphertext brought to NTT form.",
        _ONE,
        meaning.same,
        result=Kind.TRANSFORMED,
        schemes=("bfv",),
        not_in=_KEPT_SO,
        absence="has no call that transforms a ciphertext",
    ),
    Operation(
        "transform_back",
        "A ciphertext brought from NTT form back to its coefficients.",
        (Kind.TRANSFORMED,),
        meaning.same,
        schemes=("bfv",),
        not_in=_KEPT_SO,
        absence="has no call that transforms a ciphertext",
    ),
    Operation(
        "multiply_accumulate",
        "The inner product of as many ciphertexts and plaintexts, all in NTT form already, not rescaled.",
        (Kind.TRANSFORMED, Kind.NTT_PLAINTEXT),
        meaning.inner_product,
        shapes.accumulated,
        result=Kind.TRANSFORMED,
        absence="has no call for a sum of products with plaintexts",
        argument=operation.COUNT,
        is_multiplication=True,
    ),
    Operation(
        "mul_word",
        "The product of a ciphertext in NTT form and a plaintext of one word of another ciphertext.",
        (Kind.TRANSFORMED, Kind.WORDS),
        words.multiplied,
        words.shape_of_product,
        result=Kind.TRANSFORMED,
        schemes=("bfv",),
        not_in="words are those of ciphertexts in coefficient form: BGV and CKKS keep NTT form",
        absence="gives no access to the coefficients of a ciphertext",
        argument=operation.WORD,
        is_multiplication=True,
    ),
    Operation(
        "key_switch",
        "A ciphertext brought from its secret key to a second one of the same owner.",
        _ONE,
        meaning.same,
        shapes.turned,
        absence="has no call that switches to another secret key",
        keys=lambda: KeyRequest.of(switching=True),
    ),
    Operation(
        "bootstrap",
        "A ciphertext of a low level brought to the top level less the depth that bootstrapping consumes.",
        _ONE,
        meaning.bootstrapped,
        shapes.bootstrapped,
        schemes=("ckks",),
        not_in="bootstrapping of BFV and BGV lowers noise, not levels: no library here has it bound",
        absence="has no bootstrapping that this adapter sets up",
        keys=lambda: KeyRequest.of(relinearization=True, bootstrapping=True),
        operand_level=lambda parameters: parameters.require_bootstrapping().operand_level,
        error=noise_bound.bootstrapped,
    ),
)

OPERATIONS: Mapping[str, Operation] = {row.name: row for row in _ROWS}
