// The server: computes on ciphertexts with a public key; there is no secret key in here.
#pragma once

#include "bound.hpp"
#include "context.hpp"
#include <memory>
#include <tuple>
#include <vector>

namespace ciphermark::he {

using CiphertextPointer = std::shared_ptr<const Ciphertext>;
using PlaintextPointer = std::shared_ptr<const Plaintext>;

// The operands of one execution. Rows own their operands, so that these outlive the Python handles.
using UnaryRow = std::tuple<CiphertextPointer>;
using BinaryRow = std::tuple<CiphertextPointer, CiphertextPointer>;
using PlainRow = std::tuple<CiphertextPointer, PlaintextPointer>;
using AutomorphismRow = std::tuple<CiphertextPointer, long>; // the exponent k of X → X^k

template <class Number>
using NumberRow = std::tuple<CiphertextPointer, Number>; // in every slot: long in bgv, double in ckks

using CiphertextBound = BoundPointer<Ciphertext>;

// A Bound refers to its Evaluator, which must outlive it.
class Evaluator {
public:
    // `scale` is that of fresh ciphertexts, for ckks.
    Evaluator(std::shared_ptr<const Keys> keys, double scale);

    const std::shared_ptr<const Keys> &keys() const { return keys_; }

    CiphertextBound negate(std::vector<UnaryRow> rows) const;
    CiphertextBound square(std::vector<UnaryRow> rows) const;
    CiphertextBound relinearize(std::vector<UnaryRow> rows) const;
    // To the next smaller ciphertext modulus: mod_switch in bgv, rescale in ckks.
    CiphertextBound mod_down(std::vector<UnaryRow> rows) const;
    // ckks: the same without a change of scale. HElib has no call for it: multiplies by the prime, then divides by it.
    CiphertextBound drop_prime(std::vector<UnaryRow> rows) const;
    CiphertextBound add(std::vector<BinaryRow> rows) const;
    CiphertextBound sub(std::vector<BinaryRow> rows) const;
    CiphertextBound mul(std::vector<BinaryRow> rows) const;
    // Relinearized, and in ckks rescaled.
    CiphertextBound mul_full(std::vector<BinaryRow> rows) const;
    CiphertextBound add_plain(std::vector<PlainRow> rows) const;
    CiphertextBound sub_plain(std::vector<PlainRow> rows) const;
    // bgv, with the plaintext in NTT form: noise grows by up to t.
    CiphertextBound add_plain_ntt(std::vector<PlainRow> rows) const;
    CiphertextBound mul_plain(std::vector<PlainRow> rows) const;
    template <class Number>
    CiphertextBound add_number(std::vector<NumberRow<Number>> rows) const;
    // ckks: with the number as a constant polynomial at the scale of fresh ciphertexts. HElib's own product with a
    // double only notes another scale. bgv's only notes another factor.
    template <class Number>
    CiphertextBound mul_number(std::vector<NumberRow<Number>> rows) const;
    CiphertextBound automorphism(std::vector<AutomorphismRow> rows) const;

private:
    void bring_down(helib::Ctxt &out) const;

    // ckks: set HElib's bounds on noise and values to those of a fresh ciphertext, in proportion to the scale. They are
    // sums and products of maxima, soon far above the truth, and HElib would change moduli by them and refuse to decrypt.
    // Below what a change of moduli adds, HElib would multiply at a larger modulus.
    void hold_bounds(helib::Ctxt &out) const;

    // HElib's operations work in place: the kernel gets a copy of the row's first operand. Destinations start as such
    // copies too, so that they have the memory for it.
    template <class Row, class Kernel>
    CiphertextBound in_place(std::vector<Row> rows, Kernel kernel) const;

    CiphertextBound with_constant(std::vector<PlainRow> rows, bool is_negative) const;

    std::shared_ptr<const Keys> keys_;
    double scale_;
    double noise_; // ckks: the noise bound of fresh ciphertexts
};

} // namespace ciphermark::he
