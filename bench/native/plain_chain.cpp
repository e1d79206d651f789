// A chain of operations as a program of SEAL alone would have it: what Ciphermark's peak memory is held against.
//
//   plain_chain SCHEME N T SCALE_BITS OPERATION REPETITIONS STYLE PRIME...   (T is 0 for ckks, SCALE_BITS 0 for bgv)
//
// OPERATION is add or mul; a product is relinearized, then rescaled (ckks) or switched to the next modulus (bgv).
// STYLE is new, where every call's result is a new ciphertext, or in-place.

#include "seal/seal.h"
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using seal::Ciphertext;
using seal::Plaintext;

struct Request {
    bool is_ckks;
    std::size_t ring_dimension;
    std::uint64_t plain_modulus;
    double scale;
    bool is_mul;
    int repetitions;
    bool is_in_place;
    std::vector<seal::Modulus> primes;
};

Request parsed(int count, char **words)
{
    if (count < 9) {
        throw std::invalid_argument("usage: plain_chain SCHEME N T SCALE_BITS OPERATION REPETITIONS STYLE PRIME...");
    }
    Request request{
        words[1] == std::string("ckks"),
        std::stoul(words[2]),
        std::stoull(words[3]),
        std::ldexp(1.0, std::stoi(words[4])),
        words[5] == std::string("mul"),
        std::stoi(words[6]),
        words[7] == std::string("in-place"),
        {}};
    for (int i = 8; i < count; ++i) {
        request.primes.emplace_back(std::stoull(words[i]));
    }
    return request;
}

seal::SEALContext made_context(const Request &request)
{
    seal::EncryptionParameters parameters(request.is_ckks ? seal::scheme_type::ckks : seal::scheme_type::bgv);
    parameters.set_poly_modulus_degree(request.ring_dimension);
    parameters.set_coeff_modulus(request.primes);
    if (!request.is_ckks) {
        parameters.set_plain_modulus(request.plain_modulus);
    }
    return seal::SEALContext(parameters, true, seal::sec_level_type::none);
}

Plaintext encoded(const Request &request, const seal::SEALContext &context)
{
    Plaintext plain;
    if (request.is_ckks) {
        seal::CKKSEncoder(context).encode(std::vector<double>(16, 0.95), request.scale, plain);
    } else {
        seal::BatchEncoder(context).encode(std::vector<std::uint64_t>(16, 3), plain);
    }
    return plain;
}

class Chain {
public:
    Chain(const Request &request, const seal::SEALContext &context, const seal::RelinKeys &keys)
        : request_(request), evaluator_(context), keys_(keys)
    {}

    void multiply(Ciphertext &x, const Ciphertext &y) const
    {
        if (request_.is_in_place) {
            evaluator_.multiply_inplace(x, y);
            evaluator_.relinearize_inplace(x, keys_);
            shrink(x, true);
            return;
        }
        Ciphertext product;
        evaluator_.multiply(x, y, product);
        Ciphertext relinearized;
        evaluator_.relinearize(product, keys_, relinearized);
        Ciphertext result;
        if (request_.is_ckks) {
            evaluator_.rescale_to_next(relinearized, result);
        } else {
            evaluator_.mod_switch_to_next(relinearized, result);
        }
        x = std::move(result);
    }

    void add(Ciphertext &x, const Ciphertext &y) const
    {
        if (request_.is_in_place) {
            evaluator_.add_inplace(x, y);
            return;
        }
        Ciphertext sum;
        evaluator_.add(x, y, sum);
        x = std::move(sum);
    }

    // Brings the other operand to the level that x has now.
    void follow(Ciphertext &y) const
    {
        if (request_.is_in_place) {
            shrink(y, false);
            return;
        }
        Ciphertext lower;
        evaluator_.mod_switch_to_next(y, lower);
        y = std::move(lower);
    }

private:
    void shrink(Ciphertext &ciphertext, bool is_product) const
    {
        if (is_product && request_.is_ckks) {
            evaluator_.rescale_to_next_inplace(ciphertext);
        } else {
            evaluator_.mod_switch_to_next_inplace(ciphertext);
        }
    }

    const Request &request_;
    seal::Evaluator evaluator_;
    const seal::RelinKeys &keys_;
};

void run(const Request &request)
{
    const seal::SEALContext context = made_context(request);
    seal::KeyGenerator generator(context);
    seal::PublicKey public_key;
    generator.create_public_key(public_key);
    seal::RelinKeys keys;
    if (request.is_mul) {
        generator.create_relin_keys(keys);
    }
    const seal::Encryptor encryptor(context, public_key);
    const Chain chain(request, context, keys);
    const Plaintext plain = encoded(request, context);
    Ciphertext x;
    Ciphertext y;
    encryptor.encrypt(plain, x);
    encryptor.encrypt(plain, y);
    for (int i = 0; i < request.repetitions; ++i) {
        if (!request.is_mul) {
            chain.add(x, y);
            continue;
        }
        if (i > 0) {
            chain.follow(y);
        }
        chain.multiply(x, y);
    }
}

} // namespace

int main(int count, char **words)
{
    try {
        run(parsed(count, words));
    } catch (const std::exception &error) {
        std::cerr << "plain_chain: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
