#include "build_info.hpp"

#include "compiler.hpp"
#include "seal/seal.h"

// A macro's value as text.
#define CIPHERMARK_TEXT(macro) CIPHERMARK_QUOTED(macro)
#define CIPHERMARK_QUOTED(text) #text

namespace ciphermark {

namespace {

#ifdef SEAL_USE_INTEL_HEXL
constexpr bool uses_hexl = true;
#else
constexpr bool uses_hexl = false;
#endif

#ifdef SEAL_THROW_ON_TRANSPARENT_CIPHERTEXT
constexpr bool throws_on_transparent = true;
#else
constexpr bool throws_on_transparent = false;
#endif

#ifdef SEAL_USE_GAUSSIAN_NOISE
constexpr bool uses_gaussian_noise = true;
#else
constexpr bool uses_gaussian_noise = false;
#endif

#ifdef SEAL_AVOID_BRANCHING
constexpr bool avoids_branching = true;
#else
constexpr bool avoids_branching = false;
#endif

#ifdef SEAL_USE_INTRIN
constexpr bool uses_intrinsics = true;
#else
constexpr bool uses_intrinsics = false;
#endif

#ifdef NDEBUG
constexpr bool has_assertions = false;
#else
constexpr bool has_assertions = true;
#endif

std::string on_off(bool is_on)
{
    return is_on ? "on" : "off";
}

} // namespace

std::string seal_version()
{
    return SEAL_VERSION;
}

bool is_debug_build()
{
    return SEAL_DEBUG_V || has_assertions || std::string(CIPHERMARK_SEAL_BUILD_TYPE) == "Debug";
}

bool has_hexl()
{
    return uses_hexl;
}

std::map<std::string, std::string> build_facts()
{
    return {
        { "compiler of the adapter", compiler() },
        { "flags of the adapter", CIPHERMARK_FLAGS },
        { "build_type", CIPHERMARK_SEAL_BUILD_TYPE },
        { "hexl", on_off(uses_hexl) },
        { "intrinsics", on_off(uses_intrinsics) },
        { "throw_on_transparent_ciphertext", on_off(throws_on_transparent) },
        { "gaussian_noise", on_off(uses_gaussian_noise) },
        { "avoid_branching", on_off(avoids_branching) },
        { "prng", CIPHERMARK_TEXT(SEAL_DEFAULT_PRNG) },
    };
}

} // namespace ciphermark
