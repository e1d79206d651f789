// The Python module. Python's side of it, typed, is in ../binding.py.

#include "build_info.hpp"
#include "bytes.hpp"
#include "context.hpp"
#include "evaluator.hpp"
#include "key_owner.hpp"
#include "primitives.hpp"
#include "program.hpp"
#include "python_module.hpp"
#include "vectors.hpp"
#include <cstdint>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ciphermark {

namespace {

// SEAL's ways to say that modulus chain or scale are used up, or that it refuses a result, become the contract's
// errors. std::logic_error is the base of std::invalid_argument.
void translate_error(const std::exception_ptr &thrown, void *)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const Unsupported &error) {
        set_python_error("Unsupported", error.what());
    } catch (const std::logic_error &error) {
        const std::string reason = error.what();
        if (reason == "scale out of bounds" || reason == "end of modulus switching chain reached") {
            set_python_error("Exhausted", "SEAL: " + reason);
        } else if (reason == "result ciphertext is transparent") {
            set_python_error("Unsupported", "SEAL refuses results without randomness, such as x - x: " + reason);
        } else {
            throw;
        }
    }
}

void define_context(nb::module_ &module)
{
    module.def("default_chain", &default_chain, "ring_dimension"_a);
    module.def("create_chain", &create_chain, "ring_dimension"_a, "bits"_a);
    nb::class_<seal::Ciphertext>(module, "Ciphertext")
        .def_prop_ro("polynomials", &seal::Ciphertext::size)
        .def_prop_ro("scale", [](const seal::Ciphertext &ciphertext) { return ciphertext.scale(); })
        .def("dump", &save<seal::Ciphertext>, "compression"_a);
    nb::class_<seal::Plaintext>(module, "Plaintext").def("dump", &save<seal::Plaintext>, "compression"_a);
    nb::class_<Context>(module, "Context")
        .def(
            nb::init<const std::string &, std::size_t, const std::vector<std::uint64_t> &, std::uint64_t>(),
            "scheme"_a, "ring_dimension"_a, "moduli"_a, "plain_modulus"_a)
        .def_prop_ro("switches_keys", &Context::switches_keys)
        .def_prop_ro("modulus_bits", &Context::modulus_bits)
        .def("galois_element", &Context::galois_element, "steps"_a)
        .def("level", &Context::level, "ciphertext"_a)
        .def("residues", &residues, "ciphertext"_a)
        .def("from_residues", &from_residues, "residues"_a, "level"_a)
        .def("encode_integers", &encode<std::int64_t>, "values"_a, "level"_a.none(), "scale"_a)
        .def("encode_reals", &encode<double>, "values"_a, "level"_a.none(), "scale"_a)
        .def("load", [](const Context &context, nb::handle data) {
            return load<seal::Ciphertext>(context.seal(), View(data));
        }, "data"_a)
        .def("dump_parameters", [](const Context &context, const std::string &compression) {
            return save(context.parameters(), compression);
        }, "compression"_a);
}

template <class Key, const Key &(KeyOwner::*key)() const>
nb::bytes dump_key(const KeyOwner &owner, const std::string &compression)
{
    return save((owner.*key)(), compression);
}

// What `make` makes, which others need not wait for, as bytes.
template <class Make>
nb::bytes save_made(Make make, const std::string &compression)
{
    std::optional<decltype(make())> made;
    {
        const nb::gil_scoped_release released;
        made.emplace(make());
    }
    return save(*made, compression);
}

template <auto make>
nb::bytes dump_made(const KeyOwner &owner, const std::string &compression)
{
    return save_made([&owner] { return (owner.*make)(); }, compression);
}

template <auto make>
nb::bytes dump_rotation_keys(
    const KeyOwner &owner, const std::vector<std::uint32_t> &elements, const std::string &compression)
{
    return save_made([&] { return (owner.*make)(elements); }, compression);
}

template <class Value>
nb::bytes dump_seeded(const KeyOwner &owner, const Array<Value> &values, double scale, const std::string &compression)
{
    return save_made(
        [&] { return owner.encrypt_seeded<Slots<Value>>(to_slots<Slots<Value>, Value>(values), scale); }, compression);
}

// As a set of this key alone: SEAL's own sets of rotation keys begin with a table of all that there could be.
nb::bytes dump_rotation_key(const KeyOwner &owner, std::uint32_t element)
{
    const auto alone = [&owner, element] {
        seal::GaloisKeys keys = owner.rotation_keys({ element });
        seal::KSwitchKeys one;
        one.parms_id() = keys.parms_id();
        one.data().push_back(std::move(keys.data()[seal::GaloisKeys::get_index(element)]));
        return one;
    };
    return save_made(alone, "none");
}

void define_key_owner(nb::module_ &module)
{
    nb::class_<KeyOwner>(module, "KeyOwner")
        .def(nb::init<std::shared_ptr<const Context>>(), "context"_a, ReleaseGil())
        .def("encrypt_integers", &encrypt<std::int64_t>, "rows"_a, "scale"_a, KeepOwner())
        .def("encrypt_reals", &encrypt<double>, "rows"_a, "scale"_a, KeepOwner())
        .def("decrypt_integers", &KeyOwner::decrypt<Integers>, "rows"_a, KeepOwner())
        .def("decrypt_reals", &KeyOwner::decrypt<Reals>, "rows"_a, KeepOwner())
        .def("noise_budget_bits", &KeyOwner::noise_budget_bits, "ciphertext"_a)
        .def("dump_secret_key", &dump_key<seal::SecretKey, &KeyOwner::secret_key>, "compression"_a)
        .def("dump_public_key", &dump_key<seal::PublicKey, &KeyOwner::public_key>, "compression"_a)
        .def("dump_relinearization_keys", &dump_made<&KeyOwner::relinearization_keys>, "compression"_a)
        .def("dump_rotation_keys", &dump_rotation_keys<&KeyOwner::rotation_keys>, "elements"_a, "compression"_a)
        .def("dump_rotation_key", &dump_rotation_key, "element"_a)
        .def("dump_seeded_public_key", &dump_made<&KeyOwner::seeded_public_key>, "compression"_a)
        .def("dump_seeded_relinearization_keys", &dump_made<&KeyOwner::seeded_relinearization_keys>, "compression"_a)
        .def(
            "dump_seeded_rotation_keys", &dump_rotation_keys<&KeyOwner::seeded_rotation_keys>, "elements"_a,
            "compression"_a)
        .def("dump_seeded_integers", &dump_seeded<std::int64_t>, "values"_a, "scale"_a, "compression"_a)
        .def("dump_seeded_reals", &dump_seeded<double>, "values"_a, "scale"_a, "compression"_a)
        .def("generate_key_pair", &KeyOwner::generate_key_pair, ReleaseGil())
        .def("generate_relinearization_keys", [](const KeyOwner &owner) { owner.relinearization_keys(); }, ReleaseGil())
        .def("generate_rotation_key", [](const KeyOwner &owner, std::uint32_t element) {
            owner.rotation_keys({ element });
        }, "element"_a, ReleaseGil());
}

void load_relinearization_keys(Evaluator &evaluator, nb::handle data)
{
    evaluator.set_relinearization_keys(load<seal::RelinKeys>(evaluator.context().seal(), View(data)));
}

void load_rotation_key(Evaluator &evaluator, std::uint32_t element, nb::handle data)
{
    evaluator.add_rotation_key(element, load<seal::KSwitchKeys>(evaluator.context().seal(), View(data)));
}

void define_evaluator(nb::module_ &module)
{
    nb::class_<Evaluator>(module, "Evaluator")
        .def(nb::init<std::shared_ptr<const Context>, double>(), "context"_a, "scale"_a)
        .def("load_relinearization_keys", &load_relinearization_keys, "data"_a)
        .def("load_rotation_key", &load_rotation_key, "element"_a, "data"_a)
        .def("bind", &bind_primitive, "operation"_a, "rows"_a, KeepOwner())
        .def("transform_plain", &Evaluator::transform_plain, "rows"_a, KeepOwner())
        .def("encode_integers", &encode_rows<std::int64_t>, "rows"_a, "scale"_a, KeepOwner())
        .def("encode_reals", &encode_rows<double>, "rows"_a, "scale"_a, KeepOwner())
        .def("encode_coefficients", &encode_coefficients, "rows"_a, KeepOwner())
        .def("prepare_integers", &prepare<std::int64_t>, "vectors"_a, "threads"_a)
        .def("prepare_reals", &prepare<double>, "vectors"_a, "threads"_a);
}

// Python has no handles of constants: who holds a result may not change it anyway.
nb::list program_results(const ProgramBound &bound)
{
    nb::list results;
    for (const CiphertextPointer &result : bound.results()) {
        results.append(nb::cast(std::const_pointer_cast<seal::Ciphertext>(result)));
    }
    return results;
}

void define_program(nb::module_ &module)
{
    nb::class_<ProgramBound>(module, "ProgramBound")
        .def("run", &ProgramBound::run, "loops"_a, ReleaseGil())
        .def("results", &program_results);
    nb::class_<Program>(module, "Program")
        .def(
            nb::init<
                const Evaluator &, std::size_t, const std::vector<ProgramNode> &, std::vector<PlaintextPointer>,
                std::vector<Index>>(),
            "evaluator"_a, "inputs"_a, "nodes"_a, "plaintexts"_a, "outputs"_a, nb::keep_alive<1, 2>())
        .def("bind", &Program::bind, "inputs"_a, "threads"_a, KeepOwner());
}

} // namespace

NB_MODULE(CIPHERMARK_MODULE, module)
{
    nb::set_leak_warnings(false); // a program that ends leaves its objects alive: not worth a page of text
    nb::register_exception_translator(translate_error);

    module.attr("seal_version") = SEAL_VERSION;
    module.attr("is_debug_build") = is_debug_build();
    module.attr("has_hexl") = has_hexl();
    module.attr("build_facts") = build_facts();

    define_bound<seal::Ciphertext>(module, "CiphertextBound");
    define_bound<seal::Plaintext>(module, "PlaintextBound");
    define_bound<Integers>(module, "IntegersBound");
    define_bound<Reals>(module, "RealsBound");
    define_bound<std::tuple<>>(module, "EmptyBound");
    module.def("bind_empty", &bind_empty);
    define_context(module);
    define_key_owner(module);
    define_evaluator(module);
    define_program(module);
}

} // namespace ciphermark
