// Proves that an installed SEAL links, multiplies correctly and has HEXL in it exactly when it should (ON or OFF).
#include "seal/seal.h"
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#ifdef SEAL_USE_INTEL_HEXL
const std::string built_with_hexl = "ON";
#else
const std::string built_with_hexl = "OFF";
#endif

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1] != built_with_hexl) {
        std::cerr << "usage: seal_check ON|OFF; this SEAL has HEXL " << built_with_hexl << "\n";
        return 2;
    }
    constexpr std::size_t ring_dimension = 8192;
    constexpr int loops = 50;
    seal::EncryptionParameters parameters(seal::scheme_type::bfv);
    parameters.set_poly_modulus_degree(ring_dimension);
    parameters.set_coeff_modulus(seal::CoeffModulus::BFVDefault(ring_dimension));
    parameters.set_plain_modulus(seal::PlainModulus::Batching(ring_dimension, 20));
    const seal::SEALContext context(parameters);
    seal::KeyGenerator generator(context);
    seal::PublicKey public_key;
    generator.create_public_key(public_key);
    const seal::BatchEncoder encoder(context);
    const seal::Encryptor encryptor(context, public_key);
    const seal::Evaluator evaluator(context);
    seal::Decryptor decryptor(context, generator.secret_key());

    seal::Plaintext plain;
    encoder.encode(std::vector<std::uint64_t>(ring_dimension, 3), plain);
    seal::Ciphertext factor;
    seal::Ciphertext product;
    encryptor.encrypt(plain, factor);
    evaluator.multiply(factor, factor, product);
    const auto started = std::chrono::steady_clock::now();
    for (int loop = 0; loop < loops; ++loop) {
        evaluator.multiply(factor, factor, product);
    }
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - started;
    std::cout << "HEXL " << built_with_hexl << ", BFV multiply at N=8192: " << elapsed.count() / loops << " us\n";

    std::vector<std::uint64_t> slots;
    decryptor.decrypt(product, plain);
    encoder.decode(plain, slots);
    const bool is_correct = slots == std::vector<std::uint64_t>(ring_dimension, 9);
    std::cout << (is_correct ? "correct\n" : "WRONG product\n");
    return is_correct ? 0 : 1;
}
