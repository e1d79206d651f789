// The compiler of the file that includes this.
#pragma once

#include <string>

namespace ciphermark {

inline std::string compiler()
{
#ifdef __clang__
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

} // namespace ciphermark
