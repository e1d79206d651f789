// What SEAL and this module were built from and with.
#pragma once

#include <map>
#include <string>

namespace ciphermark {

std::string seal_version();

// Whether times measured with this build mean nothing.
bool is_debug_build();

bool has_hexl();

// Further facts as text. Flags and compiler are this module's: SEAL's own are known where it was built.
std::map<std::string, std::string> build_facts();

} // namespace ciphermark
