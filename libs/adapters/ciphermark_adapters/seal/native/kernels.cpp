#include "kernels.hpp"

#include "errors.hpp"
#include "inner_product.hpp"
#include "seal/util/polyarithsmallmod.h"
#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>

namespace ciphermark {

namespace {

using seal::Ciphertext;

template <void (seal::Evaluator::*function)(const Ciphertext &, Ciphertext &) const>
void unary(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    (evaluator.seal().*function)(*operands.ciphertexts[0], out);
}

template <void (seal::Evaluator::*function)(const Ciphertext &, Ciphertext &, seal::MemoryPoolHandle) const>
void unary_pooled(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    (evaluator.seal().*function)(*operands.ciphertexts[0], out, seal::MemoryManager::GetPool());
}

// SEAL compares scales to the last bits but one: the sum has that of the first operand, whichever is overwritten.
void add(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const double scale = operands.ciphertexts[0]->scale();
    evaluator.seal().add(*operands.ciphertexts[0], *operands.ciphertexts[1], out);
    out.scale() = scale;
}

void sub(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().sub(*operands.ciphertexts[0], *operands.ciphertexts[1], out);
}

void mul(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().multiply(*operands.ciphertexts[0], *operands.ciphertexts[1], out);
}

// What a level costs: SEAL has a call for each part.
void mul_full(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const seal::Evaluator &seal = evaluator.seal();
    mul(evaluator, operands, out);
    seal.relinearize_inplace(out, evaluator.relinearization_keys());
    const seal::scheme_type scheme = evaluator.context().parameters().scheme();
    if (scheme == seal::scheme_type::ckks) {
        seal.rescale_to_next_inplace(out);
    } else if (scheme == seal::scheme_type::bgv) {
        seal.mod_switch_to_next_inplace(out);
    }
}

void add_plain(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().add_plain(*operands.ciphertexts[0], *operands.plaintexts[0], out);
}

void sub_plain(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().sub_plain(*operands.ciphertexts[0], *operands.plaintexts[0], out);
}

void mul_plain(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().multiply_plain(*operands.ciphertexts[0], *operands.plaintexts[0], out);
}

void relinearize(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().relinearize(*operands.ciphertexts[0], evaluator.relinearization_keys(), out);
}

void transform_ciphertext(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().transform_to_ntt(*operands.ciphertexts[0], out);
}

void transform_back(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().transform_from_ntt(*operands.ciphertexts[0], out);
}

void rotate(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const auto turn =
        evaluator.context().is_ckks() ? &seal::Evaluator::rotate_vector : &seal::Evaluator::rotate_rows;
    (evaluator.seal().*turn)(
        *operands.ciphertexts[0], static_cast<int>(operands.numbers[0]), evaluator.rotation_keys(), out,
        seal::MemoryManager::GetPool());
}

void rotate_columns(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().rotate_columns(*operands.ciphertexts[0], evaluator.rotation_keys(), out);
}

// A number modulo 2N, a power of two.
std::uint32_t modulo_order(const Ciphertext &a, std::int64_t number)
{
    return static_cast<std::uint32_t>(number) & static_cast<std::uint32_t>(2 * a.poly_modulus_degree() - 1);
}

void substitute(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    evaluator.seal().apply_galois(a, modulo_order(a, operands.numbers[0]), evaluator.rotation_keys(), out);
}

void conjugate(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().complex_conjugate(*operands.ciphertexts[0], evaluator.rotation_keys(), out);
}

// Every polynomial of a ciphertext in coefficient form (bfv), shifted.
void mul_monomial(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    const seal::SEALContext &context = evaluator.context().seal();
    const auto &moduli = context.get_context_data(a.parms_id())->parms().coeff_modulus();
    const std::size_t degree = a.poly_modulus_degree();
    const std::uint32_t exponent = modulo_order(a, operands.numbers[0]);
    out.resize(context, a.parms_id(), a.size());
    out.is_ntt_form() = a.is_ntt_form();
    out.scale() = a.scale();
    out.correction_factor() = a.correction_factor();
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < moduli.size(); ++j) {
            seal::util::negacyclic_shift_poly_coeffmod(
                a.data(i) + j * degree, degree, exponent, moduli[j], out.data(i) + j * degree);
        }
    }
}

// Step by step what SEAL's own add_many does, which wants its operands side by side.
void add_many(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    out = *operands.ciphertexts[0];
    for (std::size_t i = 1; i < operands.ciphertexts.size(); ++i) {
        evaluator.seal().add_inplace(out, *operands.ciphertexts[i]);
    }
}

// Of operands that differ in scale or correction factor SEAL's own calls make one sum, or say why there is none.
void multiply_accumulate(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    if (are_alike(evaluator, operands)) {
        inner_product(evaluator, operands, out);
        return;
    }
    const seal::Evaluator &seal = evaluator.seal();
    thread_local Ciphertext product; // kept: SEAL fills new memory with zeros
    for (std::size_t i = 0; i < operands.ciphertexts.size(); ++i) {
        Ciphertext &term = i == 0 ? out : product;
        term = *operands.ciphertexts[i];
        seal.multiply_plain_inplace(term, *operands.plaintexts[i]);
        if (i != 0) {
            seal.add_inplace(out, product);
        }
    }
}

// The word of this number of a ciphertext: of polynomials, their primes, and the digits of their residues in base 2^w.
void cut_word(const seal::SEALContext &context, const Ciphertext &a, std::int64_t number, seal::Plaintext &word)
{
    if (a.is_ntt_form()) {
        throw std::invalid_argument("a ciphertext in NTT form has no words");
    }
    const seal::EncryptionParameters &parameters = context.get_context_data(a.parms_id())->parms();
    const std::size_t degree = a.poly_modulus_degree();
    const int bits = parameters.plain_modulus().bit_count() - 1;
    const std::uint64_t *residues = a.data();
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (const seal::Modulus &prime : parameters.coeff_modulus()) {
            const int digits = (prime.bit_count() + bits - 1) / bits;
            if (number >= 0 && number < digits) {
                const std::uint64_t mask = (std::uint64_t(1) << bits) - 1;
                word.parms_id() = seal::parms_id_zero;
                word.resize(degree);
                std::transform(residues, residues + degree, word.data(), [&](std::uint64_t residue) {
                    return (residue >> (number * bits)) & mask;
                });
                return;
            }
            number -= digits;
            residues += degree;
        }
    }
    throw Unsupported("the ciphertext has no word of this number");
}

void mul_word(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const Ciphertext &a = *operands.ciphertexts[0];
    thread_local seal::Plaintext word; // kept: SEAL fills new memory with zeros
    cut_word(evaluator.context().seal(), *operands.ciphertexts[1], operands.numbers[0], word);
    evaluator.seal().transform_to_ntt_inplace(word, a.parms_id());
    evaluator.seal().multiply_plain(a, word, out);
}

constexpr Takes one{ 1 }, two{ 2 }, one_and_plain{ 1, 1 }, one_and_number{ 1, 0, 1 }, two_and_number{ 2, 0, 1 };
constexpr Takes several{ 1, 0, 0, true }, several_and_plain{ 1, 1, 0, true }, several_and_number{ 1, 0, 1, true };

const std::map<std::string, Kernel> kernels = {
    { "negate", { unary<&seal::Evaluator::negate>, one } },
    { "add", { add, two, commutes } },
    { "sub", { sub, two } },
    { "mul", { mul, two, grows | commutes | commutes_in_bgv } },
    { "mul_full", { mul_full, two, grows } },
    { "square", { unary_pooled<&seal::Evaluator::square>, one, grows } },
    { "add_plain", { add_plain, one_and_plain } },
    { "sub_plain", { sub_plain, one_and_plain } },
    { "mul_plain", { mul_plain, one_and_plain } },
    { "mul_plain_ntt", { mul_plain, one_and_plain } },
    { "transform_ciphertext", { transform_ciphertext, one } },
    { "transform_back", { transform_back, one } },
    { "relinearize", { relinearize, one } },
    { "rescale", { unary_pooled<&seal::Evaluator::rescale_to_next>, one } },
    { "mod_switch", { unary_pooled<&seal::Evaluator::mod_switch_to_next>, one, copies_in_place } },
    { "rotate", { rotate, one_and_number } },
    { "rotate_columns", { rotate_columns, one } },
    { "substitute", { substitute, one_and_number } },
    { "conjugate", { conjugate, one } },
    { "mul_monomial", { mul_monomial, one_and_number, copies_in_place } },
    { "mul_word", { mul_word, two_and_number } },
    { "add_many", { add_many, several } },
    { "multiply_accumulate", { multiply_accumulate, several_and_plain } },
    { "weighted_sum", { weighted_sum, several_and_number, in_one_pass } },
};

} // namespace

bool Takes::fits(const KernelOperands &operands) const
{
    const std::size_t times = several ? operands.ciphertexts.size() / ciphertexts : 1;
    const std::size_t results = 1 + operands.further.size();
    return times >= 1 && operands.ciphertexts.size() == times * ciphertexts &&
           operands.plaintexts.size() == times * plaintexts && operands.numbers.size() == times * numbers * results;
}

const Kernel &kernel_named(const std::string &operation)
{
    const auto found = kernels.find(operation);
    if (found == kernels.end()) {
        throw Unsupported("this adapter has no call of SEAL for " + operation);
    }
    return found->second;
}

} // namespace ciphermark
