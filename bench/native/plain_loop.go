// Lattigo's operations in a plain loop: what Ciphermark's times are held against.
//
//	plain_loop SCHEME N T SCALE_BITS SETS DROPPED SPECIALS PRIME...
//
// T is 0 for ckks, SCALE_BITS 0 for bfv; the last SPECIALS primes are those of key switching. It makes keys, and SETS
// operand sets DROPPED levels below the top. It says "ready", then answers lines "OPERATION SET LOOPS" on standard input
// with the elapsed nanoseconds of the whole loop.
package main

import (
	"encoding"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

const optionCount = 7

// What both schemes' packages have, and the values of a fresh vector.
type library struct {
	top, level int
	evaluator  interface {
		Add(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
		Mul(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
		Relinearize(a, out *rlwe.Ciphertext) error
		Rescale(a, out *rlwe.Ciphertext) error
	}
	rotate     func(a *rlwe.Ciphertext, step int, out *rlwe.Ciphertext) error
	lower      func(a *rlwe.Ciphertext)
	plaintext  func(level int) *rlwe.Plaintext
	ciphertext func(degree, level int) *rlwe.Ciphertext
	values     func() any
	encode     func(values any, out *rlwe.Plaintext) error
	encryptor  *rlwe.Encryptor
}

// What one execution of any operation needs.
type operands struct {
	values          any
	plain           *rlwe.Plaintext
	a, b            *rlwe.Ciphertext
	product, scaled *rlwe.Ciphertext
	out, long, low  *rlwe.Ciphertext // results of two and three polynomials, and of the level below
	encoded         *rlwe.Plaintext
	encrypted       *rlwe.Ciphertext
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "plain_loop:", err)
		os.Exit(1)
	}
}

func number(word string) uint64 { return must(strconv.ParseUint(word, 10, 64)) }

// A copy read from bytes, as a server gets a client's object.
func received[T encoding.BinaryUnmarshaler](sent encoding.BinaryMarshaler, into T) T {
	check(into.UnmarshalBinary(must(sent.MarshalBinary())))
	return into
}

func newKeys(parameters rlwe.Parameters) (*rlwe.PublicKey, *rlwe.MemEvaluationKeySet) {
	generator := rlwe.NewKeyGenerator(parameters)
	secret, public := generator.GenKeyPairNew()
	relinearization := received(generator.GenRelinearizationKeyNew(secret), new(rlwe.RelinearizationKey))
	rotation := received(generator.GenGaloisKeyNew(parameters.GaloisElement(1), secret), new(rlwe.GaloisKey))
	return public, rlwe.NewMemEvaluationKeySet(relinearization, rotation)
}

func newReals(literal ckks.ParametersLiteral, dropped int) *library {
	parameters := must(ckks.NewParametersFromLiteral(literal))
	top := parameters.MaxLevel()
	public, keys := newKeys(parameters.Parameters)
	evaluator, encoder := ckks.NewEvaluator(parameters, keys), ckks.NewEncoder(parameters)
	return &library{
		top: top, level: top - dropped, evaluator: evaluator, rotate: evaluator.Rotate,
		lower:      func(a *rlwe.Ciphertext) { evaluator.DropLevel(a, dropped) },
		plaintext:  func(level int) *rlwe.Plaintext { return ckks.NewPlaintext(parameters, level) },
		ciphertext: func(degree, level int) *rlwe.Ciphertext { return ckks.NewCiphertext(parameters, degree, level) },
		values: func() any {
			made := make([]float64, parameters.MaxSlots())
			for i := range made {
				made[i] = 2*rand.Float64() - 1
			}
			return made
		},
		encode: encoder.Encode, encryptor: ckks.NewEncryptor(parameters, public),
	}
}

func newIntegers(literal bgv.ParametersLiteral, dropped int) *library {
	parameters := must(bgv.NewParametersFromLiteral(literal))
	top := parameters.MaxLevel()
	public, keys := newKeys(parameters.Parameters)
	evaluator, encoder := bgv.NewEvaluator(parameters, keys, true), bgv.NewEncoder(parameters)
	switcher := bgv.NewEvaluator(parameters, keys) // Rescale of BFV's own evaluator does nothing
	return &library{
		top: top, level: top - dropped, evaluator: evaluator, rotate: evaluator.RotateColumns,
		lower: func(a *rlwe.Ciphertext) {
			for range dropped {
				check(switcher.Rescale(a, a))
			}
		},
		plaintext:  func(level int) *rlwe.Plaintext { return bgv.NewPlaintext(parameters, level) },
		ciphertext: func(degree, level int) *rlwe.Ciphertext { return bgv.NewCiphertext(parameters, degree, level) },
		values: func() any {
			made := make([]uint64, parameters.MaxSlots())
			for i := range made {
				made[i] = 1 + rand.Uint64N(literal.PlaintextModulus-1)
			}
			return made
		},
		encode: encoder.Encode, encryptor: bgv.NewEncryptor(parameters, public),
	}
}

func (l *library) encrypted(values any) *rlwe.Ciphertext {
	encoded, fresh := l.plaintext(l.top), l.ciphertext(1, l.top)
	check(l.encode(values, encoded))
	check(l.encryptor.Encrypt(encoded, fresh))
	made := received(fresh, new(rlwe.Ciphertext))
	l.lower(made)
	return made
}

func (l *library) operands() *operands {
	made := &operands{values: l.values(), plain: l.plaintext(l.level), encoded: l.plaintext(l.top)}
	check(l.encode(l.values(), made.plain))
	made.a, made.b = l.encrypted(made.values), l.encrypted(l.values())
	made.product, made.scaled = l.ciphertext(2, l.level), l.ciphertext(1, l.level)
	check(l.evaluator.Mul(made.a, made.b, made.product))
	check(l.evaluator.Mul(made.a, made.plain, made.scaled))
	made.out, made.long, made.low = l.ciphertext(1, l.level), l.ciphertext(2, l.level), l.ciphertext(1, l.level-1)
	made.encrypted = l.ciphertext(1, l.top)
	return made
}

func (l *library) execute(operation string, o *operands) error {
	switch operation {
	case "encrypt":
		check(l.encode(o.values, o.encoded))
		return l.encryptor.Encrypt(o.encoded, o.encrypted)
	case "add":
		return l.evaluator.Add(o.a, o.b, o.out)
	case "add_plain": // with switched operands of bfv, Lattigo matches scales, and the platform scales the plaintext
		return l.evaluator.Add(o.a, o.plain, o.out)
	case "mul_plain":
		return l.evaluator.Mul(o.a, o.plain, o.out)
	case "mul":
		return l.evaluator.Mul(o.a, o.b, o.long)
	case "relinearize":
		return l.evaluator.Relinearize(o.product, o.out)
	case "rescale":
		return l.evaluator.Rescale(o.scaled, o.low)
	case "rotate(1)":
		return l.rotate(o.a, 1, o.out)
	}
	return fmt.Errorf("there is no operation %s", operation)
}

func (l *library) elapsed(operation string, o *operands, loops int) int64 {
	start := time.Now()
	for range loops {
		check(l.execute(operation, o))
	}
	return time.Since(start).Nanoseconds()
}

func newLibrary(words []string) *library {
	var primes []uint64
	for _, word := range words[optionCount:] {
		primes = append(primes, number(word))
	}
	data := len(primes) - int(number(words[6]))
	logN, dropped := bits.Len64(number(words[1]))-1, int(number(words[5]))
	if words[0] == "ckks" {
		scale := int(number(words[3]))
		return newReals(ckks.ParametersLiteral{
			LogN: logN, Q: primes[:data], P: primes[data:], LogDefaultScale: scale,
		}, dropped)
	}
	return newIntegers(bgv.ParametersLiteral{
		LogN: logN, Q: primes[:data], P: primes[data:], PlaintextModulus: number(words[2]),
	}, dropped)
}

func main() {
	words := os.Args[1:]
	if len(words) <= optionCount {
		check(fmt.Errorf("too few arguments; the head of the source file lists them"))
	}
	runtime.GOMAXPROCS(1) // one core, as the platform's worker with one thread
	own := newLibrary(words)
	sets := make([]*operands, number(words[4]))
	for i := range sets {
		sets[i] = own.operands()
	}
	fmt.Println("ready")
	var operation string
	var set, loops int
	for {
		if _, err := fmt.Scan(&operation, &set, &loops); err != nil {
			return
		}
		fmt.Println(own.elapsed(operation, sets[set], loops))
	}
}
