#include "evaluator.hpp"

#include "on_threads.hpp"
#include <algorithm>
#include <stdexcept>
#include <string>
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

template <class Value>
std::vector<Plaintext> Evaluator::prepared(const std::vector<Constant<Value>> &constants, std::size_t threads) const
{
    std::vector<Plaintext> plaintexts(constants.size());
    on_threads(constants.size(), threads, [&](std::size_t i) { prepare(constants[i], plaintexts[i]); });
    return plaintexts;
}

template std::vector<Plaintext> Evaluator::prepared(const std::vector<Constant<std::int64_t>> &, std::size_t) const;
template std::vector<Plaintext> Evaluator::prepared(const std::vector<Constant<double>> &, std::size_t) const;

// Room for all primes is taken at once: SEAL would copy the plaintext to a larger one.
void Evaluator::prepare(const Constant<std::int64_t> &constant, Plaintext &out) const
{
    thread_local Integers values; // kept: all vectors are of one length
    values.assign(constant.values, constant.values + constant.count);
    const std::uint64_t modulus = context_->parameters().plain_modulus().value(); // negative ones are above it, too
    if (std::any_of(values.begin(), values.end(), [modulus](std::uint64_t value) { return value >= modulus; })) {
        throw std::invalid_argument("values must lie in [0, " + std::to_string(modulus) + ")");
    }
    const auto level = constant.level ? context_->at(*constant.level) : seal::parms_id_zero;
    if (constant.level) {
        const auto &parameters = context_->seal().get_context_data(level)->parms();
        out.reserve(parameters.poly_modulus_degree() * parameters.coeff_modulus().size());
    }
    context_->encode(values, { context_->top(), 1.0 }, out);
    if (constant.level) {
        evaluator_.transform_to_ntt_inplace(out, level);
    }
}

void Evaluator::prepare(const Constant<double> &constant, Plaintext &out) const
{
    const Reals values(constant.values, constant.values + constant.count);
    const auto level = constant.level ? context_->at(*constant.level) : context_->top();
    context_->encode(values, { level, constant.scale }, out);
}

} // namespace ciphermark
