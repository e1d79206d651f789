#include "kernels.hpp"

#include "errors.hpp"
#include "seal/util/polyarithsmallmod.h"
#include <cstdint>
#include <map>

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

void rotate(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const int steps = static_cast<int>(operands.numbers[0]);
    if (evaluator.context().parameters().scheme() == seal::scheme_type::ckks) {
        evaluator.seal().rotate_vector(*operands.ciphertexts[0], steps, evaluator.rotation_keys(), out);
    } else {
        evaluator.seal().rotate_rows(*operands.ciphertexts[0], steps, evaluator.rotation_keys(), out);
    }
}

void rotate_columns(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    evaluator.seal().rotate_columns(*operands.ciphertexts[0], evaluator.rotation_keys(), out);
}

// A number modulo 2N, a power of two.
std::uint32_t modulo_order(const Evaluator &evaluator, double number)
{
    const auto order = static_cast<std::int64_t>(2 * evaluator.context().parameters().poly_modulus_degree());
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(number) & (order - 1));
}

void substitute(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const std::uint32_t element = modulo_order(evaluator, operands.numbers[0]);
    evaluator.seal().apply_galois(*operands.ciphertexts[0], element, evaluator.rotation_keys(), out);
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
    const std::uint32_t exponent = modulo_order(evaluator, operands.numbers[0]);
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

void add_many(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    out = *operands.ciphertexts[0];
    for (std::size_t i = 1; i < operands.ciphertexts.size(); ++i) {
        evaluator.seal().add_inplace(out, *operands.ciphertexts[i]);
    }
}

// Ciphertexts of bfv are transformed for it, and the sum is transformed back.
void multiply_accumulate(const Evaluator &evaluator, const KernelOperands &operands, Ciphertext &out)
{
    const seal::Evaluator &seal = evaluator.seal();
    const bool is_transformed = operands.ciphertexts[0]->is_ntt_form();
    Ciphertext product;
    for (std::size_t i = 0; i < operands.ciphertexts.size(); ++i) {
        Ciphertext &term = i == 0 ? out : product;
        term = *operands.ciphertexts[i];
        if (!is_transformed) {
            seal.transform_to_ntt_inplace(term);
        }
        seal.multiply_plain_inplace(term, *operands.plaintexts.at(i));
        if (i != 0) {
            seal.add_inplace(out, product);
        }
    }
    if (!is_transformed) {
        seal.transform_from_ntt_inplace(out);
    }
}

const std::map<std::string, Kernel> kernels = {
    { "negate", { unary<&seal::Evaluator::negate> } },
    { "add", { add, true } },
    { "sub", { sub } },
    { "mul", { mul, true, true } },
    { "square", { unary_pooled<&seal::Evaluator::square> } },
    { "add_plain", { add_plain } },
    { "sub_plain", { sub_plain } },
    { "mul_plain", { mul_plain } },
    { "relinearize", { relinearize } },
    { "rescale", { unary_pooled<&seal::Evaluator::rescale_to_next> } },
    { "mod_switch", { unary_pooled<&seal::Evaluator::mod_switch_to_next>, false, false, true } },
    { "rotate", { rotate } },
    { "rotate_columns", { rotate_columns } },
    { "substitute", { substitute } },
    { "conjugate", { conjugate } },
    { "mul_monomial", { mul_monomial, false, false, true } },
    { "add_many", { add_many } },
    { "multiply_accumulate", { multiply_accumulate } },
};

} // namespace

const Kernel &kernel_named(const std::string &operation)
{
    const auto found = kernels.find(operation);
    if (found == kernels.end()) {
        throw Unsupported("SEAL's programs have no " + operation);
    }
    return found->second;
}

} // namespace ciphermark
