#include "evaluator.hpp"

#include "on_threads.hpp"
#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ciphermark {

using seal::Plaintext;

Evaluator::Evaluator(std::shared_ptr<const Context> context, double scale)
    : context_(std::move(context)), scale_(scale), evaluator_(context_->seal())
{}

void Evaluator::set_relinearization_keys(seal::RelinKeys keys)
{
    relinearization_keys_ = std::move(keys);
}

void Evaluator::add_rotation_key(std::uint32_t element, seal::KSwitchKeys one)
{
    const std::size_t elements = context_->parameters().poly_modulus_degree(); // odd ones below 2N
    if (element % 2 == 0 || element >= 2 * elements || one.data().size() != 1) {
        throw std::invalid_argument("this is not the key of one rotation");
    }
    rotation_keys_.parms_id() = one.parms_id();
    rotation_keys_.data().resize(elements);
    rotation_keys_.data()[seal::GaloisKeys::get_index(element)] = std::move(one.data().front());
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

PlaintextBound Evaluator::encode_coefficients(std::vector<std::tuple<Integers>> rows) const
{
    std::vector<Plaintext> destinations(rows.size());
    return bind(std::move(rows), std::move(destinations), [](const std::tuple<Integers> &row, Plaintext &out) {
        const Integers &values = std::get<0>(row);
        out.resize(values.size());
        std::copy(values.begin(), values.end(), out.data());
    });
}

std::vector<Plaintext> Evaluator::prepared(const std::vector<Constant> &constants, std::size_t threads) const
{
    std::vector<Plaintext> plaintexts(constants.size());
    on_threads(constants.size(), threads, [&](std::size_t i) {
        const Constant &constant = constants[i];
        const Integers values(constant.values, constant.values + constant.count);
        context_->encode(values, { context_->top(), 1.0 }, plaintexts[i]);
        if (constant.level) {
            evaluator_.transform_to_ntt_inplace(plaintexts[i], context_->at(*constant.level));
        }
    });
    return plaintexts;
}

} // namespace ciphermark
