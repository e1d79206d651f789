// Operations beyond SEAL's first: on many operands, by Galois elements and monomials, and on plaintexts.

#include "evaluator.hpp"
#include "seal/util/polyarithsmallmod.h"
#include <utility>

namespace ciphermark {

using seal::Ciphertext;
using seal::Plaintext;

namespace {

// A number modulo 2N, a power of two.
std::uint32_t modulo_order(const Context &context, int number)
{
    const auto order = static_cast<std::uint32_t>(2 * context.parameters().poly_modulus_degree());
    return static_cast<std::uint32_t>(number) & (order - 1);
}

void shift(const Context &context, const Ciphertext &a, std::size_t exponent, Ciphertext &out)
{
    const auto &moduli = context.seal().get_context_data(a.parms_id())->parms().coeff_modulus();
    const std::size_t degree = a.poly_modulus_degree();
    out.resize(context.seal(), a.parms_id(), a.size());
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

} // namespace

CiphertextBound Evaluator::substitute(std::vector<NumberRow> rows) const
{
    return linear(std::move(rows), [this](const NumberRow &row, Ciphertext &out) {
        evaluator_.apply_galois(
            *std::get<0>(row), modulo_order(*context_, std::get<1>(row)), rotation_keys_, out);
    });
}

CiphertextBound Evaluator::conjugate(std::vector<UnaryRow> rows) const
{
    return linear(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.complex_conjugate(*std::get<0>(row), rotation_keys_, out);
    });
}

CiphertextBound Evaluator::mul_monomial(std::vector<NumberRow> rows) const
{
    return linear(std::move(rows), [this](const NumberRow &row, Ciphertext &out) {
        shift(*context_, *std::get<0>(row), modulo_order(*context_, std::get<1>(row)), out);
    });
}

CiphertextBound Evaluator::add_many(std::vector<ManyRow> rows) const
{
    // SEAL wants its operands side by side: copied here, off the clock.
    std::vector<std::vector<Ciphertext>> copies;
    std::vector<Ciphertext> destinations;
    for (const ManyRow &row : rows) {
        copies.emplace_back();
        for (const CiphertextPointer &operand : std::get<0>(row)) {
            copies.back().push_back(*operand);
        }
        destinations.push_back(room(copies.back().at(0), copies.back().at(0).size()));
    }
    auto kernel = [this](const std::vector<Ciphertext> &operands, Ciphertext &out) {
        evaluator_.add_many(operands, out);
    };
    return bind(std::move(copies), std::move(destinations), std::move(kernel));
}

CiphertextBound Evaluator::multiply_accumulate(std::vector<SumRow> rows) const
{
    std::vector<Ciphertext> destinations;
    for (const SumRow &row : rows) {
        const Ciphertext &first = *std::get<0>(row).at(0);
        destinations.push_back(room(first, first.size()));
    }
    auto kernel = [this, product = Ciphertext()](const SumRow &row, Ciphertext &out) mutable {
        const auto &[ciphertexts, plaintexts] = row;
        const bool is_transformed = ciphertexts[0]->is_ntt_form();
        for (std::size_t i = 0; i < ciphertexts.size(); ++i) {
            Ciphertext &term = i == 0 ? out : product;
            term = *ciphertexts[i];
            if (!is_transformed) {
                evaluator_.transform_to_ntt_inplace(term);
            }
            evaluator_.multiply_plain_inplace(term, *plaintexts.at(i));
            if (i != 0) {
                evaluator_.add_inplace(out, product);
            }
        }
        if (!is_transformed) {
            evaluator_.transform_from_ntt_inplace(out);
        }
    };
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

PlaintextBound Evaluator::transform_plain(std::vector<PlacedRow> rows) const
{
    std::vector<Plaintext> destinations(rows.size());
    return bind(std::move(rows), std::move(destinations), [this](const PlacedRow &row, Plaintext &out) {
        evaluator_.transform_to_ntt(*std::get<0>(row), std::get<1>(row)->parms_id(), out);
    });
}

template <class Values>
PlaintextBound Evaluator::encode(std::vector<std::tuple<Values>> rows, double scale) const
{
    std::vector<Plaintext> destinations(rows.size());
    const Encoding encoding{ context_->top(), scale };
    auto kernel = [this, encoding](const std::tuple<Values> &row, Plaintext &out) {
        context_->encode(std::get<0>(row), encoding, out);
    };
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

template PlaintextBound Evaluator::encode(std::vector<std::tuple<Integers>>, double) const;
template PlaintextBound Evaluator::encode(std::vector<std::tuple<Reals>>, double) const;

} // namespace ciphermark
