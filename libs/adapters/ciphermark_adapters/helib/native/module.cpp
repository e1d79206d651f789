// The Python module. Python's side of it, typed, is in ../binding.py.

#include "build_info.hpp"
#include "bytes.hpp"
#include "context.hpp"
#include "evaluator.hpp"
#include "key_owner.hpp"
#include "python_module.hpp"
#include "vectors.hpp"
#include <NTL/BasicThreadPool.h>
#include <algorithm>
#include <helib/log.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

namespace ciphermark::he {

namespace {

// HElib's refusal to decrypt becomes the contract's error; all its others keep their text as RuntimeError.
void translate_error(const std::exception_ptr &thrown, void *)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const Unsupported &error) {
        set_python_error("Unsupported", error.what());
    } catch (const Exhausted &error) {
        set_python_error("Exhausted", error.what());
    } catch (const helib::LogicError &error) {
        if (std::string(error.what()).find("too much noise") == std::string::npos) {
            throw;
        }
        set_python_error("Exhausted", std::string("HElib: ") + error.what());
    }
}

void define_context(nb::module_ &module)
{
    module.def("describe_bare", &Context::describe_bare, "m"_a, "precision"_a);
    module.def("read_context", &Context::read, "json"_a, ReleaseGil());
    module.def("choose_context", &Context::choose, "m"_a, "p"_a, "bits"_a, "columns"_a, ReleaseGil());
    module.def(
        "foretell_context", &Context::foretell, "m"_a, "bits"_a, "columns"_a, "special_bits"_a, ReleaseGil());
    nb::class_<Context>(module, "Context")
        .def_prop_ro("ciphertext_primes", &Context::ciphertext_primes)
        .def_prop_ro("special_primes", &Context::special_primes)
        .def_prop_ro("small_primes", &Context::small_primes)
        .def_prop_ro("slot_exponents", &Context::slot_exponents)
        .def("dump", [](const Context &context) {
            return written([&](std::ostream &stream) { context.helib().writeTo(stream); });
        });
    nb::class_<Ciphertext>(module, "Ciphertext")
        .def_prop_ro("level", [](const Ciphertext &self) { return self.keys->context->level(self.ctxt); })
        .def_prop_ro("scale", [](const Ciphertext &self) { return NTL::to_double(self.ctxt.getRatFactor()); })
        .def_prop_ro("polynomials", &Ciphertext::polynomials)
        .def_prop_ro("capacity_bits", [](const Ciphertext &self) { return std::max(0L, self.ctxt.bitCapacity()); })
        .def("dump", [](const Ciphertext &self) {
            return written([&](std::ostream &stream) { self.ctxt.writeTo(stream); });
        });
    nb::class_<Plaintext>(module, "Plaintext");
}

template <class Owner>
Ciphertext load(const Owner &owner, const nb::bytes &data)
{
    Ciphertext loaded(owner.keys());
    BytesStream stream(data);
    loaded.ctxt.read(stream);
    return loaded;
}

nb::bytes dump_matrices(const KeyOwner &owner, bool relinearization)
{
    return written([&](std::ostream &stream) { owner.write_matrices(stream, relinearization); });
}

void define_key_owner(nb::module_ &module)
{
    nb::class_<KeyOwner>(module, "KeyOwner")
        .def(
            nb::init<std::shared_ptr<const Context>, bool, const std::vector<long> &>(), "context"_a,
            "relinearization"_a, "automorphisms"_a, ReleaseGil())
        .def("encrypt_integers", &encrypt<std::int64_t>, "rows"_a, "scale"_a, KeepOwner())
        .def("encrypt_reals", &encrypt<double>, "rows"_a, "scale"_a, KeepOwner())
        .def("decrypt_integers", &KeyOwner::decrypt<Integers>, "rows"_a, KeepOwner())
        .def("decrypt_reals", &KeyOwner::decrypt<Reals>, "rows"_a, KeepOwner())
        .def("load", &load<KeyOwner>, "data"_a)
        .def("dump_secret_key", [](const KeyOwner &owner) {
            return written([&](std::ostream &stream) { owner.write_secret_key(stream); });
        })
        .def("dump_public_key", [](const KeyOwner &owner) {
            return written([&](std::ostream &stream) { owner.write_public_key(stream); });
        })
        .def("dump_relinearization_keys", [](const KeyOwner &owner) { return dump_matrices(owner, true); })
        .def("dump_rotation_keys", [](const KeyOwner &owner) { return dump_matrices(owner, false); });
}

void construct_evaluator(
    Evaluator *self, std::shared_ptr<const Context> context, const nb::bytes &public_key, double scale)
{
    BytesStream stream(public_key);
    std::unique_ptr<const helib::PubKey> key(
        new helib::PubKey(helib::PubKey::readFrom(stream, context->helib())));
    new (self) Evaluator(std::make_shared<Keys>(Keys{ std::move(context), std::move(key) }), scale);
}

void define_evaluator(nb::module_ &module)
{
    nb::class_<Evaluator>(module, "Evaluator")
        .def("__init__", &construct_evaluator, "context"_a, "public_key"_a, "scale"_a)
        .def("load", &load<Evaluator>, "data"_a)
        .def("encode_integers", &encode<std::int64_t>, "values"_a, "like"_a.none(), "level"_a, "scale"_a)
        .def("encode_reals", &encode<double>, "values"_a, "like"_a.none(), "level"_a, "scale"_a)
        .def("negate", &Evaluator::negate, "rows"_a, KeepOwner())
        .def("add", &Evaluator::add, "rows"_a, KeepOwner())
        .def("sub", &Evaluator::sub, "rows"_a, KeepOwner())
        .def("add_plain", &Evaluator::add_plain, "rows"_a, KeepOwner())
        .def("sub_plain", &Evaluator::sub_plain, "rows"_a, KeepOwner())
        .def("add_plain_ntt", &Evaluator::add_plain_ntt, "rows"_a, KeepOwner())
        .def("mul_plain", &Evaluator::mul_plain, "rows"_a, KeepOwner())
        .def("mul", &Evaluator::mul, "rows"_a, KeepOwner())
        .def("mul_full", &Evaluator::mul_full, "rows"_a, KeepOwner())
        .def("square", &Evaluator::square, "rows"_a, KeepOwner())
        .def("relinearize", &Evaluator::relinearize, "rows"_a, KeepOwner())
        .def("mod_down", &Evaluator::mod_down, "rows"_a, KeepOwner())
        .def("drop_prime", &Evaluator::drop_prime, "rows"_a, KeepOwner())
        .def("add_integer", &Evaluator::add_number<long>, "rows"_a, KeepOwner())
        .def("add_real", &Evaluator::add_number<double>, "rows"_a, KeepOwner())
        .def("mul_integer", &Evaluator::mul_number<long>, "rows"_a, KeepOwner())
        .def("mul_real", &Evaluator::mul_number<double>, "rows"_a, KeepOwner())
        .def("automorphism", &Evaluator::automorphism, "rows"_a, KeepOwner());
}

} // namespace

NB_MODULE(_ciphermark_helib, module)
{
    nb::set_leak_warnings(false); // a program that ends leaves its objects alive: not worth a page of text
    nb::register_exception_translator(translate_error);
    helib::helog.setLogToFile("/dev/null"); // HElib's warnings go to a file helib.log otherwise

    module.attr("helib_version") = helib_version();
    module.attr("is_debug_build") = is_debug_build();
    module.attr("build_facts") = build_facts();

    define_bound<Ciphertext>(module, "CiphertextBound");
    define_bound<Integers>(module, "IntegersBound");
    define_bound<Reals>(module, "RealsBound");
    define_bound<std::tuple<>>(module, "EmptyBound");
    module.def("bind_empty", &bind_empty);
    module.def("set_threads", &NTL::SetNumThreads, "count"_a);
    define_context(module);
    define_key_owner(module);
    define_evaluator(module);
}

} // namespace ciphermark::he
