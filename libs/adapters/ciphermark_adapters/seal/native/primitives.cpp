#include "primitives.hpp"

#include "kernels.hpp"
#include <memory>
#include <nanobind/stl/shared_ptr.h>
#include <utility>

namespace ciphermark {

namespace nb = nanobind;
using seal::Ciphertext;
using seal::Plaintext;

namespace {

// What a kernel takes, with shares in its operands, so that these outlive the Python handles.
struct OwnedOperands {
    KernelOperands operands;
    std::vector<std::shared_ptr<const void>> owners;
};

template <class Object>
void take(const nb::object &operand, std::vector<const Object *> &into, OwnedOperands &row)
{
    const auto object = nb::cast<std::shared_ptr<const Object>>(operand);
    into.push_back(object.get());
    row.owners.push_back(object);
}

// Whether the operand is of a kind that may still come.
bool is_taken(const nb::object &operand, OwnedOperands &row)
{
    KernelOperands &before = row.operands;
    if (nb::isinstance<Ciphertext>(operand) && before.plaintexts.empty() && before.numbers.empty()) {
        take(operand, before.ciphertexts, row);
        return true;
    }
    if (nb::isinstance<Plaintext>(operand) && before.numbers.empty()) {
        take(operand, before.plaintexts, row);
        return true;
    }
    std::int64_t number = 0;
    if (!nb::try_cast(operand, number)) {
        return false;
    }
    before.numbers.push_back(number);
    return true;
}

OwnedOperands to_operands(const Takes &takes, const std::vector<nb::object> &row)
{
    OwnedOperands made;
    for (const nb::object &operand : row) {
        if (!is_taken(operand, made)) {
            throw nb::type_error("rows are ciphertexts, then plaintexts, then whole numbers");
        }
    }
    if (!takes.fits(made.operands)) {
        throw nb::type_error("a row has not as many operands as the operation takes");
    }
    return made;
}

Ciphertext room(const Evaluator &evaluator, const Kernel &kernel, const Ciphertext &first)
{
    Ciphertext result;
    const std::size_t polynomials = kernel.has(grows) ? 2 * first.size() - 1 : first.size();
    result.reserve(evaluator.context().seal(), first.parms_id(), polynomials);
    return result;
}

} // namespace

CiphertextBound bind_primitive(
    const Evaluator &evaluator, const std::string &operation, const std::vector<std::vector<nb::object>> &rows)
{
    const Kernel &kernel = kernel_named(operation);
    std::vector<OwnedOperands> taken;
    std::vector<Ciphertext> destinations;
    for (const std::vector<nb::object> &row : rows) {
        taken.push_back(to_operands(kernel.takes, row));
        destinations.push_back(room(evaluator, kernel, *taken.back().operands.ciphertexts[0]));
    }
    return bind(
        std::move(taken), std::move(destinations),
        [&evaluator, apply = kernel.apply](const OwnedOperands &row, Ciphertext &out) {
            apply(evaluator, row.operands, out);
        });
}

} // namespace ciphermark
