// What circuits by hand are made of, over SEAL alone: what SEAL takes several calls for, and constants.
#pragma once

#include "plain.hpp"
#include <deque>
#include <functional>
#include <utility>

using seal::Ciphertext;
using seal::Plaintext;
using Row = std::vector<Ciphertext>;

// The options CIRCUIT BLOCK INPUTS.
inline int block_of(const plain::Request &request) { return std::stoi(request.options[1]); }
inline std::size_t inputs_of(const plain::Request &request) { return std::stoul(request.options[2]); }

// Results go to ciphertexts that the caller keeps, so that their memory is used again in the next execution.
class Tools : public plain::Library {
public:
    // `steps` are rotations beside those by powers of two.
    Tools(const plain::Request &request, std::vector<int> steps)
        : Library(request, with_powers_of_two(std::move(steps), half(request))), block_(block_of(request))
    {}

    int block() const { return block_; }

    // So many ciphertexts of random values, which do not matter to the time.
    Row encrypted_rows(std::size_t count)
    {
        Row rows(count);
        std::generate(rows.begin(), rows.end(), [&] { return encrypted(random_values(0.1)); });
        return rows;
    }

    // Constants are encoded when they come for the first time, and kept: executions ask for them in one order.
    const Plaintext &constant(const std::function<std::vector<double>()> &values, const Ciphertext &like, double scale)
    {
        if (next_constant_ == constants_.size()) {
            constants_.emplace_back();
            reals().encode(values(), like.parms_id(), scale, constants_.back());
        }
        return constants_[next_constant_++];
    }

    const Plaintext &constant(double value, const Ciphertext &like, double scale)
    {
        return constant([&] { return std::vector<double>(request().slots(), value); }, like, scale);
    }

    void begin_execution() { next_constant_ = 0; }
    void forget_constants() { constants_.clear(); }

    std::size_t level(const Ciphertext &a) const { return context().get_context_data(a.parms_id())->chain_index(); }

    // Always into another ciphertext: SEAL's form in place copies twice.
    void lower(const Ciphertext &a, std::size_t to, Ciphertext &out)
    {
        const Ciphertext *from = &a;
        while (level(*from) > to) {
            seal().mod_switch_to_next(*from, lower_);
            std::swap(lower_, out);
            from = &out;
        }
        if (from != &out) {
            out = a;
        }
    }

    void add_turned(Ciphertext &a, int step)
    {
        rotate(a, step, turned_);
        seal().add_inplace(a, turned_);
    }

    void sum_in_blocks(Ciphertext &a) { add_doubling(a, 1, block_); }
    void sum_of_blocks(Ciphertext &a, int block) { add_doubling(a, block, half(request())); }

    // Rescaled (ckks) and relinearized.
    void shrink(Ciphertext &product) const
    {
        if (request().is_ckks()) {
            seal().rescale_to_next_inplace(product);
        }
        seal().relinearize_inplace(product, relinearization_keys());
    }

    void multiply(Ciphertext &a, const Ciphertext &b) const
    {
        seal().multiply_inplace(a, b);
        shrink(a);
    }

    void total(Row::const_iterator begin, Row::const_iterator end, Ciphertext &out) const
    {
        out = *begin;
        while (++begin != end) {
            seal().add_inplace(out, *begin);
        }
    }

    // a, of at least one level more than `low`, one level above it, times 1 so that it comes to its exact scale.
    void match(const Ciphertext &a, const Ciphertext &low, Ciphertext &out)
    {
        const std::size_t above = level(low) + 1;
        lower(a, above, out);
        const double prime = static_cast<double>(request().primes[above].value());
        seal().multiply_plain_inplace(out, constant(1.0, out, low.scale() * prime / out.scale()));
        seal().rescale_to_next_inplace(out);
    }

private:
    static int half(const plain::Request &request) { return static_cast<int>(request.ring_dimension / 2); }

    static std::vector<int> with_powers_of_two(std::vector<int> steps, int half)
    {
        for (int step = 1; step < half; step *= 2) {
            steps.insert(steps.end(), { step, -step });
        }
        std::sort(steps.begin(), steps.end());
        steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
        return steps;
    }

    void add_doubling(Ciphertext &a, int from, int to)
    {
        for (int step = from; step < to; step *= 2) {
            add_turned(a, step);
        }
    }

    int block_;
    std::deque<Plaintext> constants_;
    std::size_t next_constant_ = 0;
    Ciphertext turned_, lower_;
};
