// HElib as a plain program with its builder's defaults has it.
//
//   plain_defaults bgv|ckks N P BITS
//
// P: the plaintext modulus in bgv, the precision in ckks; BITS: of the ciphertext modulus. Prints the number of
// ciphertext primes; then, for every line `rotation` or `multiplication` that it reads, the nanoseconds that one takes.

#include <chrono>
#include <cstdint>
#include <helib/helib.h>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

template <typename Scheme>
helib::Ctxt encrypted(const helib::Context &context, const helib::PubKey &key)
{
    helib::PtxtArray values(context);
    if constexpr (std::is_same_v<Scheme, helib::CKKS>) {
        values.load(std::vector<double>(context.getNSlots(), 0.95));
    } else {
        values.load(std::vector<long>(context.getNSlots(), 3));
    }
    helib::Ctxt result(key);
    values.encrypt(result);
    return result;
}

std::int64_t executed(const helib::Context &context, const std::string &operation, const helib::Ctxt &x)
{
    const auto start = std::chrono::steady_clock::now();
    helib::Ctxt result = x;
    if (operation == "rotation") {
        context.getEA().rotate1D(result, 0, 1);
    } else if (operation == "multiplication") {
        result.multiplyBy(x);
    } else {
        throw std::invalid_argument("unknown operation: " + operation);
    }
    result.cleanUp(); // the special primes that key switching leaves in, which the next operation would take out
    const auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
}

template <typename Scheme>
void answer(const helib::Context &context)
{
    helib::SecKey secret(context);
    secret.GenSecKey();
    helib::addSome1DMatrices(secret);
    const helib::PubKey &key = secret;
    const helib::Ctxt x = encrypted<Scheme>(context, key);
    std::cout << context.getCtxtPrimes().card() << std::endl;
    for (std::string operation; std::getline(std::cin, operation);) {
        std::cout << executed(context, operation, x) << std::endl;
    }
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 5) {
        std::cerr << "plain_defaults bgv|ckks N P BITS\n";
        return 2;
    }
    const long m = 2 * std::stol(arguments[2]), p = std::stol(arguments[3]), bits = std::stol(arguments[4]);
    if (std::string(arguments[1]) == "ckks") {
        answer<helib::CKKS>(helib::ContextBuilder<helib::CKKS>().m(m).precision(p).bits(bits).build());
    } else {
        answer<helib::BGV>(helib::ContextBuilder<helib::BGV>().m(m).p(p).r(1).bits(bits).build());
    }
}
