// Lattigo for Ciphermark: the functions that Python calls. Objects are known by numbers, and live until they are freed.
package main

// #include <stdint.h>
// #include <stdlib.h>
import "C"

import (
	"encoding"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

func main() {}

var processors = 1

var objects = struct {
	sync.Mutex
	last  C.int64_t
	known map[C.int64_t]any
}{known: map[C.int64_t]any{}}

func keep(object any) C.int64_t {
	objects.Lock()
	defer objects.Unlock()
	objects.last++
	objects.known[objects.last] = object
	return objects.last
}

// The object of a number; a panic, which Python sees as an error, for one that is of another kind or freed.
func find[T any](number C.int64_t) T {
	objects.Lock()
	defer objects.Unlock()
	object, isKind := objects.known[number].(T)
	if !isKind {
		panic(invalid("this operand is no %T", object))
	}
	return object
}

func findAll[T any](numbers *C.int64_t, count C.int64_t) []T {
	found := make([]T, count)
	for i, number := range unsafe.Slice(numbers, count) {
		found[i] = find[T](number)
	}
	return found
}

//export lattigo_free
func lattigo_free(number C.int64_t) {
	objects.Lock()
	defer objects.Unlock()
	delete(objects.known, number)
}

// Returns what the action returns, or −1 with the text of an error: its kind in Python, a colon, and the reason. A
// panic of Go is an error, too.
func guarded(failed **C.char, action func() (C.int64_t, error)) (answer C.int64_t) {
	fail := func(err error) {
		kind := "RuntimeError"
		if known, isKnown := err.(failure); isKnown {
			kind = known.kind
		}
		answer, *failed = -1, C.CString(kind+":"+err.Error())
	}
	err := withoutPanic(func() (err error) {
		answer, err = action()
		return err
	})
	if err != nil {
		fail(err)
	}
	return answer
}

func kept(object any, err error) (C.int64_t, error) {
	if err != nil {
		return -1, err
	}
	return keep(object), nil
}

// -- the runtime ------------------------------------------------------------------------------------------------

// The collector starts when memory has grown by `percent`, and keeps it below `limit` bytes as far as it can. No more
// than `threads` cores are taken.
//
//export lattigo_start
func lattigo_start(limit, percent, threads C.int64_t) {
	debug.SetMemoryLimit(int64(limit))
	debug.SetGCPercent(int(percent))
	processors = int(threads)
	runtime.GOMAXPROCS(processors)
}

// Garbage beside the keys and matrices of bootstrapping. They would double before a collection otherwise.
const garbageBytes = 1 << 29

// Collects sooner where much memory stays in use, and returns what is free.
func boundGrowth() {
	debug.FreeOSMemory()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if percent := int(100 * garbageBytes / (memory.HeapAlloc + 1)); percent < 100 {
		debug.SetGCPercent(max(percent, 1))
	}
}

// A JSON object of names and texts.
//
//export lattigo_facts
func lattigo_facts() *C.char {
	facts := map[string]string{"go": runtime.Version(), "architecture": runtime.GOARCH}
	if build, isThere := debug.ReadBuildInfo(); isThere {
		for _, module := range build.Deps {
			facts[module.Path] = module.Version
		}
		for _, setting := range build.Settings {
			facts[setting.Key] = setting.Value
		}
	}
	text, _ := json.Marshal(facts)
	return C.CString(string(text))
}

//export lattigo_free_text
func lattigo_free_text(text *C.char) { C.free(unsafe.Pointer(text)) }

// -- parameters, keys -------------------------------------------------------------------------------------------

// The text is a JSON object: see the type `literal`.
//
//export lattigo_context
func lattigo_context(text *C.char, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		var asked literal
		if err := json.Unmarshal([]byte(C.GoString(text)), &asked); err != nil {
			return -1, err
		}
		return kept(newContext(asked))
	})
}

// A JSON object: see the type `circuitFacts`.
//
//export lattigo_circuit
func lattigo_circuit(parameters C.int64_t, length *C.int64_t, failed **C.char) *C.char {
	return dumped(length, failed, func() ([]byte, error) {
		return json.Marshal(find[*context](parameters).circuitFacts())
	})
}

//export lattigo_owner
func lattigo_owner(parameters C.int64_t, secret *C.char, length C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return kept(newOwner(find[*context](parameters), C.GoBytes(unsafe.Pointer(secret), C.int(length))))
	})
}

//export lattigo_dump_key
func lattigo_dump_key(own C.int64_t, item *C.char, element C.int64_t, length *C.int64_t, failed **C.char) *C.char {
	return dumped(length, failed, func() ([]byte, error) {
		return find[*owner](own).dump(C.GoString(item), uint64(element))
	})
}

// The bytes are to be freed by the caller.
func dumped(length *C.int64_t, failed **C.char, dump func() ([]byte, error)) *C.char {
	var text unsafe.Pointer
	guarded(failed, func() (C.int64_t, error) {
		data, err := dump()
		if err == nil {
			text, *length = C.CBytes(data), C.int64_t(len(data))
		}
		return 0, err
	})
	return (*C.char)(text)
}

//export lattigo_dump
func lattigo_dump(object C.int64_t, length *C.int64_t, failed **C.char) *C.char {
	return dumped(length, failed, func() ([]byte, error) { return find[encoding.BinaryMarshaler](object).MarshalBinary() })
}

//export lattigo_load
func lattigo_load(parameters C.int64_t, data *C.char, length C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return kept(find[*context](parameters).load(C.GoBytes(unsafe.Pointer(data), C.int(length))))
	})
}

//export lattigo_budget_bits
func lattigo_budget_bits(own, ciphertext C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return C.int64_t(find[*owner](own).budgetBits(find[*rlwe.Ciphertext](ciphertext))), nil
	})
}

//export lattigo_evaluator
func lattigo_evaluator(parameters C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return keep(&evaluator{context: find[*context](parameters)}), nil
	})
}

//export lattigo_add_key
func lattigo_add_key(own C.int64_t, item, data *C.char, length C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(data)), int(length))
		return 0, find[*evaluator](own).addKey(C.GoString(item), bytes)
	})
}

//export lattigo_complete
func lattigo_complete(own C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) { return 0, find[*evaluator](own).complete() })
}

// -- ciphertexts and plaintexts ---------------------------------------------------------------------------------

//export lattigo_shape
func lattigo_shape(
	ciphertext C.int64_t, level, polynomials *C.int64_t, scale *C.double, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		found := find[*rlwe.Ciphertext](ciphertext)
		*level, *polynomials = C.int64_t(found.Level()), C.int64_t(len(found.Value))
		*scale = C.double(found.Scale.Float64())
		return 0, nil
	})
}

// Vectors of 64-bit numbers: addresses and lengths, one of each for each vector.
func vectors(addresses *unsafe.Pointer, lengths *C.int64_t, count C.int64_t) [][]uint64 {
	found := make([][]uint64, count)
	for i, address := range unsafe.Slice(addresses, count) {
		found[i] = unsafe.Slice((*uint64)(address), int(unsafe.Slice(lengths, count)[i]))
	}
	return found
}

func cloned(several [][]uint64) [][]uint64 {
	copies := make([][]uint64, len(several))
	for i, values := range several {
		copies[i] = append([]uint64{}, values...)
	}
	return copies
}

// Encodes vectors on several threads; those of `scales` that are 0 stand for the default, or a factor of 1.
//
//export lattigo_encode
func lattigo_encode(
	parameters C.int64_t, addresses *unsafe.Pointer, lengths, levels *C.int64_t, scales *C.double,
	count, threads C.int64_t, numbers *C.int64_t, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		own, values := find[*context](parameters), vectors(addresses, lengths, count)
		made := make([]*rlwe.Plaintext, count)
		err := onThreads(int(count), int(threads), func(i int) (err error) {
			scale := own.rlwe.DefaultScale()
			if asked := unsafe.Slice(scales, count)[i]; asked != 0 && own.isReal() {
				scale = rlwe.NewScale(float64(asked))
			}
			made[i], err = own.encoded(values[i], int(unsafe.Slice(levels, count)[i]), scale)
			return err
		})
		if err == nil {
			for i, plaintext := range made {
				unsafe.Slice(numbers, count)[i] = keep(plaintext)
			}
		}
		return 0, err
	})
}

// -- what is bound ----------------------------------------------------------------------------------------------

// Rows of operands: the numbers of ciphertexts and plaintexts row by row, and those of numbers, with their counts.
//
//export lattigo_bind
func lattigo_bind(
	own C.int64_t, name *C.char, rows C.int64_t, handles, handleCounts *C.int64_t, floats *C.double,
	integers, numberCounts *C.int64_t, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		made := make([]operands, rows)
		var handle, number C.int64_t
		for i := range made {
			handleEnd := handle + unsafe.Slice(handleCounts, rows)[i]
			for _, id := range unsafe.Slice(handles, handleEnd)[handle:] {
				switch object := find[any](id).(type) {
				case *rlwe.Ciphertext:
					made[i].ciphertexts = append(made[i].ciphertexts, object)
				case *rlwe.Plaintext:
					made[i].plaintexts = append(made[i].plaintexts, object)
				default:
					return -1, invalid("this operand is no ciphertext and no plaintext")
				}
			}
			numberEnd := number + unsafe.Slice(numberCounts, rows)[i]
			for j := number; j < numberEnd; j++ {
				made[i].floats = append(made[i].floats, float64(unsafe.Slice(floats, numberEnd)[j]))
				made[i].integers = append(made[i].integers, int64(unsafe.Slice(integers, numberEnd)[j]))
			}
			handle, number = handleEnd, numberEnd
		}
		return kept(find[*evaluator](own).bind(C.GoString(name), made))
	})
}

//export lattigo_bind_encode
func lattigo_bind_encode(
	own C.int64_t, addresses *unsafe.Pointer, lengths, levels *C.int64_t, count C.int64_t, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		places := make([]int, count)
		for i, level := range unsafe.Slice(levels, count) {
			places[i] = int(level)
		}
		return kept(find[*evaluator](own).bindEncode(cloned(vectors(addresses, lengths, count)), places))
	})
}

//export lattigo_bind_encode_coefficients
func lattigo_bind_encode_coefficients(
	own C.int64_t, addresses *unsafe.Pointer, lengths *C.int64_t, count C.int64_t, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return kept(find[*evaluator](own).bindEncodeCoefficients(cloned(vectors(addresses, lengths, count))))
	})
}

//export lattigo_slot_root
func lattigo_slot_root(parameters C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		root, err := find[*context](parameters).slotRoot()
		return C.int64_t(root), err
	})
}

//export lattigo_bind_encrypt
func lattigo_bind_encrypt(
	own C.int64_t, addresses *unsafe.Pointer, lengths *C.int64_t, count C.int64_t, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return kept(find[*owner](own).bindEncrypt(cloned(vectors(addresses, lengths, count))))
	})
}

//export lattigo_bind_decrypt
func lattigo_bind_decrypt(own C.int64_t, ciphertexts *C.int64_t, count C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return kept(find[*owner](own).bindDecrypt(findAll[*rlwe.Ciphertext](ciphertexts, count)))
	})
}

//export lattigo_bind_generation
func lattigo_bind_generation(own C.int64_t, item *C.char, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) { return kept(find[*owner](own).bindGeneration(C.GoString(item))) })
}

// A loop over nothing.
//
//export lattigo_bind_empty
func lattigo_bind_empty() C.int64_t { return keep(&bound{steps: []step{func() error { return nil }}}) }

// The nodes are a JSON list: see the type `node`.
//
//export lattigo_program
func lattigo_program(
	own, inputs C.int64_t, nodes *C.char, plaintexts *C.int64_t, count C.int64_t, outputs *C.int64_t,
	outputCount C.int64_t, failed **C.char,
) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		var listed []node
		if err := json.Unmarshal([]byte(C.GoString(nodes)), &listed); err != nil {
			return -1, err
		}
		places := make([]int, outputCount)
		for i, output := range unsafe.Slice(outputs, outputCount) {
			places[i] = int(output)
		}
		constants := findAll[*rlwe.Plaintext](plaintexts, count)
		return kept(newProgram(find[*evaluator](own), int(inputs), listed, constants, places))
	})
}

//export lattigo_bind_program
func lattigo_bind_program(own C.int64_t, inputs *C.int64_t, count, threads C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		return kept(find[*program](own).bind(findAll[*rlwe.Ciphertext](inputs, count), int(threads)))
	})
}

// Returns nanoseconds, and what the collector did meanwhile: cycles, and nanoseconds for which all waited. A cycle that
// began before or has not ended afterwards is one of them: it slows the loop, too.
//
//export lattigo_run
func lattigo_run(own, loops C.int64_t, cycles, paused *C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		loop := find[runner](own)
		before := collectionsSoFar()
		untilCollected()
		elapsed, err := loop.run(int64(loops))
		untilCollected()
		during := collectionsSoFar().since(before)
		*cycles, *paused = C.int64_t(during.cycles), C.int64_t(during.paused)
		return C.int64_t(elapsed), err
	})
}

// What the collector has done so far: cycles, and nanoseconds for which all waited.
//
//export lattigo_collections
func lattigo_collections(cycles, paused *C.int64_t) {
	sofar := collectionsSoFar()
	*cycles, *paused = C.int64_t(sofar.cycles), C.int64_t(sofar.paused)
}

// Writes the numbers of at most `most` results; returns their count.
//
//export lattigo_results
func lattigo_results(own, areTaken C.int64_t, numbers *C.int64_t, most C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		found := find[runner](own).results(areTaken != 0)
		for i, result := range found[:min(len(found), int(most))] {
			unsafe.Slice(numbers, most)[i] = keep(result)
		}
		return C.int64_t(len(found)), nil
	})
}

// Copies a decrypted vector.
//
//export lattigo_values
func lattigo_values(vector C.int64_t, into *C.int64_t, length C.int64_t, failed **C.char) C.int64_t {
	return guarded(failed, func() (C.int64_t, error) {
		target := unsafe.Slice((*uint64)(unsafe.Pointer(into)), int(length))
		return C.int64_t(copy(target, find[[]uint64](vector))), nil
	})
}
