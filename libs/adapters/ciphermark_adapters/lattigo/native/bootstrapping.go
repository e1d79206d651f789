package main

import (
	"encoding"
	"math"
	"runtime"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/circuits/ckks/mod1"
	"github.com/tuneinsight/lattigo/v6/circuits/ckks/polynomial"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/utils"
)

// An operand's scale is the default one up to the rounding of primes.
const sameBootstrappingScale = 0x1p-10

// The bootstrapping circuit of a parameter set: sizes of primes, level by level, each with one matrix or several.
type circuit struct {
	LogSlots        int
	Encoding        [][]int // CoeffsToSlots
	Decoding        [][]int // SlotsToCoeffs
	ModularBits     int     // EvalMod
	EphemeralWeight int
}

// What Python learns of the resolved circuit. The elements are those of its rotation keys.
type circuitFacts struct {
	Moduli, SpecialModuli []uint64
	Elements              []uint64
	OperandLevel          int
}

func (c *context) setUpCircuit(asked circuit) error {
	made, err := bootstrapping.NewParametersFromLiteral(c.ckks, bootstrapping.ParametersLiteral{
		LogN:     utils.Pointy(c.ckks.LogN()),
		Xs:       c.ckks.Xs(),
		LogSlots: &asked.LogSlots,
		CoeffsToSlotsFactorizationDepthAndLogScales: asked.Encoding,
		SlotsToCoeffsFactorizationDepthAndLogScales: asked.Decoding,
		EvalModLogScale:       &asked.ModularBits,
		EphemeralSecretWeight: &asked.EphemeralWeight,
	})
	if err == nil {
		c.circuit = &made
		c.ephemeral, err = rlwe.NewParametersFromLiteral(rlwe.ParametersLiteral{
			LogN: c.ckks.LogN(),
			Q:    made.BootstrappingParameters.Q()[:1],
			P:    made.BootstrappingParameters.P()[:1],
		})
	}
	return err
}

func (c *context) circuitFacts() circuitFacts {
	parameters := c.circuit.BootstrappingParameters
	facts := circuitFacts{
		Moduli: parameters.Q(), SpecialModuli: parameters.P(), Elements: c.circuit.GaloisElements(parameters),
	}
	ratio := math.Log2(float64(parameters.Q()[0])) - float64(c.ckks.LogDefaultScale())
	if math.Round(ratio) < float64(c.circuit.Mod1ParametersLiteral.LogMessageRatio) {
		facts.OperandLevel = 1
	}
	return facts
}

// -- the owner --------------------------------------------------------------------------------------------------

// What Lattigo's GenEvaluationKeys generates, one key at a time: together they are gigabytes.
type circuitOwner struct {
	generator *rlwe.KeyGenerator
	secret    *rlwe.SecretKey // the owner's, with all primes of the circuit
	ephemeral *rlwe.SecretKey
	toSparse  *rlwe.KeyGenerator
}

func newCircuitOwner(c *context, secret *rlwe.SecretKey) *circuitOwner {
	parameters := c.circuit.BootstrappingParameters
	made := &circuitOwner{
		generator: rlwe.NewKeyGenerator(parameters),
		secret:    rlwe.NewSecretKey(parameters),
		toSparse:  rlwe.NewKeyGenerator(c.ephemeral),
	}
	ringQ, ringP := parameters.RingQ(), parameters.RingP()
	buffer := ringQ.NewPoly()
	rlwe.ExtendBasisSmallNormAndCenterNTTMontgomery(ringQ, ringQ, secret.Value.Q, buffer, made.secret.Value.Q)
	rlwe.ExtendBasisSmallNormAndCenterNTTMontgomery(ringQ, ringP, secret.Value.Q, buffer, made.secret.Value.P)
	made.ephemeral = made.toSparse.GenSecretKeyWithHammingWeightNew(c.circuit.EphemeralSecretWeight)
	return made
}

func (o *circuitOwner) key(item string, element uint64) encoding.BinaryMarshaler {
	switch item {
	case "bootstrapping_relinearization_key":
		return o.generator.GenRelinearizationKeyNew(o.secret)
	case "bootstrapping_rotation_key":
		return o.generator.GenGaloisKeyNew(element, o.secret)
	case "bootstrapping_to_sparse":
		return o.toSparse.GenEvaluationKeyNew(o.secret, o.ephemeral)
	case "bootstrapping_to_dense":
		return o.generator.GenEvaluationKeyNew(o.ephemeral, o.secret)
	}
	return nil
}

// -- the evaluator ----------------------------------------------------------------------------------------------

// The ciphertext at the default scale, and at the top level of the parameter set afterwards.
func bootstrapped(e *evaluator, row *operands) ([]shape, error) {
	if e.bootstrapper == nil {
		return nil, invalid("bootstrapping needs keys; none were requested")
	}
	a, least := row.ciphertexts[0], e.context.circuitFacts().OperandLevel
	if a.Degree() != 1 {
		return nil, invalid("a ciphertext of %d polynomials cannot be bootstrapped: relinearize it first", a.Degree()+1)
	}
	if a.Level() < least {
		return nil, exhausted("bootstrapping takes level %d, and the operand is at %d", least, a.Level())
	}
	scale := e.context.ckks.DefaultScale()
	if quotient := a.Scale.Div(scale).Float64(); math.Abs(quotient-1) > sameBootstrappingScale {
		return nil, invalid(
			"Lattigo bootstraps at the default scale of 2^%.1f, and the operand's is 2^%.1f: rescale it, or multiply it "+
				"by a factor, first", scale.Log2(), a.Scale.Log2(),
		)
	}
	return []shape{{1, e.context.rlwe.MaxLevel()}}, nil
}

// Lattigo changes its operand, and takes its scale for the default one where no level is left to correct it: a copy
// with that scale is bootstrapped, and the scale is the operand's again afterwards.
func bootstrap(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	a := row.ciphertexts[0]
	operand := a.CopyNew()
	operand.Scale = e.context.ckks.DefaultScale()
	result, err := e.bootstrapper.evaluate(operand)
	if err != nil {
		return err
	}
	*out[0] = *result
	out[0].Scale = a.Scale
	return nil
}

// Lattigo's evaluator, whose Evaluate has one thread, and its steps on several goroutines.
type bootstrapper struct {
	*bootstrapping.Evaluator
	switcher *switcher
	modular  *mod1.Evaluator // with split key switching
}

func newBootstrapper(own *bootstrapping.Evaluator) (*bootstrapper, error) {
	made, err := newSwitcher(own.Evaluator)
	if err != nil {
		return nil, err
	}
	polynomials := polynomial.NewEvaluator(own.BootstrappingParameters, own.Evaluator)
	polynomials.Evaluator.Evaluator = made
	return &bootstrapper{own, made, mod1.NewEvaluator(own.Evaluator, polynomials, own.Mod1Parameters)}, nil
}

// Lattigo's Evaluate. On several processors, its loops are split, and the two halves of a full ciphertext are reduced at
// once; the result is the same.
func (b *bootstrapper) evaluate(operand *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	threads := runtime.GOMAXPROCS(0)
	if threads == 1 {
		return b.Evaluate(operand)
	}
	scaled, _, err := b.ScaleDown(operand)
	if err != nil {
		return nil, err
	}
	raised, err := b.switcher.raised(b.Evaluator, scaled)
	if err != nil {
		return nil, err
	}
	left, right, err := b.switcher.coeffsToSlots(raised, b.C2SDFTMatrix)
	if err != nil {
		return nil, err
	}
	halves := []*rlwe.Ciphertext{left}
	if right != nil {
		halves = append(halves, right)
	}
	split := *b.Evaluator
	if threads > len(halves) {
		split.Mod1Evaluator = b.modular
	}
	err = onThreads(len(halves), threads, func(i int) (err error) {
		halves[i], err = split.EvalMod(halves[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	if right != nil {
		right = halves[1]
	}
	return b.switcher.slotsToCoeffs(halves[0], right, b.S2CDFTMatrix)
}
