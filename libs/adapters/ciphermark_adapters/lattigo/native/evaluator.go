package main

import (
	"encoding"
	"encoding/binary"
	"strings"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/ring/ringqp"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// The part of Lattigo's two evaluators that is alike.
type library interface {
	Add(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Sub(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Mul(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	MulRelin(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	MulThenAdd(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Rescale(a, out *rlwe.Ciphertext) error
	Relinearize(a, out *rlwe.Ciphertext) error
	Automorphism(a *rlwe.Ciphertext, element uint64, out *rlwe.Ciphertext) error
	AutomorphismHoisted(
		level int, a *rlwe.Ciphertext, decomposed []ringqp.Poly, element uint64, out *rlwe.Ciphertext,
	) error
	DecomposeNTT(levelQ, levelP, special int, polynomial ring.Poly, isNTT bool, out []ringqp.Poly)
}

// Computes with evaluation keys. Lattigo's evaluators may be used by several goroutines at once.
type evaluator struct {
	context *context
	library library
	// Divides by the last prime; that of BFV's own evaluator does nothing.
	switcher interface {
		Rescale(a, out *rlwe.Ciphertext) error
	}
	own          keySet
	circuit      keySet // of bootstrapping
	toSparse     *rlwe.EvaluationKey
	toDense      *rlwe.EvaluationKey
	bootstrapper *bootstrapper
}

type keySet struct {
	relinearization *rlwe.RelinearizationKey
	rotations       []*rlwe.GaloisKey
}

func (k *keySet) newRelinearization() (encoding.BinaryUnmarshaler, *rlwe.EvaluationKey) {
	k.relinearization = new(rlwe.RelinearizationKey)
	return k.relinearization, &k.relinearization.EvaluationKey
}

func (k *keySet) newRotation() (encoding.BinaryUnmarshaler, *rlwe.EvaluationKey) {
	key := new(rlwe.GaloisKey)
	k.rotations = append(k.rotations, key)
	return key, &key.EvaluationKey
}

func (k *keySet) complete() *rlwe.MemEvaluationKeySet {
	return rlwe.NewMemEvaluationKeySet(k.relinearization, k.rotations...)
}

func (e *evaluator) addKey(name string, data []byte) error {
	parameters := e.context.rlwe
	if strings.HasPrefix(name, "bootstrapping_") {
		if e.context.circuit == nil {
			return invalid("these parameters have no bootstrapping")
		}
		parameters = e.context.circuit.BootstrappingParameters.Parameters
	}
	if name == "bootstrapping_to_sparse" {
		parameters = e.context.ephemeral
	}
	if err := requireKey(parameters, name, data); err != nil {
		return err
	}
	var into encoding.BinaryUnmarshaler
	var key *rlwe.EvaluationKey
	switch name {
	case "relinearization_key":
		into, key = e.own.newRelinearization()
	case "rotation_key":
		into, key = e.own.newRotation()
	case "bootstrapping_relinearization_key":
		into, key = e.circuit.newRelinearization()
	case "bootstrapping_rotation_key":
		into, key = e.circuit.newRotation()
	case "bootstrapping_to_sparse":
		e.toSparse = new(rlwe.EvaluationKey)
		into, key = e.toSparse, e.toSparse
	case "bootstrapping_to_dense":
		e.toDense = new(rlwe.EvaluationKey)
		into, key = e.toDense, e.toDense
	default:
		return invalid("there is no key %s", name)
	}
	return read(parameters, into, key, data)
}

// Lattigo allocates what the bytes of an object ask for, and a process without that memory ends: bytes of another kind
// or size are refused before. A rotation key begins with its element and 2N.
func requireKey(parameters rlwe.Parameters, name string, data []byte) error {
	order := uint64(2 * parameters.N())
	digits := (parameters.QCount() + parameters.PCount() - 1) / max(1, parameters.PCount())
	numbers := 8 * 2 * digits * parameters.QPCount() * parameters.N()
	begins := len(data) >= 16 && binary.LittleEndian.Uint64(data[8:]) == order &&
		binary.LittleEndian.Uint64(data) < order
	if begins != strings.HasSuffix(name, "rotation_key") || len(data) < numbers || len(data) > numbers+numbers/8+1024 {
		return invalid("these bytes are no %s of these parameters", strings.ReplaceAll(name, "_", " "))
	}
	return nil
}

func read(
	parameters rlwe.Parameters, into encoding.BinaryUnmarshaler, key *rlwe.EvaluationKey, data []byte,
) error {
	if err := into.UnmarshalBinary(data); err != nil {
		return err
	}
	if len(key.Value) == 0 || len(key.Value[0]) == 0 || key.Degree() != 1 ||
		key.LevelQ() != parameters.MaxLevelQ() || key.LevelP() != parameters.MaxLevelP() ||
		key.Value[0][0][0].Q.N() != parameters.N() {
		return invalid("this is an evaluation key of other parameters")
	}
	return nil
}

// Is to be called after the last key: Lattigo prepares automorphisms where it makes an evaluator.
func (e *evaluator) complete() error {
	keys := e.own.complete()
	if e.context.isReal() {
		own := ckks.NewEvaluator(e.context.ckks, keys)
		e.library, e.switcher = own, own
		return e.completeCircuit()
	}
	own := bgv.NewEvaluator(e.context.bgv, keys, e.context.scheme == "bfv")
	e.library, e.switcher = own, own
	if own.ScaleInvariant {
		standard := *own
		standard.ScaleInvariant = false
		e.switcher = &standard
	}
	return nil
}

// Computes the matrices of bootstrapping, where it has keys.
func (e *evaluator) completeCircuit() error {
	if e.circuit.relinearization == nil {
		return nil
	}
	boundGrowth()
	own, err := bootstrapping.NewEvaluator(*e.context.circuit, &bootstrapping.EvaluationKeys{
		MemEvaluationKeySet: e.circuit.complete(), EvkDenseToSparse: e.toSparse, EvkSparseToDense: e.toDense,
	})
	if err != nil {
		return err
	}
	e.bootstrapper, err = newBootstrapper(own)
	boundGrowth()
	return err
}

func (e *evaluator) bind(name string, rows []operands) (*bound, error) {
	operation, isKnown := operations[name]
	if !isKnown {
		return nil, invalid("there is no operation %s", name)
	}
	made := &bound{}
	for i := range rows {
		row := &rows[i]
		shapes, err := operation.prepare(e, row)
		if err != nil {
			return nil, err
		}
		out := make([]*rlwe.Ciphertext, len(shapes))
		results := make([]any, len(shapes))
		for j, shape := range shapes {
			out[j] = e.context.newCiphertext(shape.degree, shape.level)
			results[j] = out[j]
		}
		made.add(func() error { return operation.apply(e, row, out) }, results...)
	}
	return made, nil
}

// At the default scale, and the level of a ciphertext where there is one.
func (e *evaluator) bindEncode(rows [][]uint64, levels []int) (*bound, error) {
	made := &bound{}
	for i, values := range rows {
		if err := e.context.requireSlots(values); err != nil {
			return nil, err
		}
		result := e.context.newPlaintext(levels[i])
		made.add(func() error { return e.context.encode(values, result) }, result)
	}
	return made, nil
}

// At the top level.
func (e *evaluator) bindEncodeCoefficients(rows [][]uint64) (*bound, error) {
	made := &bound{}
	for _, values := range rows {
		if err := e.context.requireSlots(values); err != nil {
			return nil, err
		}
		result := e.context.newPlaintext(e.context.rlwe.MaxLevel())
		made.add(func() error { return e.context.encodeCoefficients(values, result) }, result)
	}
	return made, nil
}
