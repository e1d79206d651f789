package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Calls the function for 0 to count − 1 on several goroutines. Returns the first error; a panic of Lattigo is one, since
// another goroutine's panic would end the process.
func onThreads(count, threads int, function func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	work := func() {
		for i := int(next.Add(1)) - 1; i < count && failed.Load() == nil; i = int(next.Add(1)) - 1 {
			if err := withoutPanic(func() error { return function(i) }); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	return onProcessors(max(threads, processors), func() error {
		var helpers sync.WaitGroup
		for range min(threads, count) - 1 {
			helpers.Add(1)
			go func() {
				defer helpers.Done()
				work()
			}()
		}
		work()
		helpers.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	})
}

func withoutPanic(action func() error) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case failure:
			err = reason
		default:
			err = failure{"RuntimeError", fmt.Sprintf("Lattigo panics: %v", reason)}
		}
	}()
	return action()
}

// The same memory as floats.
func asFloats(values []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}
