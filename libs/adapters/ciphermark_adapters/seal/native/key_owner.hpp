// The client: makes the keys, encrypts and decrypts.
#pragma once

#include "bound.hpp"
#include "context.hpp"
#include "evaluator.hpp"
#include "seal/seal.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace ciphermark {

// A Bound refers to its KeyOwner, which must outlive it.
class KeyOwner {
public:
    // Generates secret and public key.
    explicit KeyOwner(std::shared_ptr<const Context> context);

    // Evaluation keys are generated every time, and not held here: they are the largest objects that there are.
    seal::RelinKeys relinearization_keys() const;
    seal::GaloisKeys rotation_keys(const std::vector<std::uint32_t> &elements) const;

    // The same, and a ciphertext of the secret key, whose uniform halves are written as the seed they come from.
    seal::Serializable<seal::PublicKey> seeded_public_key() const;
    seal::Serializable<seal::RelinKeys> seeded_relinearization_keys() const;
    seal::Serializable<seal::GaloisKeys> seeded_rotation_keys(const std::vector<std::uint32_t> &elements) const;
    template <class Values>
    seal::Serializable<seal::Ciphertext> encrypt_seeded(const Values &values, double scale) const;

    // A secret key and its public key, made for nothing but the time that it takes.
    void generate_key_pair() const;

    // Encode and encrypt with the public key, at the top level; `scale` is for ckks.
    template <class Values>
    CiphertextBound encrypt(std::vector<std::tuple<Values>> rows, double scale) const;

    // Decrypt and decode all slots.
    template <class Values>
    BoundPointer<Values> decrypt(std::vector<UnaryRow> rows) const;

    // Bits of noise budget left (bfv, bgv); 0 when none is.
    int noise_budget_bits(const seal::Ciphertext &ciphertext) const;

    const seal::SecretKey &secret_key() const { return generator_.secret_key(); }
    const seal::PublicKey &public_key() const { return public_key_; }

private:
    std::shared_ptr<const Context> context_;
    mutable seal::KeyGenerator generator_; // draws random numbers
    seal::PublicKey public_key_;
    std::optional<seal::Encryptor> encryptor_;
    mutable seal::Decryptor decryptor_; // caches powers of the secret key
};

} // namespace ciphermark
