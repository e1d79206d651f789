#include "key_owner.hpp"

#include <utility>

namespace ciphermark {

using seal::Ciphertext;
using seal::Plaintext;

KeyOwner::KeyOwner(std::shared_ptr<const Context> context)
    : context_(std::move(context)), generator_(context_->seal()),
      decryptor_(context_->seal(), generator_.secret_key())
{
    generator_.create_public_key(public_key_);
    encryptor_.emplace(context_->seal(), public_key_, generator_.secret_key());
}

seal::RelinKeys KeyOwner::relinearization_keys() const
{
    seal::RelinKeys keys;
    generator_.create_relin_keys(keys);
    return keys;
}

seal::GaloisKeys KeyOwner::rotation_keys(const std::vector<std::uint32_t> &elements) const
{
    seal::GaloisKeys keys;
    generator_.create_galois_keys(elements, keys);
    return keys;
}

seal::Serializable<seal::PublicKey> KeyOwner::seeded_public_key() const
{
    return generator_.create_public_key();
}

seal::Serializable<seal::RelinKeys> KeyOwner::seeded_relinearization_keys() const
{
    return generator_.create_relin_keys();
}

seal::Serializable<seal::GaloisKeys> KeyOwner::seeded_rotation_keys(const std::vector<std::uint32_t> &elements) const
{
    return generator_.create_galois_keys(elements);
}

template <class Values>
seal::Serializable<Ciphertext> KeyOwner::encrypt_seeded(const Values &values, double scale) const
{
    Plaintext plain;
    context_->encode(values, { context_->top(), scale }, plain);
    return encryptor_->encrypt_symmetric(plain);
}

void KeyOwner::generate_key_pair() const
{
    seal::KeyGenerator generator(context_->seal());
    seal::PublicKey key;
    generator.create_public_key(key);
}

template <class Values>
CiphertextBound KeyOwner::encrypt(std::vector<std::tuple<Values>> rows, double scale) const
{
    std::vector<Ciphertext> destinations(rows.size());
    for (Ciphertext &destination : destinations) {
        destination.reserve(context_->seal(), context_->top(), 2);
    }
    const Encoding encoding{ context_->top(), scale };
    auto kernel = [this, encoding, plain = Plaintext()](const std::tuple<Values> &row, Ciphertext &out) mutable {
        context_->encode(std::get<0>(row), encoding, plain);
        encryptor_->encrypt(plain, out);
    };
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

template <class Values>
BoundPointer<Values> KeyOwner::decrypt(std::vector<UnaryRow> rows) const
{
    std::vector<Values> destinations(rows.size());
    for (Values &destination : destinations) {
        destination.reserve(context_->parameters().poly_modulus_degree());
    }
    auto kernel = [this, plain = Plaintext()](const UnaryRow &row, Values &out) mutable {
        decryptor_.decrypt(*std::get<0>(row), plain);
        context_->decode(plain, out);
    };
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

int KeyOwner::noise_budget_bits(const Ciphertext &ciphertext) const
{
    return decryptor_.invariant_noise_budget(ciphertext);
}

template seal::Serializable<Ciphertext> KeyOwner::encrypt_seeded(const Integers &, double) const;
template seal::Serializable<Ciphertext> KeyOwner::encrypt_seeded(const Reals &, double) const;
template CiphertextBound KeyOwner::encrypt(std::vector<std::tuple<Integers>>, double) const;
template CiphertextBound KeyOwner::encrypt(std::vector<std::tuple<Reals>>, double) const;
template BoundPointer<Integers> KeyOwner::decrypt(std::vector<UnaryRow>) const;
template BoundPointer<Reals> KeyOwner::decrypt(std::vector<UnaryRow>) const;

} // namespace ciphermark
