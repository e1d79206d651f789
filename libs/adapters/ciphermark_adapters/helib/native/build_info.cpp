#include "build_info.hpp"

#include "compiler.hpp"
#include <NTL/version.h>
#include <gmp.h>
#include <helib/version.h>

namespace ciphermark::he {

namespace {

#ifdef HELIB_DEBUG
constexpr bool checks_noise = true;
#else
constexpr bool checks_noise = false;
#endif

#ifdef HELIB_THREADS
constexpr bool has_threads = true;
#else
constexpr bool has_threads = false;
#endif

} // namespace

std::string helib_version()
{
    const std::string version = helib::version::libString(); // v2.2.0
    return version.substr(version.find_first_of("0123456789"));
}

bool is_debug_build()
{
    return checks_noise || std::string(CIPHERMARK_HELIB_CONFIGURATION) == "DEBUG";
}

std::map<std::string, std::string> build_facts()
{
    return {
        { "compiler of the adapter", compiler() },
        { "flags of the adapter", CIPHERMARK_FLAGS },
        { "build_type", CIPHERMARK_HELIB_CONFIGURATION },
        { "ntl", NTL_VERSION },
        { "gmp", gmp_version },
        { "ntl thread pool", has_threads ? "built in" : "off" },
    };
}

} // namespace ciphermark::he
