package main

import (
	"math"
	"math/big"
	"runtime"
	"slices"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/ring/ringqp"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"github.com/tuneinsight/lattigo/v6/utils/structs"
)

// Changes of basis are split into this many ranges of coefficients.
const pieces = 4

// The key switching of Lattigo's evaluator on several goroutines, with equal results. Most loops are split by primes.
// A change of basis needs all primes of a coefficient: a smaller ring with the same primes is Lattigo's for a range.
type switcher struct {
	*ckks.Evaluator
	ringQ, ringP *ring.Ring
	decomposer   *ring.Decomposer
	extender     *ring.BasisExtender
	timesP       []uint64 // P modulo the primes of Q, in Montgomery form
	overP        []uint64 // −1/P, too
	pool         *structs.SyncPool[*[]uint64]
}

// Of a polynomial in NTT form: for each prime of Q up to a level, then of P.
type residues [][]uint64

func newSwitcher(own *ckks.Evaluator) (*switcher, error) {
	parameters := own.GetRLWEParameters()
	smallQ, err := ring.NewRing(parameters.N()/pieces, parameters.Q())
	if err != nil {
		return nil, err
	}
	smallP, err := ring.NewRing(parameters.N()/pieces, parameters.P())
	if err != nil {
		return nil, err
	}
	made := &switcher{
		Evaluator: own, ringQ: parameters.RingQ(), ringP: parameters.RingP(),
		decomposer: ring.NewDecomposer(smallQ, smallP), extender: ring.NewBasisExtender(smallQ, smallP),
		pool: structs.NewSyncPoolUint64(parameters.N()),
	}
	whole := made.ringP.ModulusAtLevel[made.ringP.MaxLevel()]
	for _, prime := range made.ringQ.SubRings {
		rest := new(big.Int).Mod(whole, new(big.Int).SetUint64(prime.Modulus)).Uint64()
		inverse := ring.ModExp(rest, prime.Modulus-2, prime.Modulus)
		made.timesP = append(made.timesP, ring.MForm(rest, prime.Modulus, prime.BRedConstant))
		made.overP = append(made.overP, prime.Modulus-ring.MForm(inverse, prime.Modulus, prime.BRedConstant))
	}
	return made, nil
}

// Calls the function for 0 to count − 1 on as many goroutines as Go has processors; a panic is the caller's.
func each(count int, function func(i int)) {
	err := onThreads(count, runtime.GOMAXPROCS(0), func(i int) error {
		function(i)
		return nil
	})
	if err != nil {
		panic(err)
	}
}

func (s *switcher) taken(count int) residues {
	made := make(residues, count)
	for i := range made {
		made[i] = *s.pool.Get()
	}
	return made
}

func (s *switcher) give(several ...residues) {
	for _, one := range several {
		for i := range one {
			s.pool.Put(&one[i])
		}
	}
}

func (s *switcher) primes(level int) []*ring.SubRing {
	return slices.Concat(s.ringQ.SubRings[:level+1], s.ringP.SubRings)
}

// The residue of a polynomial of all primes that belongs to prime x of a level.
func residue(whole ringqp.Poly, x, level int) []uint64 {
	if x <= level {
		return whole.Q.Coeffs[x]
	}
	return whole.P.Coeffs[x-level-1]
}

// A range of coefficients, as a polynomial of the smaller ring.
func part(whole residues, piece int) ring.Poly {
	made := make([][]uint64, len(whole))
	for i, one := range whole {
		size := len(one) / pieces
		made[i] = one[piece*size : (piece+1)*size]
	}
	return ring.Poly{Coeffs: made}
}

func permuted(from, index, into []uint64) {
	for place, source := range index {
		into[place] = from[source]
	}
}

// A sum of products modulo a prime, reduced where it might overflow.
type productSum struct {
	prime *ring.SubRing
	into  []uint64
	terms int
}

func (s *productSum) add(a, b []uint64) {
	if s.terms == 0 {
		s.prime.MulCoeffsMontgomeryLazy(a, b, s.into)
	} else {
		s.prime.MulCoeffsMontgomeryLazyThenAddLazy(a, b, s.into)
	}
	// A product is below twice the prime, and a reduced sum below the prime.
	most := int((math.MaxUint64/s.prime.Modulus - 1) / 2)
	if s.terms++; s.terms%most == 0 {
		s.prime.Reduce(s.into, s.into)
	}
}

func (s *productSum) reduce() {
	if s.terms == 0 {
		clear(s.into)
	}
	s.prime.Reduce(s.into, s.into)
}

// The digits of a polynomial, as DecomposeNTT of Lattigo.
func (s *switcher) decomposed(polynomial residues, level int) []residues {
	primes, special := s.primes(level), len(s.ringP.SubRings)
	inverse := s.taken(level + 1)
	each(level+1, func(x int) { primes[x].INTT(polynomial[x], inverse[x]) })
	digits := make([]residues, (level+special)/special)
	for i := range digits {
		digits[i] = s.taken(len(primes))
	}
	each(len(digits)*pieces, func(i int) {
		number, piece := i/pieces, i%pieces
		ofQ, ofP := part(digits[number][:level+1], piece), part(digits[number][level+1:], piece)
		s.decomposer.DecomposeAndSplit(level, special-1, special, number, part(inverse, piece), ofQ, ofP)
	})
	each(len(digits)*len(primes), func(i int) {
		number, x := i/len(primes), i%len(primes)
		if digit := digits[number][x]; x <= level && x/special == number {
			copy(digit, polynomial[x])
		} else {
			primes[x].NTT(digit, digit)
		}
	})
	s.give(inverse)
	return digits
}

// Half of the product of digits and a key, modulo one prime.
func multiplied(digits []residues, key *rlwe.GadgetCiphertext, half, x, level int, prime *ring.SubRing, into []uint64) {
	total := productSum{prime: prime, into: into}
	for i, digit := range digits {
		total.add(residue(key.Value[i][0][half], x, level), digit[x])
	}
	total.reduce()
}

// Divides by P, as ModDownQPtoQNTT of Lattigo. The quotient is in place of the residues modulo Q.
func (s *switcher) divideByP(values residues, level int) {
	primes, special := s.primes(level), values[level+1:]
	inverse, extended := s.taken(len(special)), s.taken(level+1)
	each(len(special), func(i int) { primes[level+1+i].INTTLazy(special[i], inverse[i]) })
	each(pieces, func(i int) { s.extender.ModUpPtoQ(len(special)-1, level, part(inverse, i), part(extended, i)) })
	each(level+1, func(x int) {
		primes[x].NTTLazy(extended[x], extended[x])
		primes[x].SubThenMulScalarMontgomeryTwoModulus(extended[x], values[x], s.overP[x], values[x])
	})
	s.give(inverse, extended)
}

// A key of an automorphism, and the places from which it takes values in NTT form.
func (s *switcher) rotation(element uint64) (*rlwe.GadgetCiphertext, []uint64) {
	key, err := s.CheckAndGetGaloisKey(element)
	if err != nil {
		panic(err)
	}
	return &key.GadgetCiphertext, s.AutomorphismIndex(element)
}

// Both halves of the product of a polynomial and a key, as GadgetProduct of Lattigo; residues modulo P are void.
func (s *switcher) switched(polynomial residues, key *rlwe.GadgetCiphertext, level int) [2]residues {
	primes, digits := s.primes(level), s.decomposed(polynomial, level)
	halves := [2]residues{s.taken(len(primes)), s.taken(len(primes))}
	each(2*len(primes), func(i int) {
		half, x := i%2, i/2
		multiplied(digits, key, half, x, level, primes[x], halves[half][x])
	})
	s.give(digits...)
	for _, values := range halves {
		s.divideByP(values, level)
	}
	return halves
}

// As Automorphism of Lattigo.
func (s *switcher) automorphism(in *rlwe.Ciphertext, element uint64) *rlwe.Ciphertext {
	key, index := s.rotation(element)
	level := in.Level()
	primes, halves := s.primes(level), s.switched(residues(in.Value[1].Coeffs), key, level)
	made := in.CopyNew()
	each(2*(level+1), func(i int) {
		half, x := i%2, i/2
		values := halves[half][x]
		if half == 0 {
			primes[x].Add(values, in.Value[0].Coeffs[x], values)
		}
		permuted(values, index, made.Value[half].Coeffs[x])
	})
	s.give(halves[:]...)
	return made
}

// Relinearize of Lattigo; like the next two, it replaces that of the evaluator for polynomials.
func (s *switcher) Relinearize(in, out *rlwe.Ciphertext) error {
	key, err := s.CheckAndGetRelinearizationKey()
	if err != nil {
		return err
	}
	level := min(in.Level(), out.Level())
	primes, halves := s.primes(level), s.switched(residues(in.Value[2].Coeffs), &key.GadgetCiphertext, level)
	each(2*(level+1), func(i int) {
		half, x := i%2, i/2
		primes[x].Add(in.Value[half].Coeffs[x], halves[half][x], out.Value[half].Coeffs[x])
	})
	s.give(halves[:]...)
	out.Resize(1, level)
	*out.MetaData = *in.MetaData
	return nil
}

func (s *switcher) MulRelinNew(a *rlwe.Ciphertext, b rlwe.Operand) (*rlwe.Ciphertext, error) {
	made, err := s.MulNew(a, b)
	if err != nil || made.Degree() < 2 {
		return made, err
	}
	return made, s.Relinearize(made, made)
}

func (s *switcher) Rescale(in, out *rlwe.Ciphertext) error {
	level := in.Level()
	if in != out || level == 0 {
		return s.Evaluator.Rescale(in, out)
	}
	ringQ := s.ringQ.AtLevel(level)
	each(len(in.Value), func(i int) { ringQ.DivRoundByLastModulusNTT(in.Value[i], in.Value[i]) })
	in.Resize(in.Degree(), level-1)
	in.Scale = in.Scale.Div(rlwe.NewScale(ringQ.SubRings[level].Modulus))
	return nil
}
