"""How large the errors of ckks may be by chance in what the contract's tests compute, but for once in 10^10 times."""

from __future__ import annotations

from ciphermark_contract import noise_bound
from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters


def polynomial_of_products(parameters: Parameters, slope: float, products: float) -> float:
    """For p(x) of an encrypted x: ``slope`` ≥ |p′|, and ``products`` the sum of the factors of products in it.

    Each product is rescaled while it has three polynomials, then relinearized.
    """
    each = noise_bound.rescaled_product(parameters) + noise_bound.key_switch(parameters)
    return slope * noise_bound.fresh(parameters) + products * each


def rescaled_product(parameters: Parameters) -> float:
    """For x·y of encrypted x and y in [−1, 1], rescaled while it has three polynomials."""
    return 2 * noise_bound.fresh(parameters) + noise_bound.rescaled_product(parameters)


def of_program(program: Program, amplification: float) -> float:
    """For a program whose inputs and nodes each add the largest error of one of them; a change of any of their slots
    by ε changes a slot of the result by ``amplification``·ε at most.
    """
    each = noise_bound.one_operation(program.parameters, ciphertexts=1)
    return (len(program.inputs) + len(program.nodes)) * amplification * each
