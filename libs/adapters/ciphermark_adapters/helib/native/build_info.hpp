// What HElib and this module were built from and with.
#pragma once

#include <map>
#include <string>

namespace ciphermark::he {

std::string helib_version();

// Whether times measured with this build mean nothing.
bool is_debug_build();

// Further facts as text. Flags and compiler are this module's: HElib does not tell its own.
std::map<std::string, std::string> build_facts();

} // namespace ciphermark::he
