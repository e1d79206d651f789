// Circuits as a programmer would write them over SEAL alone: what Ciphermark's programs are held against.
//
//   hand_written CIRCUIT N T SCALE_BITS BLOCK INPUTS PRIME...        (T is 0 for ckks, SCALE_BITS 0 for bfv)
//
// Makes keys and encrypted inputs, says "ready", then answers lines "LOOPS" on standard input with the elapsed
// nanoseconds of the whole loop. INPUTS counts ciphertexts of rows.

#include "hand_circuits.hpp"
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace {

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

std::int64_t elapsed_ns(Circuit &circuit, std::int64_t loops)
{
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t loop = 0; loop < loops; ++loop) {
        circuit.tools.begin_execution();
        circuit.execute();
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
}

void serve(Circuit &circuit)
{
    circuit.prepare();
    circuit.tools.forget_constants();
    elapsed_ns(circuit, 1); // encodes the constants
    std::cout << "ready" << std::endl;
    std::int64_t loops = 0;
    while (std::cin >> loops) {
        std::cout << elapsed_ns(circuit, loops) << std::endl;
    }
}

} // namespace

int main(int count, char **words)
{
    try {
        serve(*circuit_named(parsed(count, words)));
    } catch (const std::exception &error) {
        std::cerr << "hand_written: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
