#include "inner_product.hpp"

#include "lazy_sums.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ciphermark {

using seal::Ciphertext;
using seal::Plaintext;

namespace {

bool is_within_bounds(const Evaluator &evaluator, const Ciphertext &a, double scale)
{
    const int bits = evaluator.context().seal().get_context_data(a.parms_id())->total_coeff_modulus_bit_count();
    return !evaluator.context().is_ckks() || (scale > 0 && static_cast<int>(std::log2(scale)) < bits);
}

// The pointers to one polynomial of each ciphertext, at one prime.
std::vector<const std::uint64_t *> places(
    const std::vector<const Ciphertext *> &ciphertexts, std::size_t polynomial, std::size_t offset)
{
    std::vector<const std::uint64_t *> found;
    for (const Ciphertext *ciphertext : ciphertexts) {
        found.push_back(ciphertext->data(polynomial) + offset);
    }
    return found;
}

// Polynomials `first` and the next, if there is one, at the prime whose residues begin at `offset`.
void sum_at(const KernelOperands &operands, std::size_t first, const seal::Modulus &modulus, std::size_t offset, Ciphertext &out)
{
    const std::size_t sums = std::min<std::size_t>(2, out.size() - first);
    const std::size_t last = first + sums - 1;
    const auto a = places(operands.ciphertexts, first, offset), others = places(operands.ciphertexts, last, offset);
    std::vector<const std::uint64_t *> b;
    for (const Plaintext *plaintext : operands.plaintexts) {
        b.push_back(plaintext->data() + offset);
    }
    const std::size_t count = out.poly_modulus_degree();
    const Terms terms{ { a.data(), others.data() }, sums, b.data(), b.size(), count };
    std::uint64_t *const results[2] = { out.data(first) + offset, out.data(last) + offset };
    lazy_sum(modulus, count)(terms, modulus, results);
}

} // namespace

bool are_alike(const Evaluator &evaluator, const KernelOperands &operands)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    const double scale = a.scale() * operands.plaintexts[0]->scale();
    const bool ciphertexts = std::all_of(
        operands.ciphertexts.begin(), operands.ciphertexts.end(), [&](const Ciphertext *other) {
            return other->is_ntt_form() && other->parms_id() == a.parms_id() && other->size() == a.size() &&
                   other->scale() == a.scale() && other->correction_factor() == a.correction_factor();
        });
    return ciphertexts && is_within_bounds(evaluator, a, scale) &&
           std::all_of(operands.plaintexts.begin(), operands.plaintexts.end(), [&](const Plaintext *plaintext) {
               return plaintext->parms_id() == a.parms_id() && plaintext->scale() == operands.plaintexts[0]->scale();
           });
}

void inner_product(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    const seal::SEALContext &context = evaluator.context().seal();
    const auto &moduli = context.get_context_data(a.parms_id())->parms().coeff_modulus();
    const double scale = a.scale() * operands.plaintexts[0]->scale();
    out.resize(context, a.parms_id(), a.size());
    out.is_ntt_form() = true;
    out.correction_factor() = a.correction_factor();
    for (std::size_t j = 0; j < moduli.size(); ++j) {
        for (std::size_t first = 0; first < out.size(); first += 2) {
            sum_at(operands, first, moduli[j], j * out.poly_modulus_degree(), out);
        }
    }
    out.scale() = scale;
    if (out.is_transparent()) {
        throw std::logic_error("result ciphertext is transparent");
    }
}

} // namespace ciphermark
