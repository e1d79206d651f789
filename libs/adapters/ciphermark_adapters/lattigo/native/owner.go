package main

import (
	"encoding"
	"math/big"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// Holds the secret key.
type owner struct {
	context   *context
	generator *rlwe.KeyGenerator
	secret    *rlwe.SecretKey
	public    *rlwe.PublicKey
	encryptor *rlwe.Encryptor
	decryptor *rlwe.Decryptor
	circuit   *circuitOwner // where there is bootstrapping
}

// With a fresh secret key where none is given.
func newOwner(c *context, given []byte) (*owner, error) {
	generator := rlwe.NewKeyGenerator(c.rlwe)
	secret := rlwe.NewSecretKey(c.rlwe)
	if len(given) == 0 {
		generator.GenSecretKey(secret)
	} else if len(given) != secret.BinarySize() {
		return nil, invalid("these bytes are no secret key of these parameters")
	} else if err := secret.UnmarshalBinary(given); err != nil {
		return nil, err
	}
	public := generator.GenPublicKeyNew(secret)
	made := &owner{
		c, generator, secret, public, rlwe.NewEncryptor(c.rlwe, public), rlwe.NewDecryptor(c.rlwe, secret), nil,
	}
	if c.circuit != nil {
		made.circuit = newCircuitOwner(c, secret)
	}
	return made, nil
}

func (o *owner) relinearizationKey(isSeeded bool) *rlwe.RelinearizationKey {
	return o.generator.GenRelinearizationKeyNew(o.secret, rlwe.EvaluationKeyParameters{Compressed: isSeeded})
}

func (o *owner) rotationKey(element uint64, isSeeded bool) *rlwe.GaloisKey {
	return o.generator.GenGaloisKeyNew(element, o.secret, rlwe.EvaluationKeyParameters{Compressed: isSeeded})
}

// The bytes of a key in Lattigo's format, generated where the owner does not hold it.
func (o *owner) dump(item string, element uint64) ([]byte, error) {
	keys := map[string]func() encoding.BinaryMarshaler{
		"parameters":                 func() encoding.BinaryMarshaler { return o.context.rlwe },
		"secret_key":                 func() encoding.BinaryMarshaler { return o.secret },
		"public_key":                 func() encoding.BinaryMarshaler { return o.public },
		"relinearization_key":        func() encoding.BinaryMarshaler { return o.relinearizationKey(false) },
		"relinearization_key_seeded": func() encoding.BinaryMarshaler { return o.relinearizationKey(true) },
		"rotation_key":               func() encoding.BinaryMarshaler { return o.rotationKey(element, false) },
		"rotation_key_seeded":        func() encoding.BinaryMarshaler { return o.rotationKey(element, true) },
	}
	if key, isKnown := keys[item]; isKnown {
		return key().MarshalBinary()
	}
	if o.circuit != nil {
		if key := o.circuit.key(item, element); key != nil {
			return key.MarshalBinary()
		}
	}
	return nil, invalid("there is no key %s", item)
}

// The loop that generates a new key each time, in the memory of the one before.
func (o *owner) bindGeneration(item string) (*bound, error) {
	parameters := o.context.rlwe
	var generate func()
	switch item {
	case "key_pair":
		secret, public := rlwe.NewSecretKey(parameters), rlwe.NewPublicKey(parameters)
		generate = func() {
			o.generator.GenSecretKey(secret)
			o.generator.GenPublicKey(secret, public)
		}
	case "relinearization_key":
		key := rlwe.NewRelinearizationKey(parameters)
		generate = func() { o.generator.GenRelinearizationKey(o.secret, key) }
	case "rotation_key":
		key, element := rlwe.NewGaloisKey(parameters), parameters.GaloisElement(1)
		generate = func() { o.generator.GenGaloisKey(element, o.secret, key) }
	default:
		return nil, invalid("there is no key %s", item)
	}
	return &bound{steps: []step{func() error { generate(); return nil }}}, nil
}

func (o *owner) bindEncrypt(rows [][]uint64) (*bound, error) {
	made := &bound{}
	for _, values := range rows {
		if err := o.context.requireSlots(values); err != nil {
			return nil, err
		}
		plaintext := o.context.newPlaintext(o.context.rlwe.MaxLevel())
		result := o.context.newCiphertext(1, o.context.rlwe.MaxLevel())
		made.add(func() error {
			if err := o.context.encode(values, plaintext); err != nil {
				return err
			}
			return o.encryptor.Encrypt(plaintext, result)
		}, result)
	}
	return made, nil
}

func (o *owner) bindDecrypt(ciphertexts []*rlwe.Ciphertext) (*bound, error) {
	made := &bound{}
	for _, ciphertext := range ciphertexts {
		plaintext := o.context.newPlaintext(ciphertext.Level())
		result := make([]uint64, o.context.slots())
		made.add(func() error {
			o.decryptor.Decrypt(ciphertext, plaintext)
			return o.context.decode(plaintext, result)
		}, result)
	}
	return made, nil
}

// The bits between the noise and the modulus, 0 where the noise fills it: T times the phase is the plaintext plus T
// times the noise.
func (o *owner) budgetBits(ciphertext *rlwe.Ciphertext) int {
	plaintext := o.decryptor.DecryptNew(ciphertext)
	ringQ := o.context.rlwe.RingQ().AtLevel(ciphertext.Level())
	ringQ.INTT(plaintext.Value, plaintext.Value)
	ringQ.MulScalar(plaintext.Value, o.context.bgv.PlaintextModulus(), plaintext.Value)
	coefficients := make([]*big.Int, ringQ.N())
	for i := range coefficients {
		coefficients[i] = new(big.Int)
	}
	ringQ.PolyToBigintCentered(plaintext.Value, 1, coefficients)
	largest := 0
	for _, coefficient := range coefficients {
		largest = max(largest, coefficient.BitLen())
	}
	return max(0, o.context.modulusBits(ciphertext.Level())-largest-1)
}
