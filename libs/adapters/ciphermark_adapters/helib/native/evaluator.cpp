#include "evaluator.hpp"

#include "errors.hpp"
#include <algorithm>
#include <map>
#include <utility>

namespace ciphermark::he {

Evaluator::Evaluator(std::shared_ptr<const Keys> keys, double scale)
    : keys_(std::move(keys)),
      scale_(scale),
      noise_(keys_->context->is_real() ? keys_->scale_keeping_error() : 0)
{
}

void Evaluator::hold_bounds(helib::Ctxt &out) const
{
    const double factor = std::max(1.0, NTL::to_double(out.getRatFactor()) / scale_);
    const double least = 4 * NTL::to_double(out.modSwitchAddedNoiseBound()); // of three parts it is large
    if (out.getNoiseBound() > 0) {
        out.bumpNoiseBound(NTL::to_double(std::max(noise_ * factor, least) / out.getNoiseBound()));
    }
    out.setPtxtMag(std::min(out.getPtxtMag(), NTL::to_xdouble(Context::usual_magnitude)));
}

template <class Row, class Kernel>
CiphertextBound Evaluator::in_place(std::vector<Row> rows, Kernel kernel) const
{
    std::vector<Ciphertext> destinations;
    for (const Row &row : rows) {
        destinations.push_back(*std::get<0>(row));
    }
    auto on_copy = [this, kernel, is_real = keys_->context->is_real()](const Row &row, Ciphertext &out) {
        out.ctxt = std::get<0>(row)->ctxt;
        kernel(row, out.ctxt);
        if (is_real) {
            hold_bounds(out.ctxt);
        }
    };
    return bind(std::move(rows), std::move(destinations), std::move(on_copy));
}

CiphertextBound Evaluator::negate(std::vector<UnaryRow> rows) const
{
    return in_place(std::move(rows), [](const UnaryRow &, helib::Ctxt &out) { out.negate(); });
}

CiphertextBound Evaluator::add(std::vector<BinaryRow> rows) const
{
    return in_place(std::move(rows), [](const BinaryRow &row, helib::Ctxt &out) {
        out += std::get<1>(row)->ctxt;
    });
}

CiphertextBound Evaluator::sub(std::vector<BinaryRow> rows) const
{
    return in_place(std::move(rows), [](const BinaryRow &row, helib::Ctxt &out) {
        out -= std::get<1>(row)->ctxt;
    });
}

CiphertextBound Evaluator::mul(std::vector<BinaryRow> rows) const
{
    return in_place(std::move(rows), [](const BinaryRow &row, helib::Ctxt &out) {
        out.multLowLvl(std::get<1>(row)->ctxt);
    });
}

CiphertextBound Evaluator::square(std::vector<UnaryRow> rows) const
{
    return in_place(std::move(rows), [](const UnaryRow &, helib::Ctxt &out) { out.multLowLvl(out); });
}

// HElib leaves the special primes in until the next operation that does not want them: they go at once here.
CiphertextBound Evaluator::relinearize(std::vector<UnaryRow> rows) const
{
    return in_place(std::move(rows), [](const UnaryRow &, helib::Ctxt &out) {
        out.reLinearize();
        out.dropSmallAndSpecialPrimes();
    });
}

CiphertextBound Evaluator::automorphism(std::vector<AutomorphismRow> rows) const
{
    return in_place(std::move(rows), [](const AutomorphismRow &row, helib::Ctxt &out) {
        out.smartAutomorph(std::get<1>(row));
        out.dropSmallAndSpecialPrimes();
    });
}

CiphertextBound Evaluator::mod_down(std::vector<UnaryRow> rows) const
{
    return in_place(std::move(rows), [this](const UnaryRow &, helib::Ctxt &out) {
        bring_down(out);
    });
}

CiphertextBound Evaluator::drop_prime(std::vector<UnaryRow> rows) const
{
    std::map<long, helib::FatEncodedPtxt> primes;
    for (const UnaryRow &row : rows) {
        const long level = keys_->context->level(std::get<0>(row)->ctxt);
        if (level > 0 && primes.count(level) == 0) {
            primes.emplace(level, keys_->context->last_prime(level));
        }
    }
    return in_place(std::move(rows), [this, primes = std::move(primes)](const UnaryRow &, helib::Ctxt &out) {
        const auto prime = primes.find(keys_->context->level(out));
        if (prime != primes.end()) {
            out.multByConstant(prime->second);
        }
        bring_down(out);
    });
}

void Evaluator::bring_down(helib::Ctxt &out) const
{
    const long level = keys_->context->level(out);
    if (level == 0) {
        throw Exhausted("no smaller modulus is left in HElib's chain");
    }
    out.bringToSet(keys_->context->helib().getCtxtPrimes(level));
}

// bgv is switched by the next product: HElib does that before it multiplies.
CiphertextBound Evaluator::mul_full(std::vector<BinaryRow> rows) const
{
    return in_place(std::move(rows), [this](const BinaryRow &row, helib::Ctxt &out) {
        out.multiplyBy(std::get<1>(row)->ctxt);
        out.dropSmallAndSpecialPrimes();
        if (keys_->context->is_real()) {
            bring_down(out);
        }
    });
}

CiphertextBound Evaluator::add_plain(std::vector<PlainRow> rows) const
{
    return with_constant(std::move(rows), false);
}

CiphertextBound Evaluator::sub_plain(std::vector<PlainRow> rows) const
{
    return with_constant(std::move(rows), true);
}

// bgv: with coefficients, which HElib multiplies by a factor of the ciphertext modulo t, so that noise hardly grows.
CiphertextBound Evaluator::with_constant(std::vector<PlainRow> rows, bool is_negative) const
{
    if (keys_->context->is_real()) {
        return in_place(std::move(rows), [is_negative](const PlainRow &row, helib::Ctxt &out) {
            out.addConstant(std::get<1>(row)->expanded, is_negative);
        });
    }
    return in_place(std::move(rows), [is_negative](const PlainRow &row, helib::Ctxt &out) {
        out.addConstant(std::get<1>(row)->compact, is_negative);
    });
}

CiphertextBound Evaluator::add_plain_ntt(std::vector<PlainRow> rows) const
{
    return in_place(std::move(rows), [](const PlainRow &row, helib::Ctxt &out) {
        out.addConstant(std::get<1>(row)->expanded);
    });
}

CiphertextBound Evaluator::mul_plain(std::vector<PlainRow> rows) const
{
    return in_place(std::move(rows), [](const PlainRow &row, helib::Ctxt &out) {
        out.multByConstant(std::get<1>(row)->expanded);
    });
}

template <class Number>
CiphertextBound Evaluator::add_number(std::vector<NumberRow<Number>> rows) const
{
    return in_place(std::move(rows), [](const NumberRow<Number> &row, helib::Ctxt &out) {
        out.addConstant(std::get<1>(row));
    });
}

template <>
CiphertextBound Evaluator::mul_number(std::vector<NumberRow<long>> rows) const
{
    return in_place(std::move(rows), [](const NumberRow<long> &row, helib::Ctxt &out) {
        out.multByConstant(std::get<1>(row));
    });
}

template <>
CiphertextBound Evaluator::mul_number(std::vector<NumberRow<double>> rows) const
{
    return in_place(std::move(rows), [this](const NumberRow<double> &row, helib::Ctxt &out) {
        out.multByConstant(keys_->context->number(std::get<1>(row), scale_));
    });
}

template CiphertextBound Evaluator::add_number(std::vector<NumberRow<long>>) const;
template CiphertextBound Evaluator::add_number(std::vector<NumberRow<double>>) const;

} // namespace ciphermark::he
