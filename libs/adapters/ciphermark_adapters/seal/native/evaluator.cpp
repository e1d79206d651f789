#include "evaluator.hpp"

#include <utility>

namespace ciphermark {

using seal::Ciphertext;

Evaluator::Evaluator(
    std::shared_ptr<const Context> context, seal::RelinKeys relinearization_keys, seal::GaloisKeys rotation_keys)
    : context_(std::move(context)), evaluator_(context_->seal()),
      relinearization_keys_(std::move(relinearization_keys)), rotation_keys_(std::move(rotation_keys))
{}

Ciphertext Evaluator::room(const Ciphertext &like, std::size_t polynomials) const
{
    Ciphertext result;
    result.reserve(context_->seal(), like.parms_id(), polynomials);
    return result;
}

template <class Row, class Kernel>
CiphertextBound Evaluator::quadratic(std::vector<Row> rows, Kernel kernel) const
{
    std::vector<Ciphertext> destinations;
    for (const Row &row : rows) {
        destinations.push_back(room(*std::get<0>(row), 2 * std::get<0>(row)->size() - 1));
    }
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

CiphertextBound Evaluator::negate(std::vector<UnaryRow> rows) const
{
    return linear(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.negate(*std::get<0>(row), out);
    });
}

CiphertextBound Evaluator::square(std::vector<UnaryRow> rows) const
{
    return quadratic(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.square(*std::get<0>(row), out);
    });
}

CiphertextBound Evaluator::relinearize(std::vector<UnaryRow> rows) const
{
    return linear(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.relinearize(*std::get<0>(row), relinearization_keys_, out);
    });
}

CiphertextBound Evaluator::rescale(std::vector<UnaryRow> rows) const
{
    return linear(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.rescale_to_next(*std::get<0>(row), out);
    });
}

CiphertextBound Evaluator::mod_switch(std::vector<UnaryRow> rows) const
{
    return linear(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.mod_switch_to_next(*std::get<0>(row), out);
    });
}

CiphertextBound Evaluator::rotate_columns(std::vector<UnaryRow> rows) const
{
    return linear(std::move(rows), [this](const UnaryRow &row, Ciphertext &out) {
        evaluator_.rotate_columns(*std::get<0>(row), rotation_keys_, out);
    });
}

CiphertextBound Evaluator::add(std::vector<BinaryRow> rows) const
{
    return linear(std::move(rows), [this](const BinaryRow &row, Ciphertext &out) {
        evaluator_.add(*std::get<0>(row), *std::get<1>(row), out);
    });
}

CiphertextBound Evaluator::sub(std::vector<BinaryRow> rows) const
{
    return linear(std::move(rows), [this](const BinaryRow &row, Ciphertext &out) {
        evaluator_.sub(*std::get<0>(row), *std::get<1>(row), out);
    });
}

CiphertextBound Evaluator::mul(std::vector<BinaryRow> rows) const
{
    return quadratic(std::move(rows), [this](const BinaryRow &row, Ciphertext &out) {
        evaluator_.multiply(*std::get<0>(row), *std::get<1>(row), out);
    });
}

CiphertextBound Evaluator::add_plain(std::vector<PlainRow> rows) const
{
    return linear(std::move(rows), [this](const PlainRow &row, Ciphertext &out) {
        evaluator_.add_plain(*std::get<0>(row), *std::get<1>(row), out);
    });
}

CiphertextBound Evaluator::sub_plain(std::vector<PlainRow> rows) const
{
    return linear(std::move(rows), [this](const PlainRow &row, Ciphertext &out) {
        evaluator_.sub_plain(*std::get<0>(row), *std::get<1>(row), out);
    });
}

CiphertextBound Evaluator::mul_plain(std::vector<PlainRow> rows) const
{
    return linear(std::move(rows), [this](const PlainRow &row, Ciphertext &out) {
        evaluator_.multiply_plain(*std::get<0>(row), *std::get<1>(row), out);
    });
}

CiphertextBound Evaluator::rotate(std::vector<NumberRow> rows) const
{
    if (context_->parameters().scheme() == seal::scheme_type::ckks) {
        return linear(std::move(rows), [this](const NumberRow &row, Ciphertext &out) {
            evaluator_.rotate_vector(*std::get<0>(row), std::get<1>(row), rotation_keys_, out);
        });
    }
    return linear(std::move(rows), [this](const NumberRow &row, Ciphertext &out) {
        evaluator_.rotate_rows(*std::get<0>(row), std::get<1>(row), rotation_keys_, out);
    });
}

seal::Plaintext Evaluator::transformed(const seal::Plaintext &plaintext, std::size_t level) const
{
    seal::Plaintext result;
    evaluator_.transform_to_ntt(plaintext, context_->at(level), result);
    return result;
}

} // namespace ciphermark
