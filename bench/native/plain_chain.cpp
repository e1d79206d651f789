// A chain of products as a program of SEAL alone would have it: what Ciphermark's peak memory is held against.
//
//   plain_chain SCHEME N T SCALE_BITS REPETITIONS STYLE PRIME...
//
// A product is relinearized, then rescaled (ckks) or switched to the next modulus (bgv). STYLE is new, where every
// call's result is a new ciphertext, or in-place.

#include "plain.hpp"
#include <utility>

namespace {

using plain::Ciphertext;

plain::Plaintext encoded(const plain::Request &request, const seal::SEALContext &context)
{
    plain::Plaintext message;
    if (request.is_ckks()) {
        seal::CKKSEncoder(context).encode(std::vector<double>(16, 0.95), request.scale, message);
    } else {
        seal::BatchEncoder(context).encode(std::vector<std::uint64_t>(16, 3), message);
    }
    return message;
}

void multiply_in_place(
    const seal::Evaluator &seal, const seal::RelinKeys &keys, bool is_ckks, Ciphertext &x, const Ciphertext &y)
{
    seal.multiply_inplace(x, y);
    seal.relinearize_inplace(x, keys);
    if (is_ckks) {
        seal.rescale_to_next_inplace(x);
    } else {
        seal.mod_switch_to_next_inplace(x);
    }
}

void multiply_again(
    const seal::Evaluator &seal, const seal::RelinKeys &keys, bool is_ckks, Ciphertext &x, const Ciphertext &y)
{
    Ciphertext product, relinearized, result;
    seal.multiply(x, y, product);
    seal.relinearize(product, keys, relinearized);
    if (is_ckks) {
        seal.rescale_to_next(relinearized, result);
    } else {
        seal.mod_switch_to_next(relinearized, result);
    }
    x = std::move(result);
}

// Brings the other operand to the level of the product.
void lower(const seal::Evaluator &seal, bool is_in_place, Ciphertext &y)
{
    if (is_in_place) {
        seal.mod_switch_to_next_inplace(y);
        return;
    }
    Ciphertext lowered;
    seal.mod_switch_to_next(y, lowered);
    y = std::move(lowered);
}

void execute(const plain::Request &request)
{
    const bool is_in_place = request.options[1] == "in-place";
    const auto multiply = is_in_place ? multiply_in_place : multiply_again;
    const seal::SEALContext context = plain::made_context(request);
    seal::KeyGenerator generator(context);
    seal::PublicKey public_key;
    generator.create_public_key(public_key);
    seal::RelinKeys keys;
    generator.create_relin_keys(keys);
    const seal::Encryptor encryptor(context, public_key);
    const seal::Evaluator seal(context);
    const plain::Plaintext message = encoded(request, context);
    Ciphertext x, y;
    encryptor.encrypt(message, x);
    encryptor.encrypt(message, y);
    for (int i = 0; i < std::stoi(request.options[0]); ++i) {
        if (i > 0) {
            lower(seal, is_in_place, y);
        }
        multiply(seal, keys, request.is_ckks(), x, y);
    }
}

} // namespace

int main(int count, char **words) { return plain::run(count, words, 2, execute); }
