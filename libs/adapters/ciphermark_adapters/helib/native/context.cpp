#include "context.hpp"

#include <algorithm>
#include <cmath>
#include <helib/norms.h>
#include <sstream>
#include <stdexcept>

namespace ciphermark::he {

std::shared_ptr<Context> Context::choose(long m, long p, long bits, long columns)
{
    helib::ContextBuilder<helib::BGV> builder;
    builder.m(m).p(p).r(1).bits(bits).c(columns);
    return std::make_shared<Context>(std::unique_ptr<const helib::Context>(builder.buildPtr()));
}

std::shared_ptr<Context> Context::foretell(long m, long bits, long columns, long special_bits)
{
    helib::ContextBuilder<helib::CKKS> builder;
    builder.m(m).bits(bits).c(columns).bitsInSpecialPrimes(special_bits);
    return std::make_shared<Context>(std::unique_ptr<const helib::Context>(builder.buildPtr()));
}

std::shared_ptr<Context> Context::read(const std::string &json)
{
    std::istringstream stream(json);
    return std::make_shared<Context>(
        std::unique_ptr<const helib::Context>(helib::Context::readPtrFromJSON(stream)));
}

std::string Context::describe_bare(long m, long precision)
{
    helib::ContextBuilder<helib::CKKS> builder;
    builder.m(m).precision(precision).buildModChain(false);
    std::ostringstream stream;
    std::unique_ptr<const helib::Context>(builder.buildPtr())->writeToJSON(stream);
    return stream.str();
}

std::vector<long> Context::slot_exponents() const
{
    std::vector<long> exponents;
    for (long i = 0; i < helib_->getNSlots(); ++i) {
        exponents.push_back(NTL::InvMod(helib_->getZMStar().ith_rep(i), helib_->getM()));
    }
    return exponents;
}

long Context::level(const helib::Ctxt &ciphertext) const
{
    const helib::IndexSet &primes = helib_->getCtxtPrimes();
    const double modulus = helib_->logOfProduct(ciphertext.getPrimeSet() / helib_->getSpecialPrimes());
    long level = 0;
    while (level + 1 < primes.card() && helib_->logOfProduct(helib_->getCtxtPrimes(level + 1)) < modulus - 0.01) {
        ++level;
    }
    return level;
}

helib::IndexSet Context::primes_of_level(long level) const
{
    if (level < 0 || level >= helib_->getCtxtPrimes().card()) {
        throw std::invalid_argument("HElib's chain has no level " + std::to_string(level));
    }
    return helib_->getCtxtPrimes(level + 1);
}

helib::EncodedPtxt Context::number(double value, double scale) const
{
    const double coefficient = std::round(value * scale);
    if (std::abs(coefficient) >= 0x1p62) {
        throw std::invalid_argument("a number times its scale must be below 2^62");
    }
    const double error = std::abs(coefficient - value * scale);
    return constant(static_cast<long>(coefficient), std::max(std::abs(value), 1 / scale), scale, error);
}

helib::FatEncodedPtxt Context::last_prime(long level) const
{
    const helib::IndexSet primes = primes_of_level(level);
    const long prime = helib_->ithPrime(primes.last());
    helib::FatEncodedPtxt expanded;
    expanded.expand(constant(prime, 1.0, static_cast<double>(prime), 0.0), primes);
    return expanded;
}

helib::EncodedPtxt Context::constant(long coefficient, double magnitude, double scale, double error) const
{
    helib::zzX polynomial;
    polynomial.append(coefficient);
    helib::EncodedPtxt encoded;
    encoded.resetCKKS(polynomial, magnitude, scale, error, *helib_);
    return encoded;
}

void Context::encode(const Integers &values, double, double, double, helib::EncodedPtxt &out) const
{
    helib_->getView().encode(out, values);
}

void Context::encode(
    const Reals &values, double scale, double error, double least_magnitude, helib::EncodedPtxt &out) const
{
    const std::vector<helib::cx_double> slots(values.begin(), values.end());
    helib::zzX polynomial;
    helib::CKKS_embedInSlots(polynomial, slots, helib_->getZMStar(), scale);
    const double magnitude = std::max(least_magnitude, helib::Norm(slots));
    out.resetCKKS(polynomial, magnitude, scale, error, *helib_);
}

double Keys::scale_keeping_error() const
{
    constexpr double probe_error = 0x1p40; // far above any bound on the noise of encryption
    const helib::Context &helib = context->helib();
    helib::EncodedPtxt zero;
    context->encode(Reals(helib.getNSlots()), 1.0, probe_error, Context::usual_magnitude, zero);
    helib::Ctxt encrypted(*key);
    key->PubKey::Encrypt(encrypted, zero);
    const double encryption = NTL::to_double(encrypted.getNoiseBound()) - probe_error;
    const double phi = helib.getPhiM();
    const double key_switching = 8 * helib.getScale() * phi * std::sqrt(std::log(phi) / 24);
    return 1.01 * std::max(encryption, key_switching);
}

long Ciphertext::polynomials() const
{
    std::ostringstream stream;
    ctxt.writeTo(stream);
    const long polynomial_bytes = 8 * ctxt.getPrimeSet().card() * ctxt.getContext().getPhiM();
    return static_cast<long>(stream.tellp()) / polynomial_bytes;
}

std::vector<long> Context::primes(const helib::IndexSet &indices) const
{
    std::vector<long> found;
    for (long i : indices) {
        found.push_back(helib_->ithPrime(i));
    }
    return found;
}

} // namespace ciphermark::he
