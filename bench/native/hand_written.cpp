// Circuits as a programmer would write them over SEAL alone: what Ciphermark's programs are held against.
//
//   hand_written SCHEME N T SCALE_BITS CIRCUIT BLOCK INPUTS PRIME...
//
// Makes keys and encrypted inputs, says "ready", then answers lines "LOOPS" on standard input with the elapsed
// nanoseconds of the whole loop. INPUTS counts ciphertexts of rows.

#include "hand_tools.hpp"
#include <memory>

using plain::Request;

namespace {

// One of the contract's circuits, call by call.
class Circuit {
public:
    virtual ~Circuit() = default;

    // What the circuit needs beside rows; not timed.
    virtual void prepare() {}
    virtual void execute() = 0;

    Tools tools;

protected:
    explicit Circuit(const Request &request, std::vector<int> steps = {}) : tools(request, std::move(steps)) {}

    int block() const { return tools.block(); }
};

// --- logistic regression, three steps: rows Z, then rows Z2 ------------------------------------------------------

class RegressionTraining : public Circuit {
public:
    explicit RegressionTraining(const Request &request)
        : Circuit(request), rows_(tools.encrypted_rows(2 * inputs_of(request))), low_rows_(rows_.size())
    {}

    void execute() override
    {
        tools.total(rows_.begin() + static_cast<std::ptrdiff_t>(count()), rows_.end(), constant_term_);
        tools.sum_of_blocks(constant_term_, block());
        const Row *rows = &rows_;
        const Ciphertext *beta = &constant_term_;
        for (int step = 2; step <= 3; ++step) {
            find_gradient(*rows, *beta);
            tools.match(*beta, slope_, before_);
            tools.seal().add_inplace(slope_, before_);
            if (step > 2) {
                tools.match(constant_term_, slope_, before_);
            }
            tools.seal().add_inplace(slope_, before_);
            std::swap(slope_, model_);
            beta = &model_;
            rows = &low_rows_;
        }
    }

protected:
    std::size_t count() const { return inputs_of(tools.request()); }

    const Row rows_;
    Ciphertext model_;

private:
    // Rows come down to the levels of their products, and stay there for the next step.
    void find_gradient(const Row &rows, const Ciphertext &beta)
    {
        const seal::Evaluator &seal = tools.seal();
        for (std::size_t i = 0; i < count(); ++i) {
            Ciphertext &z = low_rows_[i], &z2 = low_rows_[count() + i], &term = i == 0 ? slope_ : term_;
            tools.lower(rows[i], tools.level(beta), z);
            seal.multiply(z, beta, term);
            tools.shrink(term);
            tools.sum_in_blocks(term);
            seal.square(term, curve_);
            tools.shrink(curve_);
            seal.sub_plain_inplace(curve_, tools.constant(1.0, curve_, curve_.scale()));
            tools.lower(rows[count() + i], tools.level(term), z2);
            tools.multiply(term, z2);
            seal.multiply_inplace(term, curve_);
            if (i != 0) {
                seal.add_inplace(slope_, term_);
            }
        }
        tools.shrink(slope_);
        tools.sum_of_blocks(slope_, block());
    }

    Row low_rows_;
    Ciphertext constant_term_, slope_, before_, term_, curve_;
};

class RegressionInference final : public RegressionTraining {
public:
    explicit RegressionInference(const Request &request) : RegressionTraining(request), scores_(inputs_of(request)) {}

    void prepare() override { RegressionTraining::execute(); }

    void execute() override
    {
        for (std::size_t i = 0; i < count(); ++i) {
            tools.lower(rows_[i], tools.level(model_), scores_[i]);
            tools.multiply(scores_[i], model_);
            tools.sum_in_blocks(scores_[i]);
        }
    }

private:
    Row scores_;
};

// --- linear means ------------------------------------------------------------------------------------------------

class MeansTraining : public Circuit {
public:
    explicit MeansTraining(const Request &request) : Circuit(request), rows_(tools.encrypted_rows(inputs_of(request))) {}

    void execute() override
    {
        tools.total(rows_.begin(), rows_.end(), model_);
        tools.sum_of_blocks(model_, 2 * block());
        tools.rotate(model_, block(), swapped_);
        tools.seal().add(model_, swapped_, middle_);
        tools.seal().sub_inplace(model_, swapped_);
    }

protected:
    const Row rows_;
    Ciphertext model_, middle_, swapped_;
};

class MeansInference final : public MeansTraining {
public:
    explicit MeansInference(const Request &request) : MeansTraining(request), scores_(inputs_of(request)) {}

    void prepare() override { MeansTraining::execute(); }

    void execute() override
    {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            tools.seal().sub(rows_[i], middle_, scores_[i]);
            tools.multiply(scores_[i], model_);
            tools.sum_in_blocks(scores_[i]);
        }
    }

private:
    Row scores_;
};

// --- product of two 32 × 32 matrices, row by row: BLOCK copies of each, four neighbours -----------------------------

constexpr int size = 32, near = 4;

std::vector<int> matrix_steps(int block)
{
    std::vector<int> steps;
    for (const int stride : { 1, size }) {
        for (int count = 1; count < block; count *= 2) {
            steps.push_back(-count * (size * size - stride));
        }
    }
    return steps;
}

class MatrixProduct final : public Circuit {
public:
    explicit MatrixProduct(const Request &request)
        : Circuit(request, matrix_steps(block_of(request))), rows_(tools.encrypted_rows(2)), left_(near), right_(near)
    {}

    void execute() override
    {
        find_neighbours(rows_[0], 1, left_);
        find_neighbours(rows_[1], size, right_);
        for (int line = 0; line < size; line += block()) {
            Ciphertext &term = line == 0 ? sum_ : term_;
            spread(left_, line, 1, term);
            spread(right_, line, size, other_);
            tools.seal().multiply_inplace(term, other_);
            if (line != 0) {
                tools.seal().add_inplace(sum_, term_);
            }
        }
        tools.shrink(sum_);
        for (int count = 1; count < block(); count *= 2) {
            tools.add_turned(sum_, count * size * size);
        }
    }

private:
    // The matrix in every block, and that turned by one, two and three lines.
    void find_neighbours(const Ciphertext &matrix, int stride, Row &turned)
    {
        tools.rotate(matrix, -(size * size - stride), turned[0]);
        tools.seal().add_inplace(turned[0], matrix);
        for (int count = 2; count < block(); count *= 2) {
            tools.add_turned(turned[0], -count * (size * size - stride));
        }
        for (int number = 1; number < near; ++number) {
            tools.rotate(turned[0], -number * stride, turned[static_cast<std::size_t>(number)]);
        }
    }

    std::vector<double> mask(int line, int stride) const
    {
        std::vector<double> values(static_cast<std::size_t>(block() * size * size));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<int>(i) / stride % size == line;
        }
        return values;
    }

    void spread(const Row &turned, int line, int stride, Ciphertext &sum)
    {
        const double scale = tools.request().scale;
        for (int number = 0; number < near; ++number) {
            const Ciphertext &one = turned[static_cast<std::size_t>(number)];
            const auto &plain = tools.constant([=] { return mask(line + number, stride); }, one, scale);
            tools.seal().multiply_plain(one, plain, number == 0 ? sum : masked_);
            if (number != 0) {
                tools.seal().add_inplace(sum, masked_);
            }
        }
        tools.seal().rescale_to_next_inplace(sum);
        for (int distance = near; distance < size; distance *= 2) {
            tools.add_turned(sum, ((line & distance) ? distance : -distance) * stride);
        }
    }

    const Row rows_;
    Row left_, right_;
    Ciphertext sum_, term_, other_, masked_;
};

template <class Made>
std::unique_ptr<Circuit> made(const Request &request)
{
    return std::make_unique<Made>(request);
}

const std::map<std::string, std::unique_ptr<Circuit> (*)(const Request &)> circuits = {
    { "lr-train", made<RegressionTraining> },     { "lr-infer", made<RegressionInference> },
    { "lmc-train", made<MeansTraining> },         { "lmc-infer", made<MeansInference> },
    { "matrix-product", made<MatrixProduct> },
};

std::int64_t elapsed_ns(Circuit &circuit, std::int64_t loops)
{
    return plain::elapsed_ns(loops, [&] {
        circuit.tools.begin_execution();
        circuit.execute();
    });
}

void serve(const Request &request)
{
    const std::unique_ptr<Circuit> circuit = circuits.at(request.options[0])(request);
    circuit->prepare();
    circuit->tools.forget_constants();
    elapsed_ns(*circuit, 1); // encodes the constants
    std::cout << "ready" << std::endl;
    std::int64_t loops = 0;
    while (std::cin >> loops) {
        std::cout << elapsed_ns(*circuit, loops) << std::endl;
    }
}

} // namespace

int main(int count, char **words) { return plain::run(count, words, 3, serve); }
