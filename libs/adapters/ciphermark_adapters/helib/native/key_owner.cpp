#include "key_owner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ciphermark::he {

namespace {

void read_slots(const helib::Context &context, const helib::SecKey &key, const helib::Ctxt &ctxt, Integers &out)
{
    context.getView().decrypt(ctxt, key, out);
}

void read_slots(const helib::Context &context, const helib::SecKey &key, const helib::Ctxt &ctxt, Reals &out)
{
    context.getView().rawDecrypt(ctxt, key, out);
}

} // namespace

KeyOwner::KeyOwner(
    std::shared_ptr<const Context> context, bool relinearization, const std::vector<long> &automorphisms)
{
    auto secret = std::make_unique<helib::SecKey>(context->helib());
    secret->GenSecKey(0, relinearization ? 2 : 1); // by default HElib makes a matrix for s³ too
    for (long k : automorphisms) {
        secret->GenKeySWmatrix(1, k);
    }
    secret->setKeySwitchMap();
    secret_ = secret.get();
    keys_ = std::make_shared<Keys>(Keys{ std::move(context), std::move(secret) });
    if (keys_->context->is_real()) {
        error_ = keys_->scale_keeping_error();
    }
}

template <class Values>
CiphertextBound KeyOwner::encrypt(std::vector<std::tuple<Values>> rows, double scale) const
{
    std::vector<Ciphertext> destinations(rows.size(), Ciphertext(keys_));
    auto kernel = [this, scale, plain = helib::EncodedPtxt()](const std::tuple<Values> &row, Ciphertext &out) mutable {
        keys_->context->encode(std::get<0>(row), scale, error_, Context::usual_magnitude, plain);
        keys_->key->PubKey::Encrypt(out.ctxt, plain); // not SecKey's, which encrypts with the secret key
    };
    return bind(std::move(rows), std::move(destinations), std::move(kernel));
}

template <class Values>
BoundPointer<Values> KeyOwner::decrypt(std::vector<UnaryRow> rows) const
{
    std::vector<Values> destinations(rows.size());
    return bind(std::move(rows), std::move(destinations), [this](const UnaryRow &row, Values &out) {
        read_slots(keys_->context->helib(), *secret_, std::get<0>(row)->ctxt, out);
    });
}

void KeyOwner::write_secret_key(std::ostream &stream) const
{
    secret_->writeTo(stream, /*sk_only=*/true);
}

void KeyOwner::write_public_key(std::ostream &stream) const
{
    secret_->PubKey::writeTo(stream);
}

void KeyOwner::write_matrices(std::ostream &stream, bool relinearization) const
{
    for (const helib::KeySwitch &matrix : secret_->keySWlist()) {
        if ((matrix.fromKey.getPowerOfS() == 2) == relinearization) {
            matrix.writeTo(stream);
        }
    }
}

template CiphertextBound KeyOwner::encrypt(std::vector<std::tuple<Integers>>, double) const;
template CiphertextBound KeyOwner::encrypt(std::vector<std::tuple<Reals>>, double) const;
template BoundPointer<Integers> KeyOwner::decrypt(std::vector<UnaryRow>) const;
template BoundPointer<Reals> KeyOwner::decrypt(std::vector<UnaryRow>) const;

} // namespace ciphermark::he
