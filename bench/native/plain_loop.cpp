// SEAL's operations in a plain loop: what Ciphermark's times are held against.
//
//   plain_loop SCHEME N T SCALE_BITS SETS DROPPED PRIME...
//
// Makes keys and SETS operand sets, switched to a smaller modulus DROPPED times, says "ready", then answers lines "OPERATION SET LOOPS" on standard input with the
// elapsed nanoseconds of the whole loop.

#include "plain.hpp"
#include <functional>

namespace {

using plain::Ciphertext;
using plain::Plaintext;

// What one execution of any operation needs.
struct Operands {
    plain::Library::Values values; // of `plain`
    Ciphertext a, b;
    Plaintext plain;
    Ciphertext product; // for relinearize
    Ciphertext scaled;  // for rescale
    Ciphertext out;
    Ciphertext encrypted;
};

class Operations {
public:
    explicit Operations(const plain::Request &request) : library_(request, { 1 })
    {
        for (int set = 0; set < std::stoi(request.options[0]); ++set) {
            sets_.push_back(made_operands());
        }
    }

    std::int64_t elapsed_ns(const std::string &operation, std::size_t set, std::int64_t loops)
    {
        return loops_.at(operation)(sets_.at(set), loops);
    }

private:
    using Loop = std::function<std::int64_t(Operands &, std::int64_t)>;

    // The operation is known at compile time, so that the loop calls nothing beside it.
    template <class Operation>
    static Loop loop(Operation operation)
    {
        return [operation](Operands &o, std::int64_t loops) {
            return plain::elapsed_ns(loops, [&] { operation(o); });
        };
    }

    Ciphertext lowered(Ciphertext fresh) const
    {
        for (int dropped = std::stoi(library_.request().options[1]); dropped > 0; --dropped) {
            seal_.mod_switch_to_next_inplace(fresh);
        }
        return fresh;
    }

    Operands made_operands()
    {
        Operands made;
        made.b = lowered(library_.encrypted(library_.random_values(1.0)));
        made.values = library_.random_values(1.0);
        library_.encode(made.values, made.plain);
        made.a = lowered(library_.encrypted(made.values));
        if (library_.request().is_ckks()) {
            seal_.mod_switch_to_inplace(made.plain, made.a.parms_id());
        }
        seal_.multiply(made.a, made.b, made.product);
        seal_.multiply_plain(made.a, made.plain, made.scaled);
        return made;
    }

    plain::Library library_;
    const seal::Evaluator &seal_ = library_.seal();
    std::vector<Operands> sets_;
    Plaintext encoded_;

    const std::map<std::string, Loop> loops_{
        { "encrypt", loop([this](Operands &o) {
             library_.encode(o.values, encoded_);
             library_.encryptor().encrypt(encoded_, o.encrypted);
         }) },
        { "add", loop([this](Operands &o) { seal_.add(o.a, o.b, o.out); }) },
        { "add_plain", loop([this](Operands &o) { seal_.add_plain(o.a, o.plain, o.out); }) },
        { "mul_plain", loop([this](Operands &o) { seal_.multiply_plain(o.a, o.plain, o.out); }) },
        { "mul", loop([this](Operands &o) { seal_.multiply(o.a, o.b, o.out); }) },
        { "relinearize", loop([this](Operands &o) {
             seal_.relinearize(o.product, library_.relinearization_keys(), o.out);
         }) },
        { "rescale", loop([this](Operands &o) { seal_.rescale_to_next(o.scaled, o.out); }) },
        { "rotate(1)", loop([this](Operands &o) { library_.rotate(o.a, 1, o.out); }) },
    };
};

void serve(const plain::Request &request)
{
    Operations operations(request);
    std::cout << "ready" << std::endl;
    std::string operation;
    std::size_t set = 0;
    std::int64_t loops = 0;
    while (std::cin >> operation >> set >> loops) {
        std::cout << operations.elapsed_ns(operation, set, loops) << std::endl;
    }
}

} // namespace

int main(int count, char **words) { return plain::run(count, words, 2, serve); }
