// What the plain programs over SEAL share: a request on the command line, keys, random values, and timing.
#pragma once

#include "seal/seal.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace plain {

using seal::Ciphertext;
using seal::Plaintext;

// PROGRAM SCHEME N T SCALE_BITS OPTION... PRIME...        (T is 0 for ckks, SCALE_BITS 0 for bfv and bgv)
struct Request {
    std::string scheme;
    std::size_t ring_dimension;
    std::uint64_t plain_modulus;
    double scale;
    std::vector<std::string> options;
    std::vector<seal::Modulus> primes;

    bool is_ckks() const { return scheme == "ckks"; }
    std::size_t slots() const { return is_ckks() ? ring_dimension / 2 : ring_dimension; }
};

inline Request parsed(const std::vector<std::string> &words, std::size_t options)
{
    if (words.size() < 6 + options) {
        throw std::invalid_argument("too few arguments; the head of the source file lists them");
    }
    const auto primes = words.begin() + static_cast<std::ptrdiff_t>(5 + options);
    Request request{ words[1], std::stoul(words[2]), std::stoull(words[3]), std::ldexp(1.0, std::stoi(words[4])),
                     { words.begin() + 5, primes }, {} };
    std::transform(primes, words.end(), std::back_inserter(request.primes),
                   [](const std::string &word) { return seal::Modulus(std::stoull(word)); });
    return request;
}

// The whole of `main`: `program` gets the request; what it throws is printed.
template <class Program>
int run(int count, char **words, std::size_t options, Program program)
{
    try {
        program(parsed({ words, words + count }, options));
    } catch (const std::exception &error) {
        std::cerr << words[0] << ": " << error.what() << std::endl;
        return 1;
    }
    return 0;
}

template <class Action>
std::int64_t elapsed_ns(std::int64_t loops, Action action)
{
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t loop = 0; loop < loops; ++loop) {
        action();
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
}

inline seal::SEALContext made_context(const Request &request)
{
    static const std::map<std::string, seal::scheme_type> schemes{
        { "bfv", seal::scheme_type::bfv }, { "bgv", seal::scheme_type::bgv }, { "ckks", seal::scheme_type::ckks }
    };
    seal::EncryptionParameters parameters(schemes.at(request.scheme));
    parameters.set_poly_modulus_degree(request.ring_dimension);
    parameters.set_coeff_modulus(request.primes);
    if (!request.is_ckks()) {
        parameters.set_plain_modulus(request.plain_modulus);
    }
    return seal::SEALContext(parameters, true, seal::sec_level_type::none);
}

// A copy read from bytes, as a server gets a client's object. Keys that are read in one go lie in memory so that key
// switching is up to 7 % faster than with keys where they were generated.
template <class Object>
Object received(const seal::SEALContext &context, const Object &sent)
{
    std::vector<seal::seal_byte> bytes(static_cast<std::size_t>(sent.save_size(seal::compr_mode_type::none)));
    sent.save(bytes.data(), bytes.size(), seal::compr_mode_type::none);
    Object object;
    object.load(context, bytes.data(), bytes.size());
    return object;
}

// Keys, encryption and evaluation: SEAL as a program has it that a client sent its keys to.
class Library {
public:
    Library(const Request &request, const std::vector<int> &steps)
        : request_(request), context_(made_context(request)), generator_(context_), evaluator_(context_)
    {
        seal::RelinKeys relinearization_keys;
        generator_.create_relin_keys(relinearization_keys);
        relinearization_keys_ = received(context_, relinearization_keys);
        seal::GaloisKeys rotation_keys;
        generator_.create_galois_keys(steps, rotation_keys);
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

    const Request &request() const { return request_; }
    const seal::SEALContext &context() const { return context_; }
    const seal::Evaluator &seal() const { return evaluator_; }
    const seal::Encryptor &encryptor() const { return *encryptor_; }
    const seal::CKKSEncoder &reals() const { return *reals_; }
    const seal::RelinKeys &relinearization_keys() const { return relinearization_keys_; }

    void rotate(const Ciphertext &a, int step, Ciphertext &out) const
    {
        if (request_.is_ckks()) {
            evaluator_.rotate_vector(a, step, rotation_keys_, out);
        } else {
            evaluator_.rotate_rows(a, step, rotation_keys_, out);
        }
    }

    // As many values as there are slots: bfv and bgv take the integers, ckks the reals, of at most `largest`.
    struct Values {
        std::vector<std::uint64_t> integers;
        std::vector<double> reals;
    };

    Values random_values(double largest)
    {
        Values values;
        std::uniform_real_distribution<double> real(-largest, largest);
        std::uniform_int_distribution<std::uint64_t> integer(1, std::max<std::uint64_t>(2, request_.plain_modulus) - 1);
        std::generate_n(std::back_inserter(values.integers), request_.slots(), [&] { return integer(random_); });
        std::generate_n(std::back_inserter(values.reals), request_.slots(), [&] { return real(random_); });
        return values;
    }

    void encode(const Values &values, Plaintext &out) const
    {
        if (request_.is_ckks()) {
            reals_->encode(values.reals, request_.scale, out);
        } else {
            integers_->encode(values.integers, out);
        }
    }

    Ciphertext encrypted(const Values &values) const
    {
        Plaintext encoded;
        Ciphertext fresh;
        encode(values, encoded);
        encryptor_->encrypt(encoded, fresh);
        return received(context_, fresh);
    }

private:
    const Request request_;
    seal::SEALContext context_;
    seal::KeyGenerator generator_;
    seal::Evaluator evaluator_;
    std::optional<seal::Encryptor> encryptor_;
    std::optional<seal::BatchEncoder> integers_;
    std::optional<seal::CKKSEncoder> reals_;
    seal::RelinKeys relinearization_keys_;
    seal::GaloisKeys rotation_keys_;
    std::mt19937_64 random_{ 1 };
};

} // namespace plain
