// A parameter set as HElib has it.
#pragma once

#include <cstddef>
#include <helib/helib.h>
#include <memory>
#include <string>
#include <vector>

namespace ciphermark::he {

using Integers = std::vector<long>; // slots of bgv, in HElib's order
using Reals = std::vector<double>;  // slots of ckks, in HElib's order

// An encoded plaintext, in both of HElib's forms: coefficients, and residues at one set of primes.
struct Plaintext {
    helib::EncodedPtxt compact;
    helib::FatEncodedPtxt expanded;
};

class Context {
public:
    // bgv: HElib chooses the primes. All of these throw with HElib's reason.
    static std::shared_ptr<Context> choose(long m, long p, long bits, long columns);

    // A ckks context with the primes that `choose` comes to, without bgv's tables of slots, which take long.
    static std::shared_ptr<Context> foretell(long m, long bits, long columns, long special_bits);

    // What HElib's own JSON format describes: here, a ckks context with primes of our choice.
    static std::shared_ptr<Context> read(const std::string &json);

    // A ckks context without primes, in the same format.
    static std::string describe_bare(long m, long precision);

    explicit Context(std::unique_ptr<const helib::Context> context) : helib_(std::move(context)) {}

    const helib::Context &helib() const { return *helib_; }
    bool is_real() const { return helib_->isCKKS(); }

    std::vector<long> ciphertext_primes() const { return primes(helib_->getCtxtPrimes()); }
    std::vector<long> special_primes() const { return primes(helib_->getSpecialPrimes()); }
    std::vector<long> small_primes() const { return primes(helib_->getSmallPrimes()); }

    // The exponent e of each slot: the slot holds the plaintext's value at the e-th power of one root of unity.
    std::vector<long> slot_exponents() const;

    // The first ciphertext primes, as many as a level leaves; throws for a level that there is not.
    helib::IndexSet primes_of_level(long level) const;

    // ckks: a number in every slot, which is a constant polynomial.
    helib::EncodedPtxt number(double value, double scale) const;

    // ckks: the last prime of a level as a plaintext at that level: the number 1 at a scale as large, without error.
    helib::FatEncodedPtxt last_prime(long level) const;

    // How many of the smaller ciphertext moduli (products of the first ciphertext primes) lie below the
    // ciphertext's, small primes counted, special primes not.
    long level(const helib::Ctxt &ciphertext) const;

    // The bound on values to declare for secret ones, and for results.
    static constexpr double usual_magnitude = 1.0;

    // Encode. For ckks: `scale`; `error`, a bound on what is added by rounding (and by encryption); and the least bound
    // on the values to declare, above 0. Ciphertexts show it: the bound of secret values must not depend on them.
    void encode(
        const Integers &values, double scale, double error, double least_magnitude, helib::EncodedPtxt &out) const;
    void encode(
        const Reals &values, double scale, double error, double least_magnitude, helib::EncodedPtxt &out) const;

    // HElib's bound on the error of rounding to coefficients (ckks).
    double rounding_error() const { return helib_->getEA().getCx().defaultErr(); }

private:
    helib::EncodedPtxt constant(long coefficient, double magnitude, double scale, double error) const;
    std::vector<long> primes(const helib::IndexSet &indices) const;

    std::unique_ptr<const helib::Context> helib_;
};

// Keys of one owner: with the secret key on the client, without it on the server.
struct Keys {
    std::shared_ptr<const Context> context;
    std::unique_ptr<const helib::PubKey> key;

    // ckks: the error bound to declare for a fresh plaintext, so that HElib leaves its scale as it is in two places.
    // Encryption multiplies it by ⌈noise bound of encryption / error bound⌉, and the first key switching multiplies a
    // ciphertext whose noise bound is below 8 · k · √(φ · ln φ · h / 12) (Ctxt::relin_CKKS_adjust, for a dense secret
    // h = φ / 2).
    double scale_keeping_error() const;
};

// HElib's ciphertexts refer to their public key, which must outlive them.
struct Ciphertext {
    explicit Ciphertext(std::shared_ptr<const Keys> owner) : keys(std::move(owner)), ctxt(*keys->key) {}

    // HElib does not tell the number of polynomials; almost all that it writes are their residues, 8 bytes each.
    long polynomials() const;

    std::shared_ptr<const Keys> keys;
    helib::Ctxt ctxt;
};

} // namespace ciphermark::he
