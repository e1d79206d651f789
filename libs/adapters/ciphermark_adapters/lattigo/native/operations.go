package main

import (
	"math"
	"slices"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// One row of operands: ciphertexts, plaintexts, then numbers; those of CKKS are floats, others are whole.
type operands struct {
	ciphertexts []*rlwe.Ciphertext
	plaintexts  []*rlwe.Plaintext
	floats      []float64
	integers    []int64
}

// What a result needs: the number of polynomials less 1, and the level.
type shape struct{ degree, level int }

// `prepare` checks the operands and tells the shapes of the results. `apply` is what is timed: it must not change
// operands, and may be called by several goroutines.
type operation struct {
	prepare func(e *evaluator, row *operands) ([]shape, error)
	apply   func(e *evaluator, row *operands, out []*rlwe.Ciphertext) error
}

var operations map[string]operation

func init() {
	operations = map[string]operation{
		"negate":              {unary, negate},
		"add":                 {sum, withCiphertext(library.Add)},
		"sub":                 {sum, withCiphertext(library.Sub)},
		"add_plain":           {sumWithPlain, addPlain},
		"sub_plain":           {sumWithPlain, subPlain},
		"mul_plain":           {productWithPlain, multiplyByPlain},
		"mul":                 {product, multiply},
		"square":              {square, multiplyByItself},
		"mul_full":            {fullProduct, multiplyFully},
		"relinearize":         {relinearization, relinearize},
		"rescale":             {lower, rescale},
		"mod_switch":          {lower, modSwitch},
		"automorphism":        {automorphisms, automorphism},
		"rotate_hoisted":      {automorphisms, hoisted},
		"add_scalar":          {unary, addScalar},
		"mul_scalar":          {productWithNumber, multiplyByNumber},
		"add_many":            {sum, addMany},
		"multiply_accumulate": {sumOfProducts, multiplyAccumulate},
		"weighted_sum":        {sumOfMultiples, weigh},
		"bootstrap":           {bootstrapped, bootstrap},
	}
	operations["add_plain_ntt"] = operations["add_plain"]
	operations["mul_plain_ntt"] = operations["mul_plain"]
}

// -- preparation ------------------------------------------------------------------------------------------------

func unary(_ *evaluator, row *operands) ([]shape, error) {
	a := row.ciphertexts[0]
	return []shape{{a.Degree(), a.Level()}}, nil
}

// Ciphertexts of one level and, in CKKS, of one scale.
func sum(e *evaluator, row *operands) ([]shape, error) {
	first, result := row.ciphertexts[0], shape{level: row.ciphertexts[0].Level()}
	for i, item := range row.ciphertexts {
		if item.Level() != result.level {
			return nil, invalid("level mismatch: %d and %d", result.level, item.Level())
		}
		result.degree = max(result.degree, item.Degree())
		if e.context.isReal() && i > 0 {
			var err error
			if row.ciphertexts[i], err = sameScaled(first, item.Element); err != nil {
				return nil, err
			}
		}
	}
	return []shape{result}, nil
}

// Plaintexts of CKKS are at the ciphertext's level, others there or above.
func atLevels(e *evaluator, row *operands) error {
	for i, item := range row.plaintexts {
		level := row.ciphertexts[min(i, len(row.ciphertexts)-1)].Level()
		if item.Level() < level || (e.context.isReal() && item.Level() > level) {
			return invalid("level mismatch: a ciphertext at %d, a plaintext at %d", level, item.Level())
		}
	}
	return nil
}

func sumWithPlain(e *evaluator, row *operands) ([]shape, error) {
	if err := atLevels(e, row); err != nil {
		return nil, err
	}
	if e.context.isReal() {
		view, err := sameScaled(row.ciphertexts[0], row.plaintexts[0].Element)
		if err != nil {
			return nil, err
		}
		row.plaintexts[0] = view.Plaintext()
	}
	return unary(e, row)
}

func productWithPlain(e *evaluator, row *operands) ([]shape, error) {
	if err := atLevels(e, row); err != nil {
		return nil, err
	}
	a := row.ciphertexts[0]
	if err := e.context.requireRoom(a.Scale.Mul(row.plaintexts[0].Scale), a.Level()); err != nil {
		return nil, err
	}
	return unary(e, row)
}

func productWithNumber(e *evaluator, row *operands) ([]shape, error) {
	if e.context.isReal() {
		a := row.ciphertexts[0]
		if err := e.context.requireRoom(a.Scale.Mul(e.context.rlwe.DefaultScale()), a.Level()); err != nil {
			return nil, err
		}
		multiple, err := e.context.atScale(row.floats[0])
		if err != nil {
			return nil, err
		}
		row.integers = []int64{multiple}
	}
	return unary(e, row)
}

func product(e *evaluator, row *operands) ([]shape, error) {
	return productOf(e, row.ciphertexts[0], row.ciphertexts[1])
}

func square(e *evaluator, row *operands) ([]shape, error) {
	return productOf(e, row.ciphertexts[0], row.ciphertexts[0])
}

func productOf(e *evaluator, a, b *rlwe.Ciphertext) ([]shape, error) {
	if a.Level() != b.Level() {
		return nil, invalid("level mismatch: %d and %d", a.Level(), b.Level())
	}
	if e.context.scheme == "bfv" && (a.Degree() != 1 || b.Degree() != 1) {
		return nil, invalid("Lattigo multiplies ciphertexts of two polynomials: relinearize products first")
	}
	return []shape{{a.Degree() + b.Degree(), a.Level()}}, e.context.requireRoom(a.Scale.Mul(b.Scale), a.Level())
}

func fullProduct(e *evaluator, row *operands) ([]shape, error) {
	shapes, err := product(e, row)
	if err != nil {
		return nil, err
	}
	if shapes[0].degree != 2 {
		return nil, invalid("Lattigo multiplies ciphertexts of two polynomials: relinearize products first")
	}
	shapes[0].degree = 1
	if e.context.scheme == "bfv" {
		return shapes, nil
	}
	return lowered(shapes[0])
}

func relinearization(_ *evaluator, row *operands) ([]shape, error) {
	a := row.ciphertexts[0]
	if a.Degree() != 2 {
		return nil, invalid("a ciphertext of %d polynomials cannot be relinearized", a.Degree()+1)
	}
	return []shape{{1, a.Level()}}, nil
}

func lower(_ *evaluator, row *operands) ([]shape, error) {
	return lowered(shape{row.ciphertexts[0].Degree(), row.ciphertexts[0].Level()})
}

func lowered(result shape) ([]shape, error) {
	if result.level == 0 {
		return nil, exhausted("no level is left in the modulus chain")
	}
	return []shape{{result.degree, result.level - 1}}, nil
}

// The elements k of X → X^k, one for each result.
func automorphisms(_ *evaluator, row *operands) ([]shape, error) {
	a := row.ciphertexts[0]
	if a.Degree() != 1 {
		return nil, invalid("a ciphertext of %d polynomials cannot be rotated: relinearize it first", a.Degree()+1)
	}
	shapes := make([]shape, len(row.integers))
	for i := range shapes {
		shapes[i] = shape{1, a.Level()}
	}
	return shapes, nil
}

// One plaintext for each ciphertext, all products of one scale: Lattigo sees it in the ciphertexts alone, since the
// rounding of products of scales would make it multiply sums.
func sumOfProducts(e *evaluator, row *operands) ([]shape, error) {
	if err := atLevels(e, row); err != nil {
		return nil, err
	}
	first := row.ciphertexts[0].Scale.Mul(row.plaintexts[0].Scale)
	if err := e.context.requireRoom(first, row.ciphertexts[0].Level()); err != nil {
		return nil, err
	}
	if e.context.isReal() {
		for i, item := range row.ciphertexts {
			scale := item.Scale.Mul(row.plaintexts[i].Scale)
			if quotient := scale.Float64() / first.Float64(); math.Abs(quotient-1) > sameScale {
				return nil, invalid("scale mismatch: %g and %g", first.Float64(), scale.Float64())
			}
			row.ciphertexts[i] = &rlwe.Ciphertext{Element: scaled(item.Element, first)}
			view := rlwe.Ciphertext{Element: scaled(row.plaintexts[i].Element, rlwe.NewScale(1))}
			row.plaintexts[i] = view.Plaintext()
		}
	}
	return sum(e, row)
}

// One number for each ciphertext. MulThenAdd cuts a sum to the polynomials of its last term, so those of fewer come first.
func sumOfMultiples(e *evaluator, row *operands) ([]shape, error) {
	if len(row.integers) != len(row.ciphertexts) {
		return nil, invalid("%d ciphertexts have %d numbers", len(row.ciphertexts), len(row.integers))
	}
	numbers := slices.Clone(row.integers)
	if first := row.ciphertexts[0]; e.context.isReal() {
		if err := e.context.requireRoom(first.Scale.Mul(e.context.rlwe.DefaultScale()), first.Level()); err != nil {
			return nil, err
		}
		for i, number := range row.floats {
			var err error
			if numbers[i], err = e.context.atScale(number); err != nil {
				return nil, err
			}
		}
	}
	shapes, err := sum(e, row)
	if err != nil {
		return nil, err
	}
	terms := make([]int, len(numbers))
	for i := range terms {
		terms[i] = i
	}
	slices.SortStableFunc(terms, func(a, b int) int { return row.ciphertexts[a].Degree() - row.ciphertexts[b].Degree() })
	ciphertexts := slices.Clone(row.ciphertexts)
	row.integers = make([]int64, len(terms))
	for place, term := range terms {
		row.ciphertexts[place], row.integers[place] = ciphertexts[term], numbers[term]
	}
	return shapes, nil
}

// -- what is timed ----------------------------------------------------------------------------------------------

type call func(l library, a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error

func withCiphertext(function call) func(*evaluator, *operands, []*rlwe.Ciphertext) error {
	return func(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
		return function(e.library, row.ciphertexts[0], row.ciphertexts[1], out[0])
	}
}

func multiplyByPlain(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	return e.library.Mul(row.ciphertexts[0], row.plaintexts[0], out[0])
}

func addPlain(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	if a, plaintext := row.ciphertexts[0], row.plaintexts[0]; a.Scale.Cmp(plaintext.Scale) != 0 {
		return e.addScaled(a, plaintext, out[0], false)
	}
	return e.library.Add(row.ciphertexts[0], row.plaintexts[0], out[0])
}

func subPlain(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	if a, plaintext := row.ciphertexts[0], row.plaintexts[0]; a.Scale.Cmp(plaintext.Scale) != 0 {
		return e.addScaled(a, plaintext, out[0], true)
	}
	return e.library.Sub(row.ciphertexts[0], row.plaintexts[0], out[0])
}

// The plaintext times the factor of the ciphertext, for BFV and BGV. It adds noise of at most t. Lattigo would multiply
// both by factors, and the ciphertext's noise by up to the root of t.
func (e *evaluator) addScaled(a *rlwe.Ciphertext, plaintext *rlwe.Plaintext, out *rlwe.Ciphertext, isLess bool) error {
	ringQ, t := e.context.rlwe.RingQ().AtLevel(a.Level()), e.context.bgv.PlaintextModulus()
	factor := a.Scale.Div(plaintext.Scale).Uint64()
	if factor > t/2 {
		factor, isLess = t-factor, !isLess
	}
	for i, polynomial := range a.Value {
		out.Value[i].CopyLvl(a.Level(), polynomial)
	}
	if isLess {
		ringQ.MulScalarThenSub(plaintext.Value, factor, out.Value[0])
	} else {
		ringQ.MulScalarThenAdd(plaintext.Value, factor, out.Value[0])
	}
	*out.MetaData = *a.MetaData
	return nil
}

// Lattigo's evaluators have no negation: that of its rings, for each polynomial.
func negate(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	a := row.ciphertexts[0]
	ringQ := e.context.rlwe.RingQ().AtLevel(a.Level())
	for i, polynomial := range a.Value {
		ringQ.Neg(polynomial, out[0].Value[i])
	}
	*out[0].MetaData = *a.MetaData
	return nil
}

func multiply(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	return e.multiply(row.ciphertexts[0], row.ciphertexts[1], out[0])
}

func multiplyByItself(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	return e.multiply(row.ciphertexts[0], row.ciphertexts[0], out[0])
}

// Lattigo's Mul takes two polynomials of each operand. For more, the products of its ring, one by one.
func (e *evaluator) multiply(a, b, out *rlwe.Ciphertext) error {
	if a.Degree() == 1 && b.Degree() == 1 {
		return e.library.Mul(a, b, out)
	}
	ringQ, pool := e.context.rlwe.RingQ().AtLevel(a.Level()), e.context.pool.AtLevel(a.Level(), 0)
	factor := pool.GetBuffPoly()
	defer pool.RecycleBuffPoly(factor)
	for _, polynomial := range out.Value {
		polynomial.Zero()
	}
	for i, left := range a.Value {
		ringQ.MForm(left, *factor)
		if !e.context.isReal() {
			ringQ.MulScalar(*factor, e.context.bgv.PlaintextModulus(), *factor)
		}
		for j, right := range b.Value {
			ringQ.MulCoeffsMontgomeryThenAdd(*factor, right, out.Value[i+j])
		}
	}
	*out.MetaData = *a.MetaData
	out.Scale = a.Scale.Mul(b.Scale)
	return nil
}

func multiplyFully(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	a, b := row.ciphertexts[0], row.ciphertexts[1]
	if e.context.scheme == "bfv" {
		return e.library.MulRelin(a, b, out[0])
	}
	between := e.context.pool.GetBuffCt(1, a.Level())
	defer e.context.pool.RecycleBuffCt(between)
	if err := e.library.MulRelin(a, b, between); err != nil {
		return err
	}
	return e.library.Rescale(between, out[0])
}

func relinearize(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	return e.library.Relinearize(row.ciphertexts[0], out[0])
}

func rescale(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	return e.library.Rescale(row.ciphertexts[0], out[0])
}

// CKKS drops the last prime: a copy without it, as Lattigo's DropLevel leaves it.
func modSwitch(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	a := row.ciphertexts[0]
	if !e.context.isReal() {
		return e.switcher.Rescale(a, out[0])
	}
	for i := range a.Value {
		out[0].Value[i].CopyLvl(a.Level()-1, a.Value[i])
	}
	*out[0].MetaData = *a.MetaData
	return nil
}

func automorphism(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	return e.library.Automorphism(row.ciphertexts[0], uint64(row.integers[0]), out[0])
}

// What ckks.Evaluator.RotateHoisted does, which the evaluator of BGV lacks.
func hoisted(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	a, parameters := row.ciphertexts[0], e.context.rlwe
	level, special := a.Level(), parameters.MaxLevelP()
	pool := e.context.pool.AtLevel(level, special)
	decomposed := pool.GetBuffDecompQP(parameters, level, special)
	defer pool.RecycleBuffDecompQP(decomposed)
	e.library.DecomposeNTT(level, special, special+1, a.Value[1], a.IsNTT, decomposed)
	for i, element := range row.integers {
		if err := e.library.AutomorphismHoisted(level, a, decomposed, uint64(element), out[i]); err != nil {
			return err
		}
	}
	return nil
}

func addScalar(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	if e.context.isReal() {
		return e.library.Add(row.ciphertexts[0], row.floats[0], out[0])
	}
	return e.library.Add(row.ciphertexts[0], row.integers[0], out[0])
}

func multiplyByNumber(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	if err := e.library.Mul(row.ciphertexts[0], row.integers[0], out[0]); err != nil {
		return err
	}
	out[0].Scale = row.ciphertexts[0].Scale
	if e.context.isReal() {
		out[0].Scale = out[0].Scale.Mul(e.context.rlwe.DefaultScale())
	}
	return nil
}

func addMany(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	written := max(row.ciphertexts[0].Degree(), row.ciphertexts[1].Degree())
	for _, polynomial := range out[0].Value[written+1:] {
		polynomial.Zero()
	}
	if err := e.library.Add(row.ciphertexts[0], row.ciphertexts[1], out[0]); err != nil {
		return err
	}
	for _, item := range row.ciphertexts[2:] {
		if err := e.library.Add(out[0], item, out[0]); err != nil {
			return err
		}
	}
	return nil
}

func multiplyAccumulate(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	if err := e.library.Mul(row.ciphertexts[0], row.plaintexts[0], out[0]); err != nil {
		return err
	}
	for i, item := range row.ciphertexts[1:] {
		if err := e.library.MulThenAdd(item, row.plaintexts[i+1], out[0]); err != nil {
			return err
		}
	}
	return nil
}

// Of one scale in CKKS, where numbers are whole multiples of the default one.
func weigh(e *evaluator, row *operands, out []*rlwe.Ciphertext) error {
	if err := multiplyByNumber(e, row, out); err != nil {
		return err
	}
	scale := out[0].Scale
	out[0].Scale = row.ciphertexts[0].Scale // MulThenAdd would multiply numbers by the quotient of scales
	for i, item := range row.ciphertexts[1:] {
		err := e.
			library.MulThenAdd(item, row.integers[i+1], out[0])
		if err != nil {
			return err
		}
	}
	out[0].Scale = scale
	return nil
}
