// Circuits as a programmer would write them over SEAL alone: what Ciphermark's programs are held against.
//
//   hand_written CIRCUIT N T SCALE_BITS BLOCK INPUTS PRIME...        (T is 0 for ckks, SCALE_BITS 0 for bfv)
//
// Makes keys and encrypted inputs, says "ready", then answers lines "LOOPS" on standard input with the elapsed
// nanoseconds of the whole loop. INPUTS counts ciphertexts of rows. Values do not matter to the time: rows are random.

#include "seal/seal.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using seal::Ciphertext;
using seal::Plaintext;
using Row = std::vector<Ciphertext>;

struct Request {
    std::string circuit;
    std::size_t ring_dimension;
    std::uint64_t plain_modulus;
    double scale;
    int block;
    std::size_t inputs;
    std::vector<seal::Modulus> primes;

    bool is_ckks() const { return plain_modulus == 0; }
};

Request parsed(int count, char **words)
{
    if (count < 8) {
        throw std::invalid_argument("usage: hand_written CIRCUIT N T SCALE_BITS BLOCK INPUTS PRIME...");
    }
    Request request{ words[1],
                     std::stoul(words[2]),
                     std::stoull(words[3]),
                     std::ldexp(1.0, std::stoi(words[4])),
                     std::stoi(words[5]),
                     std::stoul(words[6]),
                     {} };
    for (int i = 7; i < count; ++i) {
        request.primes.emplace_back(std::stoull(words[i]));
    }
    return request;
}

seal::SEALContext made_context(const Request &request)
{
    seal::EncryptionParameters parameters(request.is_ckks() ? seal::scheme_type::ckks : seal::scheme_type::bfv);
    parameters.set_poly_modulus_degree(request.ring_dimension);
    parameters.set_coeff_modulus(request.primes);
    if (!request.is_ckks()) {
        parameters.set_plain_modulus(request.plain_modulus);
    }
    return seal::SEALContext(parameters, true, seal::sec_level_type::none);
}

// The contract's circuits, call by call. Constants are encoded in the first execution and kept.
class Circuits {
public:
    explicit Circuits(const Request &request)
        : request_(request), context_(made_context(request)), generator_(context_), evaluator_(context_)
    {
        generator_.create_relin_keys(relinearization_keys_);
        generator_.create_galois_keys(all_steps(), rotation_keys_);
        seal::PublicKey public_key;
        generator_.create_public_key(public_key);
        encryptor_.emplace(context_, public_key);
        if (request.is_ckks()) {
            reals_.emplace(context_);
        } else {
            integers_.emplace(context_);
        }
        for (std::size_t i = 0; i < 2 * request.inputs; ++i) {
            rows_.push_back(encrypted());
        }
        prepare_.at(request.circuit)();
        constants_.clear();
    }

    std::int64_t elapsed_ns(std::int64_t loops)
    {
        const auto &circuit = circuits_.at(request_.circuit);
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t loop = 0; loop < loops; ++loop) {
            next_constant_ = 0;
            circuit();
        }
        const auto elapsed = std::chrono::steady_clock::now() - start;
        return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
    }

private:
    // --- what all circuits are made of ---------------------------------------------------------------------------

    std::vector<int> all_steps() const
    {
        std::vector<int> steps;
        const int half = static_cast<int>(request_.ring_dimension / 2);
        for (int step = 1; step < half; step *= 2) {
            steps.insert(steps.end(), { step, -step });
        }
        if (request_.circuit == "matrix-product") {
            const std::vector<int> more = matrix_steps();
            steps.insert(steps.end(), more.begin(), more.end());
        }
        std::sort(steps.begin(), steps.end());
        steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
        return steps;
    }

    Ciphertext encrypted()
    {
        Plaintext plain;
        if (request_.is_ckks()) {
            std::uniform_real_distribution<double> real(-0.1, 0.1);
            std::vector<double> values(request_.ring_dimension / 2);
            std::generate(values.begin(), values.end(), [&] { return real(random_); });
            reals_->encode(values, request_.scale, plain);
        } else {
            std::uniform_int_distribution<std::uint64_t> integer(1, request_.plain_modulus - 1);
            std::vector<std::uint64_t> values(request_.ring_dimension);
            std::generate(values.begin(), values.end(), [&] { return integer(random_); });
            integers_->encode(values, plain);
        }
        Ciphertext result;
        encryptor_->encrypt(plain, result);
        return result;
    }

    const Plaintext &constant(const std::vector<double> &values, const Ciphertext &like, double scale)
    {
        if (next_constant_ == constants_.size()) {
            constants_.emplace_back();
            reals_->encode(values, like.parms_id(), scale, constants_.back());
        }
        return constants_[next_constant_++];
    }

    const Plaintext &constant(double value, const Ciphertext &like, double scale)
    {
        return constant(std::vector<double>(request_.ring_dimension / 2, value), like, scale);
    }

    std::size_t level(const Ciphertext &a) const { return context_.get_context_data(a.parms_id())->chain_index(); }

    // Into another ciphertext: SEAL's form in place copies twice.
    void lower(Ciphertext &a, std::size_t to) const
    {
        while (level(a) > to) {
            Ciphertext lower;
            evaluator_.mod_switch_to_next(a, lower);
            a = std::move(lower);
        }
    }

    void rotate(const Ciphertext &a, int step, Ciphertext &out) const
    {
        if (request_.is_ckks()) {
            evaluator_.rotate_vector(a, step, rotation_keys_, out);
        } else {
            evaluator_.rotate_rows(a, step, rotation_keys_, out);
        }
    }

    void add_turned(Ciphertext &a, int step) const
    {
        Ciphertext turned;
        rotate(a, step, turned);
        evaluator_.add_inplace(a, turned);
    }

    void sum_in_blocks(Ciphertext &a) const
    {
        for (int step = 1; step < request_.block; step *= 2) {
            add_turned(a, step);
        }
    }

    void sum_of_blocks(Ciphertext &a, int block) const
    {
        for (int step = block; step < static_cast<int>(request_.ring_dimension / 2); step *= 2) {
            add_turned(a, step);
        }
    }

    void shrink(Ciphertext &product) const
    {
        if (request_.is_ckks()) {
            evaluator_.rescale_to_next_inplace(product);
        }
        evaluator_.relinearize_inplace(product, relinearization_keys_);
    }

    Ciphertext product(const Ciphertext &a, const Ciphertext &b) const
    {
        Ciphertext result;
        evaluator_.multiply(a, b, result);
        shrink(result);
        return result;
    }

    Ciphertext total(Row::const_iterator begin, Row::const_iterator end) const
    {
        Ciphertext sum = *begin;
        while (++begin != end) {
            evaluator_.add_inplace(sum, *begin);
        }
        return sum;
    }

    // a, one level above `low`, at the exact scale of `low`.
    Ciphertext matched(const Ciphertext &a, const Ciphertext &low)
    {
        Ciphertext result = a;
        lower(result, level(low) + 1);
        const double prime = static_cast<double>(request_.primes[level(low) + 1].value());
        const Plaintext &one = constant(1.0, result, low.scale() * prime / result.scale());
        evaluator_.multiply_plain_inplace(result, one);
        evaluator_.rescale_to_next_inplace(result);
        return result;
    }

    // --- logistic regression, three steps: rows Z, then rows Z2 --------------------------------------------------

    void train_regression()
    {
        const auto half = rows_.begin() + static_cast<std::ptrdiff_t>(request_.inputs);
        Row z(rows_.begin(), half);
        Row z2(half, rows_.end());
        Ciphertext constant_term = total(z2.begin(), z2.end());
        sum_of_blocks(constant_term, request_.block);
        Ciphertext beta = constant_term;
        for (int step = 2; step <= 3; ++step) {
            Ciphertext slope = gradient(z, z2, beta);
            const Ciphertext before = matched(beta, slope);
            evaluator_.add_inplace(slope, before);
            evaluator_.add_inplace(slope, step == 2 ? before : matched(constant_term, slope));
            beta = std::move(slope);
        }
        model_ = std::move(beta);
    }

    Ciphertext gradient(Row &z, Row &z2, const Ciphertext &beta)
    {
        Ciphertext sum;
        for (std::size_t i = 0; i < z.size(); ++i) {
            lower(z[i], level(beta));
            Ciphertext u = product(z[i], beta);
            sum_in_blocks(u);
            Ciphertext curve;
            evaluator_.square(u, curve);
            shrink(curve);
            evaluator_.sub_plain_inplace(curve, constant(1.0, curve, curve.scale()));
            lower(z2[i], level(u));
            Ciphertext term = product(u, z2[i]);
            evaluator_.multiply_inplace(term, curve);
            if (i == 0) {
                sum = std::move(term);
            } else {
                evaluator_.add_inplace(sum, term);
            }
        }
        shrink(sum);
        sum_of_blocks(sum, request_.block);
        return sum;
    }

    void infer_regression()
    {
        scores_.clear();
        for (std::size_t i = 0; i < request_.inputs; ++i) {
            Ciphertext row = rows_[i];
            lower(row, level(model_));
            scores_.push_back(product(row, model_));
            sum_in_blocks(scores_.back());
        }
    }

    // --- linear means ---------------------------------------------------------------------------------------------

    void train_means()
    {
        model_ = total(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(request_.inputs));
        sum_of_blocks(model_, 2 * request_.block);
        Ciphertext swapped;
        rotate(model_, request_.block, swapped);
        evaluator_.add(model_, swapped, middle_);
        evaluator_.sub_inplace(model_, swapped);
    }

    void infer_means()
    {
        scores_.clear();
        for (std::size_t i = 0; i < request_.inputs; ++i) {
            Ciphertext row;
            evaluator_.sub(rows_[i], middle_, row);
            scores_.push_back(product(model_, row));
            sum_in_blocks(scores_.back());
        }
    }

    // --- product of two 32 × 32 matrices, row by row: BLOCK copies of each, four neighbours ----------------------------

    static constexpr int size = 32, near = 4;

    std::vector<int> matrix_steps() const
    {
        std::vector<int> steps;
        for (const int stride : { 1, size }) {
            for (int count = 1; count < request_.block; count *= 2) {
                steps.push_back(-count * (size * size - stride));
            }
            for (int number = 1; number < near; ++number) {
                steps.push_back(-number * stride);
            }
        }
        return steps;
    }

    // The matrix in every block, and that turned by one, two and three lines.
    Row neighbours(Ciphertext matrix, int stride) const
    {
        for (int count = 1; count < request_.block; count *= 2) {
            add_turned(matrix, -count * (size * size - stride));
        }
        Row result(near);
        for (int number = 1; number < near; ++number) {
            rotate(matrix, -number * stride, result[static_cast<std::size_t>(number)]);
        }
        result[0] = std::move(matrix);
        return result;
    }

    std::vector<double> mask(int line, int stride) const
    {
        std::vector<double> values(static_cast<std::size_t>(request_.block * size * size));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<int>(i) / stride % size == line;
        }
        return values;
    }

    Ciphertext spread(const Row &turned, int line, int stride)
    {
        Ciphertext sum;
        for (int number = 0; number < near; ++number) {
            const Ciphertext &one = turned[static_cast<std::size_t>(number)];
            Ciphertext masked;
            const bool is_new = next_constant_ == constants_.size();
            const Plaintext &plain =
                constant(is_new ? mask(line + number, stride) : std::vector<double>(), one, request_.scale);
            evaluator_.multiply_plain(one, plain, masked);
            if (number == 0) {
                sum = std::move(masked);
            } else {
                evaluator_.add_inplace(sum, masked);
            }
        }
        evaluator_.rescale_to_next_inplace(sum);
        for (int distance = near; distance < size; distance *= 2) {
            add_turned(sum, ((line & distance) ? distance : -distance) * stride);
        }
        return sum;
    }

    void multiply_matrices()
    {
        const Row a = neighbours(rows_[0], 1);
        const Row b = neighbours(rows_[1], size);
        Ciphertext sum;
        for (int line = 0; line < size; line += request_.block) {
            Ciphertext term = spread(a, line, 1);
            evaluator_.multiply_inplace(term, spread(b, line, size));
            if (line == 0) {
                sum = std::move(term);
            } else {
                evaluator_.add_inplace(sum, term);
            }
        }
        shrink(sum);
        for (int count = 1; count < request_.block; count *= 2) {
            add_turned(sum, count * size * size);
        }
        model_ = std::move(sum);
    }

    using Function = std::function<void()>;

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
    Row rows_;
    std::deque<Plaintext> constants_;
    std::size_t next_constant_ = 0;
    Ciphertext model_, middle_;
    Row scores_;

    // What a circuit needs beside rows.
    const std::map<std::string, Function> prepare_{
        { "lr-train", [] {} },
        { "lr-infer", [this] { train_regression(); } },
        { "lmc-train", [] {} },
        { "lmc-infer", [this] { train_means(); } },
        { "matrix-product", [] {} },
    };
    const std::map<std::string, Function> circuits_{
        { "lr-train", [this] { train_regression(); } },
        { "lr-infer", [this] { infer_regression(); } },
        { "lmc-train", [this] { train_means(); } },
        { "lmc-infer", [this] { infer_means(); } },
        { "matrix-product", [this] { multiply_matrices(); } },
    };
};

void serve(Circuits &circuits)
{
    circuits.elapsed_ns(1); // encodes the constants
    std::cout << "ready" << std::endl;
    std::int64_t loops = 0;
    while (std::cin >> loops) {
        std::cout << circuits.elapsed_ns(loops) << std::endl;
    }
}

} // namespace

int main(int count, char **words)
{
    try {
        Circuits circuits(parsed(count, words));
        serve(circuits);
    } catch (const std::exception &error) {
        std::cerr << "hand_written: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
