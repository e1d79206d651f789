// Lattigo's bootstrapping as its own examples call it, with its parameter set N15QP768H192H32 and its default of Go's
// collector: what Ciphermark's times are held against.
//
// It makes keys and one ciphertext, says "ready", then answers lines "OPERATION SET LOOPS" on standard input with the
// elapsed nanoseconds of that many bootstrappings, or of encryptions where the operation is "encrypt".
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"github.com/tuneinsight/lattigo/v6/utils"
)

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "plain_bootstrap:", err)
		os.Exit(1)
	}
}

func main() {
	runtime.GOMAXPROCS(1) // one core, as the platform's worker with one thread
	set := bootstrapping.N15QP768H192H32
	parameters := must(ckks.NewParametersFromLiteral(set.SchemeParams))
	set.BootstrappingParams.LogN = utils.Pointy(parameters.LogN()) // 16 by default
	set.BootstrappingParams.Xs = parameters.Xs()
	circuit := must(bootstrapping.NewParametersFromLiteral(parameters, set.BootstrappingParams))
	secret, public := rlwe.NewKeyGenerator(parameters).GenKeyPairNew()
	keys, _, err := circuit.GenEvaluationKeys(secret)
	check(err)
	evaluator := must(bootstrapping.NewEvaluator(circuit, keys))
	encoder, encryptor := ckks.NewEncoder(parameters), ckks.NewEncryptor(parameters, public)

	values := make([]float64, parameters.MaxSlots())
	for i := range values {
		values[i] = 2*rand.Float64() - 1
	}
	encoded, encrypted := ckks.NewPlaintext(parameters, 0), ckks.NewCiphertext(parameters, 1, 0)
	encrypt := func() {
		check(encoder.Encode(values, encoded))
		check(encryptor.Encrypt(encoded, encrypted))
	}
	bootstrap := func() { must(evaluator.Bootstrap(encrypted.CopyNew())) } // Bootstrap changes its operand
	encrypt()
	fmt.Println("ready")
	var operation string
	var number, loops int
	for {
		if _, err := fmt.Scan(&operation, &number, &loops); err != nil {
			return
		}
		execute := bootstrap
		if operation == "encrypt" {
			execute = encrypt
		}
		start := time.Now()
		for range loops {
			execute()
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
}
