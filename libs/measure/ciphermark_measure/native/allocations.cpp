// Counts heap allocations of this process: calls of malloc and its relatives through the symbol tables of the loaded
// objects, with the bytes that they ask for. `operator new` of libstdc++ calls malloc, and is counted once. Not seen:
// memory that a library maps itself, and allocators that are linked into an object without a symbol.
//
// While counting, the addresses of these functions in the tables of every loaded object lead to counters, which call the
// functions. Afterwards the tables are as before.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// The counts of one thread, on a cache line of their own: an addition costs no locked instruction. Threads beyond the last
// but one block share the last.
struct alignas(64) Block {
    std::atomic<std::int64_t> calls{0}, bytes{0};
};

constexpr std::uint32_t block_count = 256;
Block blocks[block_count];
std::atomic<std::uint32_t> taken{0};
std::atomic<std::uint64_t> counting{0}; // the number of the present count: blocks of an earlier one are void

__attribute__((tls_model("initial-exec"))) thread_local Block *own_block = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local std::uint64_t own_counting = 0;

void count(std::size_t size)
{
    const auto relaxed = std::memory_order_relaxed;
    if (own_counting != counting.load(relaxed)) {
        const std::uint32_t number = taken.fetch_add(1, relaxed);
        own_block = &blocks[number < block_count ? number : block_count - 1];
        own_counting = counting.load(relaxed);
    }
    Block &own = *own_block;
    const auto asked = static_cast<std::int64_t>(size);
    if (&own == &blocks[block_count - 1]) {
        own.calls.fetch_add(1, relaxed);
        own.bytes.fetch_add(asked, relaxed);
    } else {
        own.calls.store(own.calls.load(relaxed) + 1, relaxed);
        own.bytes.store(own.bytes.load(relaxed) + asked, relaxed);
    }
}

void *counted_malloc(std::size_t size)
{
    count(size);
    return std::malloc(size);
}

void *counted_calloc(std::size_t items, std::size_t size)
{
    count(items * size);
    return std::calloc(items, size);
}

void *counted_realloc(void *memory, std::size_t size)
{
    count(size);
    return std::realloc(memory, size);
}

void *counted_aligned_alloc(std::size_t alignment, std::size_t size)
{
    count(size);
    return ::aligned_alloc(alignment, size);
}

void *counted_memalign(std::size_t alignment, std::size_t size)
{
    count(size);
    return ::memalign(alignment, size);
}

int counted_posix_memalign(void **memory, std::size_t alignment, std::size_t size)
{
    count(size);
    return ::posix_memalign(memory, alignment, size);
}

struct Function {
    const char *name;
    void *counter;
};

const Function functions[] = {
    {"malloc", reinterpret_cast<void *>(counted_malloc)},
    {"calloc", reinterpret_cast<void *>(counted_calloc)},
    {"realloc", reinterpret_cast<void *>(counted_realloc)},
    {"aligned_alloc", reinterpret_cast<void *>(counted_aligned_alloc)},
    {"memalign", reinterpret_cast<void *>(counted_memalign)},
    {"posix_memalign", reinterpret_cast<void *>(counted_posix_memalign)},
};

#if defined(__aarch64__)
constexpr unsigned jump = R_AARCH64_JUMP_SLOT, entry = R_AARCH64_GLOB_DAT;
#else
constexpr unsigned jump = R_X86_64_JUMP_SLOT, entry = R_X86_64_GLOB_DAT;
#endif

struct Slot {
    void **address;
    void *before;
    void *counter;
    bool is_read_only;
};

struct Tables {
    const ElfW(Rela) * rows[2] = {nullptr, nullptr};
    std::size_t sizes[2] = {0, 0};
    const ElfW(Sym) * symbols = nullptr;
    const char *names = nullptr;
};

std::vector<Slot> slots;

Tables tables_of(const dl_phdr_info &object, const ElfW(Dyn) * row)
{
    Tables tables;
    const auto at = [&object](ElfW(Addr) address) { // the loader has relocated it, as a rule
        return reinterpret_cast<const char *>(address < object.dlpi_addr ? object.dlpi_addr + address : address);
    };
    for (; row->d_tag != DT_NULL; ++row) {
        switch (row->d_tag) {
        case DT_JMPREL: tables.rows[0] = reinterpret_cast<const ElfW(Rela) *>(at(row->d_un.d_ptr)); break;
        case DT_PLTRELSZ: tables.sizes[0] = row->d_un.d_val; break;
        case DT_RELA: tables.rows[1] = reinterpret_cast<const ElfW(Rela) *>(at(row->d_un.d_ptr)); break;
        case DT_RELASZ: tables.sizes[1] = row->d_un.d_val; break;
        case DT_SYMTAB: tables.symbols = reinterpret_cast<const ElfW(Sym) *>(at(row->d_un.d_ptr)); break;
        case DT_STRTAB: tables.names = at(row->d_un.d_ptr); break;
        default: break;
        }
    }
    return tables;
}

void add_slot(const dl_phdr_info &object, const ElfW(Rela) & row, const char *name)
{
    for (const Function &function : functions) {
        if (std::strcmp(name, function.name) != 0) {
            continue;
        }
        bool is_read_only = false;
        for (int i = 0; i < object.dlpi_phnum; ++i) {
            const auto &part = object.dlpi_phdr[i];
            is_read_only |= part.p_type == PT_GNU_RELRO && row.r_offset >= part.p_vaddr &&
                            row.r_offset < part.p_vaddr + part.p_memsz;
        }
        auto **address = reinterpret_cast<void **>(object.dlpi_addr + row.r_offset);
        slots.push_back({address, *address, function.counter, is_read_only});
    }
}

int add_slots(dl_phdr_info *object, std::size_t, void *own)
{
    const std::string_view name = object->dlpi_name;
    if (reinterpret_cast<void *>(object->dlpi_addr) == own || name.find("linux-vdso") != name.npos) {
        return 0;
    }
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) {
            continue;
        }
        const auto *dynamic =
            reinterpret_cast<const ElfW(Dyn) *>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        const Tables tables = tables_of(*object, dynamic);
        for (int table = 0; table < 2; ++table) {
            const std::size_t rows = tables.rows[table] ? tables.sizes[table] / sizeof(ElfW(Rela)) : 0;
            for (std::size_t row = 0; row < rows; ++row) {
                const auto &relocation = tables.rows[table][row];
                const auto type = ELF64_R_TYPE(relocation.r_info);
                if (type == jump || type == entry) {
                    add_slot(*object, relocation, tables.names + tables.symbols[ELF64_R_SYM(relocation.r_info)].st_name);
                }
            }
        }
    }
    return 0;
}

// Writes one address of a table; false where the kernel does not let it.
bool write(const Slot &slot, void *value)
{
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto *start = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(slot.address) / page * page);
    if (slot.is_read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    __atomic_store_n(slot.address, value, __ATOMIC_RELEASE);
    if (slot.is_read_only) {
        mprotect(start, page, PROT_READ);
    }
    return true;
}

} // namespace

// Starts counting; returns the number of tables' entries that lead to counters, or minus errno.
extern "C" std::int64_t ciphermark_count_allocations()
{
    Dl_info own{};
    dladdr(reinterpret_cast<void *>(counted_malloc), &own);
    slots.clear();
    dl_iterate_phdr(add_slots, own.dli_fbase);
    std::int64_t written = 0;
    for (const Slot &slot : slots) {
        if (!write(slot, slot.counter)) {
            return -errno;
        }
        ++written;
    }
    for (Block &block : blocks) {
        block.calls = block.bytes = 0;
    }
    taken = 0;
    ++counting;
    return written;
}

// Stops counting; writes calls and bytes since the start.
extern "C" void ciphermark_counted_allocations(std::int64_t *counts)
{
    counts[0] = counts[1] = 0;
    for (const Block &block : blocks) {
        counts[0] += block.calls;
        counts[1] += block.bytes;
    }
    for (const Slot &slot : slots) {
        write(slot, slot.before);
    }
    slots.clear();
}
