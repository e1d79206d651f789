// What SEAL and this module were built from and with.
#pragma once

#include "compiler.hpp"
#include "seal/seal.h"
#include <map>
#include <string>

// A macro's value as text: its own name where it is not defined.
#define CIPHERMARK_TEXT(macro) CIPHERMARK_QUOTED(macro)
#define CIPHERMARK_QUOTED(text) #text
#define CIPHERMARK_IS_DEFINED(macro) (std::string(#macro) != CIPHERMARK_TEXT(macro))

namespace ciphermark {

// Whether times measured with this build mean nothing.
inline bool is_debug_build()
{
    return SEAL_DEBUG_V || !CIPHERMARK_IS_DEFINED(NDEBUG) || std::string(CIPHERMARK_SEAL_BUILD_TYPE) == "Debug";
}

inline bool has_hexl()
{
    return CIPHERMARK_IS_DEFINED(SEAL_USE_INTEL_HEXL);
}

// Further facts as text. Flags and compiler are this module's: SEAL's own are known where it was built.
inline std::map<std::string, std::string> build_facts()
{
    const auto on_off = [](bool is_on) { return is_on ? "on" : "off"; };
    return {
        { "compiler of the adapter", compiler() },
        { "flags of the adapter", CIPHERMARK_FLAGS },
        { "build_type", CIPHERMARK_SEAL_BUILD_TYPE },
        { "hexl", on_off(has_hexl()) },
        { "intrinsics", on_off(CIPHERMARK_IS_DEFINED(SEAL_USE_INTRIN)) },
        { "throw_on_transparent_ciphertext", on_off(CIPHERMARK_IS_DEFINED(SEAL_THROW_ON_TRANSPARENT_CIPHERTEXT)) },
        { "gaussian_noise", on_off(CIPHERMARK_IS_DEFINED(SEAL_USE_GAUSSIAN_NOISE)) },
        { "avoid_branching", on_off(CIPHERMARK_IS_DEFINED(SEAL_AVOID_BRANCHING)) },
        { "prng", CIPHERMARK_TEXT(SEAL_DEFAULT_PRNG) },
    };
}

} // namespace ciphermark
