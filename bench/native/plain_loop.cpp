// SEAL's operations in a plain loop: what Ciphermark's times are held against.
//
//   plain_loop SCHEME N T SCALE_BITS SETS PRIME...        (T is 0 for ckks, SCALE_BITS 0 for bfv)
//
// Makes keys and SETS operand sets, says "ready", then answers lines "OPERATION SET LOOPS" on standard input with the
// elapsed nanoseconds of the whole loop.

#include "received.hpp"
#include "seal/seal.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using seal::Ciphertext;
using seal::Plaintext;

struct Request {
    bool is_ckks;
    std::size_t ring_dimension;
    std::uint64_t plain_modulus;
    double scale;
    std::size_t sets;
    std::vector<seal::Modulus> primes;
};

// What one execution of any operation needs.
struct Operands {
    std::vector<std::uint64_t> integers; // the values of `plain`: bfv has these,
    std::vector<double> reals;           // ckks those
    Ciphertext a, b;
    Plaintext plain;
    Ciphertext product; // for relinearize
    Ciphertext scaled;  // for rescale
    Ciphertext out;
    Ciphertext encrypted;
};

Request parsed(int count, char **words)
{
    if (count < 7) {
        throw std::invalid_argument("usage: plain_loop SCHEME N T SCALE_BITS SETS PRIME...");
    }
    Request request{
        words[1] == std::string("ckks"),        std::stoul(words[2]), std::stoull(words[3]),
        std::ldexp(1.0, std::stoi(words[4])), std::stoul(words[5]), {}
    };
    for (int i = 6; i < count; ++i) {
        request.primes.emplace_back(std::stoull(words[i]));
    }
    return request;
}

seal::SEALContext made_context(const Request &request)
{
    seal::EncryptionParameters parameters(request.is_ckks ? seal::scheme_type::ckks : seal::scheme_type::bfv);
    parameters.set_poly_modulus_degree(request.ring_dimension);
    parameters.set_coeff_modulus(request.primes);
    if (!request.is_ckks) {
        parameters.set_plain_modulus(request.plain_modulus);
    }
    return seal::SEALContext(parameters, true, seal::sec_level_type::none);
}

class Program {
public:
    explicit Program(const Request &request)
        : request_(request), context_(made_context(request)), generator_(context_), evaluator_(context_)
    {
        generator_.create_relin_keys(made_relinearization_keys_);
        generator_.create_galois_keys(std::vector<int>{ 1 }, made_rotation_keys_);
        relinearization_keys_ = received(context_, made_relinearization_keys_);
        rotation_keys_ = received(context_, made_rotation_keys_);
        seal::PublicKey public_key;
        generator_.create_public_key(public_key);
        encryptor_.emplace(context_, public_key);
        if (request.is_ckks) {
            reals_.emplace(context_);
        } else {
            integers_.emplace(context_);
        }
        for (std::size_t i = 0; i < request.sets; ++i) {
            sets_.push_back(made_operands());
        }
    }

    std::int64_t elapsed_ns(const std::string &operation, std::size_t set, std::int64_t loops)
    {
        return loops_.at(operation)(sets_.at(set), loops);
    }

private:
    template <class Operation>
    static std::int64_t timed(std::int64_t loops, Operation operation)
    {
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t loop = 0; loop < loops; ++loop) {
            operation();
        }
        const auto elapsed = std::chrono::steady_clock::now() - start;
        return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
    }

    void choose_values(Operands &made)
    {
        const auto t = std::max<std::uint64_t>(2, request_.plain_modulus);
        std::uniform_int_distribution<std::uint64_t> integer(1, t - 1);
        std::uniform_real_distribution<double> real(-1.0, 1.0);
        made.integers.resize(request_.ring_dimension);
        made.reals.resize(request_.ring_dimension / 2);
        std::generate(made.integers.begin(), made.integers.end(), [&] { return integer(random_); });
        std::generate(made.reals.begin(), made.reals.end(), [&] { return real(random_); });
    }

    void encode(const Operands &from, Plaintext &out)
    {
        if (request_.is_ckks) {
            reals_->encode(from.reals, request_.scale, out);
        } else {
            integers_->encode(from.integers, out);
        }
    }

    Operands made_operands()
    {
        Operands made;
        choose_values(made);
        encode(made, made.plain);
        encryptor_->encrypt(made.plain, made.encrypted);
        made.b = received(context_, made.encrypted);
        choose_values(made);
        encode(made, made.plain);
        encryptor_->encrypt(made.plain, made.encrypted);
        made.a = received(context_, made.encrypted);
        evaluator_.multiply(made.a, made.b, made.product);
        evaluator_.multiply_plain(made.a, made.plain, made.scaled);
        return made;
    }

    using Loop = std::function<std::int64_t(Operands &, std::int64_t)>;

    const Request request_;
    seal::SEALContext context_;
    seal::KeyGenerator generator_;
    seal::Evaluator evaluator_;
    std::optional<seal::Encryptor> encryptor_;
    std::optional<seal::BatchEncoder> integers_;
    std::optional<seal::CKKSEncoder> reals_;
    seal::RelinKeys made_relinearization_keys_, relinearization_keys_;
    seal::GaloisKeys made_rotation_keys_, rotation_keys_;
    std::mt19937_64 random_{ 1 };
    std::vector<Operands> sets_;
    Plaintext encoded_;

    const std::map<std::string, Loop> loops_{
        { "encrypt", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] {
                 encode(o, encoded_);
                 encryptor_->encrypt(encoded_, o.encrypted);
             });
         } },
        { "add", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] { evaluator_.add(o.a, o.b, o.out); });
         } },
        { "add_plain", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] { evaluator_.add_plain(o.a, o.plain, o.out); });
         } },
        { "mul_plain", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] { evaluator_.multiply_plain(o.a, o.plain, o.out); });
         } },
        { "mul", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] { evaluator_.multiply(o.a, o.b, o.out); });
         } },
        { "relinearize", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] { evaluator_.relinearize(o.product, relinearization_keys_, o.out); });
         } },
        { "rescale", [this](Operands &o, std::int64_t n) {
             return timed(n, [&] { evaluator_.rescale_to_next(o.scaled, o.out); });
         } },
        { "rotate(1)", [this](Operands &o, std::int64_t n) {
             if (request_.is_ckks) {
                 return timed(n, [&] { evaluator_.rotate_vector(o.a, 1, rotation_keys_, o.out); });
             }
             return timed(n, [&] { evaluator_.rotate_rows(o.a, 1, rotation_keys_, o.out); });
         } },
    };
};

void serve(Program &program)
{
    std::cout << "ready" << std::endl;
    std::string operation;
    std::size_t set = 0;
    std::int64_t loops = 0;
    while (std::cin >> operation >> set >> loops) {
        std::cout << program.elapsed_ns(operation, set, loops) << std::endl;
    }
}

} // namespace

int main(int count, char **words)
{
    try {
        Program program(parsed(count, words));
        serve(program);
    } catch (const std::exception &error) {
        std::cerr << "plain_loop: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
