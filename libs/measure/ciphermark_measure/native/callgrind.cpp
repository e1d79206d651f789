// Requests to callgrind, if this process runs under it; without it, they do nothing. Valgrind recognizes the sequence of
// rotations, which leaves the register as it was.
#include <cstdint>

extern "C" void ciphermark_callgrind(std::uint64_t request)
{
#if defined(__x86_64__)
    const volatile std::uint64_t arguments[6] = {(std::uint64_t{'C'} << 24 | std::uint64_t{'T'} << 16) + request};
    std::uint64_t result = 0;
    asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                 : "+d"(result)
                 : "a"(arguments)
                 : "cc", "memory");
#else
    static_cast<void>(request);
#endif
}
