// Inner products of ciphertexts with plaintexts in NTT form, or with numbers: one reduction for many terms.
#pragma once

#include "kernels.hpp"
#include "seal/seal.h"

namespace ciphermark {

// Whether `inner_product` takes these: all in NTT form, of one level, with as many polynomials, one scale, for which
// there is room, and one correction factor.
bool are_alike(const Evaluator &evaluator, const KernelOperands &operands);

// The sum of ciphertexts[i]·plaintexts[i] of operands that are alike: the residues that multiply_plain and add of SEAL
// make of them. `out` may be one of the ciphertexts. Throws, as SEAL does, std::logic_error where it is transparent.
void inner_product(const Evaluator &evaluator, const KernelOperands &operands, seal::Ciphertext &out);

// The sum of ciphertexts[i]·numbers[i], in any form, and as many further results, each with numbers of its own: in ckks these
// are multiples of the evaluator's scale. A single result may be one of the ciphertexts. Throws std::invalid_argument for
// ciphertexts that are not alike and where there is no room for the scale, std::logic_error where a sum is transparent.
void weighted_sum(const Evaluator &evaluator, const KernelOperands &operands, seal::Ciphertext &out);

} // namespace ciphermark
