// What circuits by hand are made of, over SEAL alone: keys, encrypted rows, and what SEAL takes several calls for.
#pragma once

#include "seal/seal.h"
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

using Row = std::vector<seal::Ciphertext>;

struct Request {
    std::string circuit;
    std::size_t ring_dimension;
    std::uint64_t plain_modulus;
    double scale;
    int block;
    std::size_t inputs;
    std::vector<seal::Modulus> primes;

    bool is_ckks() const { return plain_modulus == 0; }
    int half() const { return static_cast<int>(ring_dimension / 2); }
};

// Results go to ciphertexts that the caller keeps, so that their memory is used again in the next execution.
class Tools {
public:
    // `steps` are rotations beside those by powers of two.
    Tools(const Request &request, std::vector<int> steps);

    const Request &request() const { return request_; }
    const seal::Evaluator &seal() const { return evaluator_; }

    // So many ciphertexts of random values, which do not matter to the time.
    Row encrypted(std::size_t count);

    // Constants are encoded when they come for the first time, and kept: executions ask for them in one order.
    const seal::Plaintext &constant(
        const std::function<std::vector<double>()> &values, const seal::Ciphertext &like, double scale);
    const seal::Plaintext &constant(double value, const seal::Ciphertext &like, double scale);
    void begin_execution() { next_constant_ = 0; }
    void forget_constants() { constants_.clear(); }

    std::size_t level(const seal::Ciphertext &a) const;
    void lower(const seal::Ciphertext &a, std::size_t to, seal::Ciphertext &out);
    void rotate(const seal::Ciphertext &a, int step, seal::Ciphertext &out) const;
    void add_turned(seal::Ciphertext &a, int step);
    void sum_in_blocks(seal::Ciphertext &a);
    void sum_of_blocks(seal::Ciphertext &a, int block);

    // Rescaled (ckks) and relinearized.
    void shrink(seal::Ciphertext &product) const;
    void multiply(seal::Ciphertext &a, const seal::Ciphertext &b) const;
    void total(Row::const_iterator begin, Row::const_iterator end, seal::Ciphertext &out) const;

    // a, of at least one level more than `low`, one level above it, times 1 so that it comes to its exact scale.
    void match(const seal::Ciphertext &a, const seal::Ciphertext &low, seal::Ciphertext &out);

private:
    seal::Plaintext random_plaintext();

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
    std::deque<seal::Plaintext> constants_;
    std::size_t next_constant_ = 0;
    seal::Ciphertext turned_, lower_;
};
