package main

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

type step func() error

// What Python sees of a loop: a bound operation, or a program.
type runner interface {
	run(loops int64) (int64, error)
	// The results of the last execution, row by row; copies, unless they are taken.
	results(areTaken bool) []any
}

// Operations on operands, one step for each row: the one thing that is timed.
type bound struct {
	steps      []step
	made       []any
	isExecuted bool
}

func (b *bound) add(operation step, results ...any) {
	b.steps, b.made = append(b.steps, operation), append(b.made, results...)
}

func (b *bound) run(loops int64) (int64, error) {
	b.isExecuted = false
	start := time.Now()
	for range loops {
		for _, operation := range b.steps {
			if err := operation(); err != nil {
				return 0, err
			}
		}
	}
	elapsed := time.Since(start)
	b.isExecuted = loops > 0
	return elapsed.Nanoseconds(), nil
}

func (b *bound) results(areTaken bool) []any {
	if !b.isExecuted {
		return nil
	}
	if areTaken {
		return b.made
	}
	copies := make([]any, len(b.made))
	for i, result := range b.made {
		copies[i] = copied(result)
	}
	return copies
}

func copied(result any) any {
	switch result := result.(type) {
	case *rlwe.Ciphertext:
		return result.CopyNew()
	case *rlwe.Plaintext:
		return result.CopyNew()
	case []uint64:
		return slices.Clone(result)
	}
	return result
}

// The collector's cycles, and the time for which it stopped all goroutines.
type collections struct {
	cycles int64
	paused time.Duration
}

func collectionsSoFar() collections {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	return collections{stats.NumGC, stats.PauseTotal}
}

func (c collections) since(before collections) collections {
	return collections{c.cycles - before.cycles, c.paused - before.paused}
}

// Waits for the end of a collection that is under way: it takes cores, and a call that enters Go waits for one. Lasts
// about a microsecond without one.
func untilCollected() {
	debug.SetGCPercent(debug.SetGCPercent(-1)) // -1 waits
}

// Executes with this many processors of Go's runtime: goroutines and the collector take no more cores.
func onProcessors(count int, execute func() error) error {
	usual := runtime.GOMAXPROCS(0)
	if count != usual {
		runtime.GOMAXPROCS(count)
		defer runtime.GOMAXPROCS(usual)
	}
	return execute()
}
