// A parameter set that SEAL has accepted, with the encoder of its scheme.
#pragma once

#include "seal/seal.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ciphermark {

using Integers = std::vector<std::uint64_t>; // slots of bfv and bgv
using Reals = std::vector<double>;           // slots of ckks

// SEAL's own 128-bit modulus chain for bfv and bgv, special prime last.
std::vector<std::uint64_t> default_chain(std::size_t ring_dimension);

// A chain of primes of these sizes, in this order.
std::vector<std::uint64_t> create_chain(std::size_t ring_dimension, const std::vector<int> &bits);

// Where a ckks plaintext lives. Plaintexts of bfv and bgv have neither level nor scale.
struct Encoding {
    seal::parms_id_type level;
    double scale;
};

class Context {
public:
    // Throws std::invalid_argument with SEAL's reason. Security is not checked here: Ciphermark does that.
    Context(
        const std::string &scheme, std::size_t ring_dimension, const std::vector<std::uint64_t> &moduli,
        std::uint64_t plain_modulus);

    const seal::SEALContext &seal() const { return seal_; }
    const seal::EncryptionParameters &parameters() const { return seal_.key_context_data()->parms(); }
    bool is_ckks() const { return reals_.has_value(); }
    seal::parms_id_type top() const { return seal_.first_parms_id(); }

    // False for a chain without a special prime: no relinearization and no rotation then.
    bool switches_keys() const { return seal_.using_keyswitching(); }

    // Size in bits of the modulus of a fresh ciphertext.
    int modulus_bits() const { return seal_.first_context_data()->total_coeff_modulus_bit_count(); }

    // The k of X -> X^k that rotates by this many steps, which are not 0.
    std::uint32_t galois_element(int steps) const
    {
        return seal_.key_context_data()->galois_tool()->get_elt_from_step(steps);
    }

    // The parameters of a level; throws std::invalid_argument for a level that the chain does not have.
    seal::parms_id_type at(std::size_t level) const;

    // How many times the ciphertext can still be switched to a smaller modulus.
    std::size_t level(const seal::Ciphertext &ciphertext) const;

    // The residues of a ciphertext in coefficient form: polynomial by polynomial, prime by prime. Throws
    // std::invalid_argument for one in NTT form.
    Integers residues(const seal::Ciphertext &ciphertext) const;

    // The inverse, at a level; throws std::invalid_argument for what is no ciphertext of it.
    seal::Ciphertext from_residues(const Integers &residues, std::size_t level) const;

    void encode(const Integers &values, const Encoding &, seal::Plaintext &out) const
    {
        integers_.value().encode(values, out);
    }
    void encode(const Reals &values, const Encoding &at, seal::Plaintext &out) const
    {
        reals_.value().encode(values, at.level, at.scale, out);
    }
    void decode(const seal::Plaintext &plain, Integers &out) const { integers_.value().decode(plain, out); }
    void decode(const seal::Plaintext &plain, Reals &out) const { reals_.value().decode(plain, out); }

private:
    seal::SEALContext seal_;
    mutable std::optional<seal::BatchEncoder> integers_; // SEAL's encoders are not const-correct
    mutable std::optional<seal::CKKSEncoder> reals_;
};

} // namespace ciphermark
