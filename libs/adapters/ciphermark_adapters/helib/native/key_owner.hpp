// The client: makes the keys, encrypts and decrypts.
#pragma once

#include "bound.hpp"
#include "context.hpp"
#include "evaluator.hpp"
#include <memory>
#include <ostream>
#include <tuple>
#include <vector>

namespace ciphermark::he {

// A Bound refers to its KeyOwner, which must outlive it.
class KeyOwner {
public:
    // Generates all keys; automorphisms are exponents k of X → X^k.
    KeyOwner(std::shared_ptr<const Context> context, bool relinearization, const std::vector<long> &automorphisms);

    // Encode and encrypt with the public key, at the top level; `scale` is for ckks.
    template <class Values>
    CiphertextBound encrypt(std::vector<std::tuple<Values>> rows, double scale) const;

    // Decrypt and decode all slots.
    template <class Values>
    BoundPointer<Values> decrypt(std::vector<UnaryRow> rows) const;

    const std::shared_ptr<const Keys> &keys() const { return keys_; }

    void write_secret_key(std::ostream &) const;
    // Encryption key and all key-switching matrices: HElib has one object for them.
    void write_public_key(std::ostream &) const;
    // Key-switching matrices from s² (relinearization), or from s(X^k).
    void write_matrices(std::ostream &, bool relinearization) const;

private:
    std::shared_ptr<const Keys> keys_;
    const helib::SecKey *secret_; // the same object as keys_->key
    double error_ = 1;            // ckks: the error bound that plaintexts declare to keep their scale
};

} // namespace ciphermark::he
