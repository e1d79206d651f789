package main

import (
	"math"
	"math/big"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
)

// ModUp of Lattigo: under the ephemeral secret, coefficients modulo the first prime are taken for small integers.
func (s *switcher) raised(own *bootstrapping.Evaluator, in *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	if err := own.ApplyEvaluationKey(in, own.EvkDenseToSparse, in); err != nil {
		return nil, err
	}
	level := own.BootstrappingParameters.MaxLevel()
	primes := s.primes(level)
	scale := own.Mod1Parameters.ScalingFactor().Float64() / own.Mod1Parameters.MessageRatio() / in.Scale.Float64()
	factor := uint64(math.Round(max(1, scale)))
	halves, products := [2]residues{s.taken(len(primes)), s.taken(len(primes))}, [2]residues{}
	for half, values := range in.Value {
		primes[0].INTT(values.Coeffs[0], values.Coeffs[0])
		each(len(primes), func(x int) { lifted(values.Coeffs[0], primes[0], primes[x], factor, halves[half][x]) })
		products[half] = s.taken(len(primes))
	}
	special := len(s.ringP.SubRings)
	digits := make([]residues, (level+special)/special)
	for i := range digits {
		digits[i] = halves[1] // small integers are alike modulo all primes
	}
	in.Resize(1, level)
	for half, values := range products {
		each(len(primes), func(x int) {
			multiplied(digits, &own.EvkSparseToDense.GadgetCiphertext, half, x, level, primes[x], values[x])
		})
		s.divideByP(values, level)
		each(level+1, func(x int) { copy(in.Value[half].Coeffs[x], values[x]) })
	}
	each(level+1, func(x int) { primes[x].Add(in.Value[0].Coeffs[x], halves[0][x], in.Value[0].Coeffs[x]) })
	s.give(append(halves[:], products[:]...)...)
	if scale > 1 {
		in.Scale = in.Scale.Mul(rlwe.NewScale(scale))
	}
	s.trace(in, own.CoeffsToSlotsParameters.LogSlots)
	return in, nil
}

// Integers around 0 modulo one prime, times a factor, in NTT form modulo another prime.
func lifted(values []uint64, from, to *ring.SubRing, factor uint64, into []uint64) {
	for i, value := range values {
		if value <= from.Modulus/2 {
			into[i] = ring.BRedAdd(value, to.Modulus, to.BRedConstant)
		} else {
			into[i] = to.Modulus - ring.BRedAdd(from.Modulus-value, to.Modulus, to.BRedConstant)
		}
	}
	to.NTT(into, into)
	to.MulScalarMontgomery(into, ring.MForm(factor%to.Modulus, to.Modulus, to.BRedConstant), into)
}

// Trace of Lattigo: the mean over all rotations that keep the slots.
func (s *switcher) trace(in *rlwe.Ciphertext, logSlots int) {
	parameters, level := s.GetParameters(), in.Level()
	ringQ := s.ringQ.AtLevel(level)
	if logSlots == parameters.LogMaxSlots() {
		return
	}
	inverse := new(big.Int).Lsh(big.NewInt(1), uint(parameters.LogMaxSlots()-logSlots))
	inverse.ModInverse(inverse, ringQ.ModulusAtLevel[level])
	for _, values := range in.Value {
		ringQ.MulScalarBigint(values, inverse, values)
	}
	for step := logSlots; step < parameters.LogMaxSlots(); step++ {
		rotated := s.automorphism(in, parameters.GaloisElement(1<<step))
		for half, values := range in.Value {
			ringQ.Add(values, rotated.Value[half], values)
		}
	}
}
