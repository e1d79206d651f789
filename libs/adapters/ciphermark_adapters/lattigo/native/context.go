package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// Scales whose quotient differs from 1 by less than this are equal: the error is below the noise of CKKS.
const sameScale = 0x1p-40

// Of ciphertexts that are read: products are seldom longer.
const maxPolynomials = 16

// A parameter set, in which Lattigo's BFV is its BGV with another product.
type context struct {
	scheme  string
	rlwe    rlwe.Parameters
	ckks    ckks.Parameters
	bgv     bgv.Parameters
	encoder interface {
		Encode(values any, plaintext *rlwe.Plaintext) error
		Decode(plaintext *rlwe.Plaintext, values any) error
	}
	exact    *bgv.Encoder // the same, of BFV and BGV
	inverses []*big.Int   // 1/t modulo the primes of each level
	pool     *rlwe.BufferPool
	logSlots int // of CKKS
	// Bootstrapping, where it is asked for, and its keys of one prime to and from the ephemeral secret.
	circuit   *bootstrapping.Parameters
	ephemeral rlwe.Parameters
}

// A parameter set as Python sends it. A secret weight of 0 is that of a uniform ternary secret.
type literal struct {
	Scheme                string
	RingDimension         int
	Moduli, SpecialModuli []uint64
	PlainModulus          uint64
	ScaleBits             int
	SecretWeight          int
	Bootstrapping         *circuit
}

func newContext(asked literal) (*context, error) {
	made := &context{scheme: asked.Scheme}
	fill := made.fillExact
	if made.isReal() {
		fill = made.fillReal
	}
	if err := fill(asked); err != nil {
		return nil, err
	}
	made.pool = rlwe.NewPool(made.rlwe.RingQP())
	return made, nil
}

func (c *context) fillReal(asked literal) (err error) {
	own := ckks.ParametersLiteral{
		LogN: log2(asked.RingDimension), Q: asked.Moduli, P: asked.SpecialModuli, LogDefaultScale: asked.ScaleBits,
	}
	if asked.SecretWeight > 0 {
		own.Xs = ring.Ternary{H: asked.SecretWeight}
	}
	if c.ckks, err = ckks.NewParametersFromLiteral(own); err != nil {
		return err
	}
	c.rlwe, c.encoder, c.logSlots = c.ckks.Parameters, ckks.NewEncoder(c.ckks), c.ckks.LogMaxSlots()
	if asked.Bootstrapping == nil {
		return nil
	}
	c.logSlots = asked.Bootstrapping.LogSlots
	return c.setUpCircuit(*asked.Bootstrapping)
}

func (c *context) fillExact(asked literal) (err error) {
	own := bgv.ParametersLiteral{
		LogN: log2(asked.RingDimension), Q: asked.Moduli, P: asked.SpecialModuli, PlaintextModulus: asked.PlainModulus,
	}
	if c.bgv, err = bgv.NewParametersFromLiteral(own); err != nil {
		return err
	}
	c.rlwe, c.exact = c.bgv.Parameters, bgv.NewEncoder(c.bgv)
	c.encoder = c.exact
	for _, modulus := range c.rlwe.RingQ().ModulusAtLevel {
		t := new(big.Int).SetUint64(asked.PlainModulus)
		c.inverses = append(c.inverses, t.ModInverse(t, modulus))
	}
	return nil
}

func (c *context) isReal() bool { return c.scheme == "ckks" }

func (c *context) slots() int {
	if c.isReal() {
		return 1 << c.logSlots
	}
	return c.bgv.MaxSlots()
}

// The modulus of a level has this many bits.
func (c *context) modulusBits(level int) int {
	return c.rlwe.RingQ().ModulusAtLevel[level].BitLen()
}

func (c *context) newCiphertext(degree, level int) *rlwe.Ciphertext {
	if c.isReal() {
		made := ckks.NewCiphertext(c.ckks, degree, level)
		made.LogDimensions.Cols = c.logSlots
		return made
	}
	return bgv.NewCiphertext(c.bgv, degree, level)
}

func (c *context) newPlaintext(level int) *rlwe.Plaintext {
	if c.isReal() {
		made := ckks.NewPlaintext(c.ckks, level)
		made.LogDimensions.Cols = c.logSlots
		return made
	}
	return bgv.NewPlaintext(c.bgv, level)
}

// Refuses what is no slot of BFV and BGV.
func (c *context) requireSlots(values []uint64) error {
	if c.isReal() {
		return nil
	}
	t := c.bgv.PlaintextModulus()
	if slices.ContainsFunc(values, func(value uint64) bool { return value >= t }) {
		return invalid("values must lie in [0, %d)", t)
	}
	return nil
}

// The values are floats of CKKS, or whole numbers below t.
func (c *context) encode(values []uint64, into *rlwe.Plaintext) error {
	if c.isReal() {
		return c.encoder.Encode(asFloats(values), into)
	}
	return c.encoder.Encode(values, into)
}

func (c *context) decode(plaintext *rlwe.Plaintext, into []uint64) error {
	if c.isReal() {
		return c.encoder.Decode(plaintext, asFloats(into))
	}
	return c.encoder.Decode(plaintext, into)
}

// The coefficients of a plaintext. Lattigo notes that they are no slots, and would refuse it next to a ciphertext.
func (c *context) encodeCoefficients(values []uint64, into *rlwe.Plaintext) error {
	into.IsBatched = false
	err := c.encoder.Encode(values, into)
	into.IsBatched = true
	return err
}

// The root of unity to which the slots belong: X in the first one.
func (c *context) slotRoot() (uint64, error) {
	plaintext, values := c.newPlaintext(0), make([]uint64, c.slots())
	if err := c.encodeCoefficients([]uint64{0, 1}, plaintext); err != nil {
		return 0, err
	}
	err := c.decode(plaintext, values)
	return values[0], err
}

// A plaintext at a level, with a scale of CKKS or a factor of BGV and BFV.
func (c *context) encoded(values []uint64, level int, scale rlwe.Scale) (*rlwe.Plaintext, error) {
	if level < 0 || level > c.rlwe.MaxLevel() {
		return nil, invalid("there is no level %d: the top level is %d", level, c.rlwe.MaxLevel())
	}
	if err := c.requireSlots(values); err != nil {
		return nil, err
	}
	made := c.newPlaintext(level)
	made.Scale = scale
	if c.isReal() {
		return made, c.encode(values, made)
	}
	return made, c.encodeCentered(values, made)
}

// Lattigo's Encode, with the coefficients of the plaintext in (−t/2, t/2]. It leaves them in [0, t): their mean of t/2
// makes the noise of a sum of products grow with the number of terms, not with its root.
func (c *context) encodeCentered(values []uint64, into *rlwe.Plaintext) error {
	coefficients, t := c.bgv.RingT().NewPoly(), c.bgv.PlaintextModulus()
	if err := c.exact.EncodeRingT(values, into.Scale, coefficients); err != nil {
		return err
	}
	level := into.Level()
	c.exact.RingT2Q(level, false, coefficients, into.Value)
	for i, row := range into.Value.Coeffs {
		modulus := c.rlwe.Q()[i]
		less := modulus - t%modulus
		for j, value := range row {
			if value > t/2 {
				row[j] = (value%modulus + less) % modulus
			}
		}
	}
	ringQ := c.rlwe.RingQ().AtLevel(level)
	ringQ.MulScalarBigint(into.Value, c.inverses[level], into.Value)
	ringQ.NTT(into.Value, into.Value)
	return nil
}

func (c *context) load(data []byte) (*rlwe.Ciphertext, error) {
	if err := c.requireLayout(data); err != nil {
		return nil, err
	}
	made := new(rlwe.Ciphertext)
	if err := made.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if made.MetaData == nil || len(made.Value) < 2 || !made.IsNTT || !made.IsBatched {
		return nil, invalid("these bytes are no ciphertext of Lattigo")
	}
	if c.isReal() && made.LogSlots() != c.logSlots {
		return nil, invalid("these bytes are a ciphertext of other parameters")
	}
	for _, polynomial := range made.Value {
		level := polynomial.Level()
		if level < 0 || level > c.rlwe.MaxLevel() || level != made.Value[0].Level() {
			return nil, invalid("these bytes are a ciphertext of other parameters")
		}
		for row, coefficients := range polynomial.Coeffs {
			modulus := c.rlwe.Q()[row]
			if len(coefficients) != c.rlwe.N() ||
				slices.ContainsFunc(coefficients, func(value uint64) bool { return value >= modulus }) {
				return nil, invalid("these bytes are a ciphertext of other parameters")
			}
		}
	}
	return made, nil
}

// Lattigo allocates what the lengths in the bytes ask for, and a process without that memory ends: lengths that are not
// those of a ciphertext of these parameters are refused before.
func (c *context) requireLayout(data []byte) error {
	least := c.newCiphertext(0, 0)
	place := least.BinarySize() - least.Value.BinarySize()
	next := func() int {
		if place += 8; place > len(data) {
			return -1
		}
		return int(binary.LittleEndian.Uint64(data[place-8:]))
	}
	polynomials := next()
	fits := 2 <= polynomials && polynomials <= maxPolynomials
	for i := 0; fits && i < polynomials; i++ {
		rows := next()
		fits = 0 < rows && rows <= c.rlwe.QCount()
		for row := 0; fits && row < rows; row++ {
			fits = next() == c.rlwe.N()
			place += 8 * c.rlwe.N()
		}
	}
	if !fits || place != len(data) {
		return invalid("these bytes are no ciphertext of these parameters")
	}
	return nil
}

// The number of a slot as an integer at the default scale: Lattigo itself would take the last prime as the scale.
func (c *context) atScale(number float64) (int64, error) {
	multiple := math.RoundToEven(number * c.rlwe.DefaultScale().Float64())
	if !(math.Abs(multiple) < 0x1p62) {
		return 0, invalid("numbers times the scale are below 2^62")
	}
	return int64(multiple), nil
}

// Whether a scale leaves room for a sign in the modulus of a level.
func (c *context) requireRoom(scale rlwe.Scale, level int) error {
	if c.isReal() && int(math.Floor(scale.Log2())) >= c.modulusBits(level) {
		return exhausted("a product of scale 2^%.0f does not fit the modulus of level %d", scale.Log2(), level)
	}
	return nil
}

// The second operand with the scale of the first, where the two are equal but for rounding. Lattigo would multiply one
// of them by 1.
func sameScaled(a *rlwe.Ciphertext, b rlwe.Element[ring.Poly]) (*rlwe.Ciphertext, error) {
	other := &rlwe.Ciphertext{Element: b}
	if a.Scale.Cmp(b.Scale) == 0 {
		return other, nil
	}
	if quotient := a.Scale.Float64() / b.Scale.Float64(); math.Abs(quotient-1) > sameScale {
		return nil, invalid("scale mismatch: %g and %g", a.Scale.Float64(), b.Scale.Float64())
	}
	other.Element = scaled(b, a.Scale)
	return other, nil
}

// The same polynomials with another scale.
func scaled(item rlwe.Element[ring.Poly], scale rlwe.Scale) rlwe.Element[ring.Poly] {
	metadata := *item.MetaData
	metadata.Scale = scale
	item.MetaData = &metadata
	return item
}

func log2(ringDimension int) int { return bits.Len(uint(ringDimension)) - 1 }

// What becomes an error of the contract in Python.
type failure struct{ kind, text string }

func (f failure) Error() string { return f.text }

func invalid(format string, values ...any) error {
	return failure{"ValueError", fmt.Sprintf(format, values...)}
}

func exhausted(format string, values ...any) error {
	return failure{"Exhausted", fmt.Sprintf(format, values...)}
}
