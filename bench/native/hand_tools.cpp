#include "hand_tools.hpp"

#include "received.hpp"
#include <algorithm>
#include <utility>

using seal::Ciphertext;
using seal::Plaintext;

namespace {

seal::SEALContext made_context(const Request &request)
{
    seal::EncryptionParameters parameters(request.is_ckks() ? seal::scheme_type::ckks : seal::scheme_type::bfv);
    parameters.set_poly_modulus_degree(request.ring_dimension);
    parameters.set_coeff_modulus(request.primes);
    if (!request.is_ckks()) {
        parameters.set_plain_modulus(request.plain_modulus);
    }
    return seal::SEALContext(parameters, true, seal::sec_level_type::none);
}

std::vector<int> with_powers_of_two(std::vector<int> steps, int half)
{
    for (int step = 1; step < half; step *= 2) {
        steps.insert(steps.end(), { step, -step });
    }
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

} // namespace

Tools::Tools(const Request &request, std::vector<int> steps)
    : request_(request), context_(made_context(request)), generator_(context_), evaluator_(context_)
{
    seal::RelinKeys relinearization_keys;
    seal::GaloisKeys rotation_keys;
    generator_.create_relin_keys(relinearization_keys);
    generator_.create_galois_keys(with_powers_of_two(std::move(steps), request.half()), rotation_keys);
    relinearization_keys_ = received(context_, relinearization_keys);
    rotation_keys_ = received(context_, rotation_keys);
    seal::PublicKey public_key;
    generator_.create_public_key(public_key);
    encryptor_.emplace(context_, public_key);
    if (request.is_ckks()) {
        reals_.emplace(context_);
    } else {
        integers_.emplace(context_);
    }
}

Plaintext Tools::random_plaintext()
{
    Plaintext plain;
    if (request_.is_ckks()) {
        std::uniform_real_distribution<double> real(-0.1, 0.1);
        std::vector<double> values(request_.ring_dimension / 2);
        std::generate(values.begin(), values.end(), [&] { return real(random_); });
        reals_->encode(values, request_.scale, plain);
    } else {
        std::uniform_int_distribution<std::uint64_t> integer(1, request_.plain_modulus - 1);
        std::vector<std::uint64_t> values(request_.ring_dimension);
        std::generate(values.begin(), values.end(), [&] { return integer(random_); });
        integers_->encode(values, plain);
    }
    return plain;
}

Row Tools::encrypted(std::size_t count)
{
    Row rows(count);
    for (Ciphertext &row : rows) {
        Ciphertext encrypted;
        encryptor_->encrypt(random_plaintext(), encrypted);
        row = received(context_, encrypted);
    }
    return rows;
}

const Plaintext &Tools::constant(
    const std::function<std::vector<double>()> &values, const Ciphertext &like, double scale)
{
    if (next_constant_ == constants_.size()) {
        constants_.emplace_back();
        reals_->encode(values(), like.parms_id(), scale, constants_.back());
    }
    return constants_[next_constant_++];
}

const Plaintext &Tools::constant(double value, const Ciphertext &like, double scale)
{
    return constant([&] { return std::vector<double>(request_.ring_dimension / 2, value); }, like, scale);
}

std::size_t Tools::level(const Ciphertext &a) const
{
    return context_.get_context_data(a.parms_id())->chain_index();
}

// Always into another ciphertext: SEAL's form in place copies twice.
void Tools::lower(const Ciphertext &a, std::size_t to, Ciphertext &out)
{
    const Ciphertext *from = &a;
    while (level(*from) > to) {
        evaluator_.mod_switch_to_next(*from, lower_);
        std::swap(lower_, out);
        from = &out;
    }
    if (from != &out) {
        out = a;
    }
}

void Tools::rotate(const Ciphertext &a, int step, Ciphertext &out) const
{
    if (request_.is_ckks()) {
        evaluator_.rotate_vector(a, step, rotation_keys_, out);
    } else {
        evaluator_.rotate_rows(a, step, rotation_keys_, out);
    }
}

void Tools::add_turned(Ciphertext &a, int step)
{
    rotate(a, step, turned_);
    evaluator_.add_inplace(a, turned_);
}

void Tools::sum_in_blocks(Ciphertext &a)
{
    for (int step = 1; step < request_.block; step *= 2) {
        add_turned(a, step);
    }
}

void Tools::sum_of_blocks(Ciphertext &a, int block)
{
    for (int step = block; step < request_.half(); step *= 2) {
        add_turned(a, step);
    }
}

void Tools::shrink(Ciphertext &product) const
{
    if (request_.is_ckks()) {
        evaluator_.rescale_to_next_inplace(product);
    }
    evaluator_.relinearize_inplace(product, relinearization_keys_);
}

void Tools::multiply(Ciphertext &a, const Ciphertext &b) const
{
    evaluator_.multiply_inplace(a, b);
    shrink(a);
}

void Tools::total(Row::const_iterator begin, Row::const_iterator end, Ciphertext &out) const
{
    out = *begin;
    while (++begin != end) {
        evaluator_.add_inplace(out, *begin);
    }
}

void Tools::match(const Ciphertext &a, const Ciphertext &low, Ciphertext &out)
{
    const std::size_t above = level(low) + 1;
    lower(a, above, out);
    const double prime = static_cast<double>(request_.primes[above].value());
    evaluator_.multiply_plain_inplace(out, constant(1.0, out, low.scale() * prime / out.scale()));
    evaluator_.rescale_to_next_inplace(out);
}
