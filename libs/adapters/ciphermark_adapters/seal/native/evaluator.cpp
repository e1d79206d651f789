#include "evaluator.hpp"

#include <utility>

namespace ciphermark {

using seal::Plaintext;

Evaluator::Evaluator(
    std::shared_ptr<const Context> context, seal::RelinKeys relinearization_keys, seal::GaloisKeys rotation_keys)
    : context_(std::move(context)), evaluator_(context_->seal()),
      relinearization_keys_(std::move(relinearization_keys)), rotation_keys_(std::move(rotation_keys))
{}

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

Plaintext Evaluator::transformed(const Plaintext &plaintext, std::size_t level) const
{
    Plaintext result;
    evaluator_.transform_to_ntt(plaintext, context_->at(level), result);
    return result;
}

} // namespace ciphermark
