#include "inner_product.hpp"

#include "lazy_sums.hpp"
#include "weighted_sums.hpp"
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

bool are_one_sort(const std::vector<const Ciphertext *> &ciphertexts)
{
    const Ciphertext &a = *ciphertexts[0];
    return std::all_of(ciphertexts.begin(), ciphertexts.end(), [&](const Ciphertext *other) {
        return other->is_ntt_form() == a.is_ntt_form() && other->parms_id() == a.parms_id() && other->size() == a.size() &&
               other->scale() == a.scale() && other->correction_factor() == a.correction_factor();
    });
}

// A ciphertext as another is, of another scale.
void shape_as(const Evaluator &evaluator, const Ciphertext &a, double scale, Ciphertext &out)
{
    const bool is_ntt_form = a.is_ntt_form();
    const std::uint64_t correction_factor = a.correction_factor();
    out.resize(evaluator.context().seal(), a.parms_id(), a.size());
    out.is_ntt_form() = is_ntt_form;
    out.correction_factor() = correction_factor;
    out.scale() = scale;
}

void require_randomness(const Ciphertext &out)
{
    if (out.is_transparent()) {
        throw std::logic_error("result ciphertext is transparent");
    }
}

const std::vector<seal::Modulus> &moduli_of(const Evaluator &evaluator, const Ciphertext &a)
{
    return evaluator.context().seal().get_context_data(a.parms_id())->parms().coeff_modulus();
}

std::vector<std::uint64_t> residues(const std::vector<std::int64_t> &numbers, const seal::Modulus &prime)
{
    const auto modulus = static_cast<std::int64_t>(prime.value());
    std::vector<std::uint64_t> found;
    for (const std::int64_t number : numbers) {
        const std::int64_t rest = number % modulus;
        found.push_back(static_cast<std::uint64_t>(rest < 0 ? rest + modulus : rest));
    }
    return found;
}

// One polynomial of all results at one prime, whose residues begin at `offset`.
void weigh(
    const KernelOperands &operands, const std::vector<std::uint64_t> &weights, std::size_t polynomial,
    const seal::Modulus &modulus, std::size_t offset, const std::vector<Ciphertext *> &results)
{
    const auto a = places(operands.ciphertexts, polynomial, offset);
    std::vector<const std::uint64_t *> rows;
    std::vector<std::uint64_t *> out;
    for (std::size_t row = 0; row < results.size(); ++row) {
        rows.push_back(weights.data() + row * a.size());
        out.push_back(results[row]->data(polynomial) + offset);
    }
    const WeightedTerms terms{ a.data(), a.size(), rows.data(), rows.size(), results[0]->poly_modulus_degree() };
    weighted_sums(terms, modulus, out.data());
}

} // namespace

bool are_alike(const Evaluator &evaluator, const KernelOperands &operands)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    const double scale = a.scale() * operands.plaintexts[0]->scale();
    return a.is_ntt_form() && are_one_sort(operands.ciphertexts) && is_within_bounds(evaluator, a, scale) &&
           std::all_of(operands.plaintexts.begin(), operands.plaintexts.end(), [&](const Plaintext *plaintext) {
               return plaintext->parms_id() == a.parms_id() && plaintext->scale() == operands.plaintexts[0]->scale();
           });
}

void inner_product(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    const auto &moduli = moduli_of(evaluator, a);
    shape_as(evaluator, a, a.scale() * operands.plaintexts[0]->scale(), out);
    for (std::size_t j = 0; j < moduli.size(); ++j) {
        for (std::size_t first = 0; first < out.size(); first += 2) {
            sum_at(operands, first, moduli[j], j * out.poly_modulus_degree(), out);
        }
    }
    require_randomness(out);
}

void weighted_sum(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    const double scale = a.scale() * evaluator.scale();
    if (!are_one_sort(operands.ciphertexts)) {
        throw std::invalid_argument("parameter mismatch: ciphertexts of a sum are of one level and scale");
    }
    if (!is_within_bounds(evaluator, a, scale)) {
        throw std::invalid_argument("scale out of bounds");
    }
    std::vector<Ciphertext *> results{ &out };
    results.insert(results.end(), operands.further.begin(), operands.further.end());
    for (Ciphertext *result : results) {
        shape_as(evaluator, a, scale, *result);
    }
    const auto &moduli = moduli_of(evaluator, a);
    for (std::size_t j = 0; j < moduli.size(); ++j) {
        const auto weights = residues(operands.numbers, moduli[j]);
        for (std::size_t polynomial = 0; polynomial < out.size(); ++polynomial) {
            weigh(operands, weights, polynomial, moduli[j], j * out.poly_modulus_degree(), results);
        }
    }
    std::for_each(results.begin(), results.end(), [](const Ciphertext *result) { require_randomness(*result); });
}

} // namespace ciphermark
