#include "context.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ciphermark {

namespace {

seal::scheme_type scheme_named(const std::string &name)
{
    if (name == "bfv") {
        return seal::scheme_type::bfv;
    }
    if (name == "bgv") {
        return seal::scheme_type::bgv;
    }
    if (name == "ckks") {
        return seal::scheme_type::ckks;
    }
    throw std::invalid_argument("unknown scheme " + name);
}

seal::EncryptionParameters encryption_parameters(
    seal::scheme_type scheme, std::size_t ring_dimension, const std::vector<std::uint64_t> &moduli,
    std::uint64_t plain_modulus)
{
    seal::EncryptionParameters parameters(scheme);
    parameters.set_poly_modulus_degree(ring_dimension);
    parameters.set_coeff_modulus(std::vector<seal::Modulus>(moduli.begin(), moduli.end()));
    if (scheme != seal::scheme_type::ckks) {
        parameters.set_plain_modulus(plain_modulus);
    }
    return parameters;
}

std::vector<std::uint64_t> values(const std::vector<seal::Modulus> &chain)
{
    std::vector<std::uint64_t> primes;
    for (const seal::Modulus &modulus : chain) {
        primes.push_back(modulus.value());
    }
    return primes;
}

} // namespace

std::vector<std::uint64_t> default_chain(std::size_t ring_dimension)
{
    return values(seal::CoeffModulus::BFVDefault(ring_dimension));
}

std::vector<std::uint64_t> create_chain(std::size_t ring_dimension, const std::vector<int> &bits)
{
    return values(seal::CoeffModulus::Create(ring_dimension, bits));
}

Context::Context(
    const std::string &scheme, std::size_t ring_dimension, const std::vector<std::uint64_t> &moduli,
    std::uint64_t plain_modulus)
    : seal_(
          encryption_parameters(scheme_named(scheme), ring_dimension, moduli, plain_modulus), true,
          seal::sec_level_type::none)
{
    if (!seal_.parameters_set()) {
        throw std::invalid_argument(seal_.parameter_error_message());
    }
    if (parameters().scheme() == seal::scheme_type::ckks) {
        reals_.emplace(seal_);
    } else {
        integers_.emplace(seal_);
    }
}

seal::parms_id_type Context::at(std::size_t level) const
{
    auto data = seal_.first_context_data();
    while (data && data->chain_index() > level) {
        data = data->next_context_data();
    }
    if (!data || data->chain_index() != level) {
        throw std::invalid_argument("the modulus chain has no level " + std::to_string(level));
    }
    return data->parms_id();
}

std::size_t Context::level(const seal::Ciphertext &ciphertext) const
{
    const auto data = seal_.get_context_data(ciphertext.parms_id());
    if (!data) {
        throw std::invalid_argument("the ciphertext does not belong to this parameter set");
    }
    return data->chain_index();
}

Integers Context::residues(const seal::Ciphertext &ciphertext) const
{
    level(ciphertext);
    if (ciphertext.is_ntt_form()) {
        throw std::invalid_argument("a ciphertext in NTT form has no coefficients");
    }
    return Integers(ciphertext.dyn_array().cbegin(), ciphertext.dyn_array().cend());
}

seal::Ciphertext Context::from_residues(const Integers &residues, std::size_t level) const
{
    const seal::parms_id_type place = at(level);
    const std::size_t words = seal_.get_context_data(place)->parms().coeff_modulus().size() *
                              parameters().poly_modulus_degree();
    seal::Ciphertext ciphertext(seal_, place);
    ciphertext.resize(residues.size() / words);
    ciphertext.is_ntt_form() = false;
    if (ciphertext.dyn_array().size() != residues.size()) {
        throw std::invalid_argument("a ciphertext of this level has another number of coefficients");
    }
    std::copy(residues.begin(), residues.end(), ciphertext.data());
    if (!seal::is_valid_for(ciphertext, seal_)) {
        throw std::invalid_argument("no ciphertext has these coefficients");
    }
    return ciphertext;
}

} // namespace ciphermark
