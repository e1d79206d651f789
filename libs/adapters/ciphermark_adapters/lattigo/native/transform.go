package main

import (
	"github.com/tuneinsight/lattigo/v6/circuits/ckks/dft"
	"github.com/tuneinsight/lattigo/v6/circuits/ckks/lintrans"
	common "github.com/tuneinsight/lattigo/v6/circuits/common/lintrans"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// CoeffsToSlots of Lattigo: two ciphertexts where the slots are full, else one.
func (s *switcher) coeffsToSlots(in *rlwe.Ciphertext, matrices dft.Matrix) (left, right *rlwe.Ciphertext, err error) {
	parameters := s.GetParameters()
	whole, err := s.product(in, matrices)
	if err != nil {
		return nil, nil, err
	}
	left = s.automorphism(whole, parameters.GaloisElementOrderTwoOrthogonalSubgroup())
	if right, err = s.SubNew(whole, left); err != nil {
		return nil, nil, err
	}
	if err = s.Mul(right, -1i, right); err != nil {
		return nil, nil, err
	}
	if err = s.Add(left, whole, left); err != nil {
		return nil, nil, err
	}
	if matrices.LogSlots == parameters.LogMaxSlots() {
		return left, right, nil
	}
	right = s.automorphism(right, parameters.GaloisElement(1<<in.LogDimensions.Cols))
	return left, nil, s.Add(left, right, left)
}

// SlotsToCoeffs of Lattigo.
func (s *switcher) slotsToCoeffs(left, right *rlwe.Ciphertext, matrices dft.Matrix) (*rlwe.Ciphertext, error) {
	if right == nil {
		return s.product(left, matrices)
	}
	whole := ckks.NewCiphertext(*s.GetParameters(), 1, matrices.LevelQ)
	if err := s.Mul(right, 1i, whole); err != nil {
		return nil, err
	}
	if err := s.Add(whole, left, whole); err != nil {
		return nil, err
	}
	return s.product(whole, matrices)
}

// The product with all factors of a matrix.
func (s *switcher) product(in *rlwe.Ciphertext, matrices dft.Matrix) (*rlwe.Ciphertext, error) {
	out, factors := in, matrices.Matrices
	for _, count := range matrices.Levels {
		for _, factor := range factors[:count] {
			out = s.transformed(out, factor)
		}
		factors = factors[count:]
		if err := s.Rescale(out, out); err != nil {
			return nil, err
		}
	}
	out.LogDimensions = in.LogDimensions
	return out, nil
}

// A product with one matrix, as MultiplyByDiagMatrixBSGS of Lattigo: for each giant step, the sum of products of
// diagonals with baby steps, which is then rotated. Modulo each prime, baby steps live for the sums only.
func (s *switcher) transformed(in *rlwe.Ciphertext, matrix lintrans.LinearTransformation) *rlwe.Ciphertext {
	level := min(in.Level(), matrix.LevelQ)
	steps, giants, babies := common.LinearTransformation(matrix).BSGSIndex()
	primes := s.primes(level)
	sums := make(map[int][2]residues, len(giants))
	for _, giant := range giants {
		sums[giant] = [2]residues{s.taken(len(primes)), s.taken(len(primes))}
	}
	digits := s.decomposed(residues(in.Value[1].Coeffs), level)
	each(len(primes), func(x int) {
		rotated := make(map[int]residues, len(babies))
		for _, baby := range babies {
			rotated[baby] = s.babyStep(in, digits, baby, x, level, primes[x])
		}
		for giant, own := range steps {
			for half, values := range sums[giant] {
				total := productSum{prime: primes[x], into: values[x]}
				for _, baby := range own {
					if rotated[baby] != nil {
						total.add(residue(matrix.Vec[giant+baby], x, level), rotated[baby][half])
					}
				}
				total.reduce()
			}
		}
		for _, values := range rotated {
			s.give(values)
		}
	})
	s.give(digits...)
	out := ckks.NewCiphertext(*s.GetParameters(), 1, level)
	*out.MetaData = *in.MetaData
	out.Scale = out.Scale.Mul(matrix.Scale)
	s.addGiantSteps(sums, giants, out, level)
	return out
}

// Both halves of P times a rotated ciphertext modulo one prime; nil where they are 0.
func (s *switcher) babyStep(
	in *rlwe.Ciphertext, digits []residues, step, x, level int, prime *ring.SubRing,
) residues {
	if step == 0 {
		if x > level {
			return nil
		}
		made := s.taken(2)
		for half, values := range made {
			prime.MulScalarMontgomery(in.Value[half].Coeffs[x], s.timesP[x], values)
		}
		return made
	}
	key, index := s.rotation(s.GetParameters().GaloisElement(step))
	made, values := s.taken(2), s.taken(1)
	for half := range made {
		multiplied(digits, key, half, x, level, prime, values[0])
		if half == 0 && x <= level {
			prime.MulScalarMontgomeryThenAdd(in.Value[0].Coeffs[x], s.timesP[x], values[0])
		}
		permuted(values[0], index, made[half])
	}
	s.give(values)
	return made
}

// The sum of rotated sums, divided by P.
func (s *switcher) addGiantSteps(sums map[int][2]residues, giants []int, out *rlwe.Ciphertext, level int) {
	primes := s.primes(level)
	total := [2]residues{s.taken(len(primes)), s.taken(len(primes))}
	each(2*len(primes), func(i int) { clear(total[i%2][i/2]) })
	for _, giant := range giants {
		values := sums[giant]
		if giant == 0 {
			each(2*len(primes), func(i int) {
				half, x := i%2, i/2
				primes[x].Add(total[half][x], values[half][x], total[half][x])
			})
		} else {
			s.addGiantStep(values, giant, total, level)
		}
		s.give(values[:]...)
	}
	for half, values := range total {
		s.divideByP(values, level)
		each(level+1, func(x int) { copy(out.Value[half].Coeffs[x], values[x]) })
	}
	s.give(total[:]...)
}

func (s *switcher) addGiantStep(values [2]residues, step int, total [2]residues, level int) {
	primes := s.primes(level)
	key, index := s.rotation(s.GetParameters().GaloisElement(step))
	s.divideByP(values[1], level)
	digits := s.decomposed(values[1][:level+1], level)
	each(2*len(primes), func(i int) {
		half, x := i%2, i/2
		both := s.taken(2)
		multiplied(digits, key, half, x, level, primes[x], both[0])
		if half == 0 {
			primes[x].Add(both[0], values[0][x], both[0])
		}
		permuted(both[0], index, both[1])
		primes[x].Add(total[half][x], both[1], total[half][x])
		s.give(both)
	})
	s.give(digits...)
}
