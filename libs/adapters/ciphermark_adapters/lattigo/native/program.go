package main

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// A node as Python sends it: values, indices of plaintexts, numbers of both kinds, and the number of results.
type node struct {
	Operation  string
	Operands   []int
	Plaintexts []int
	Floats     []float64
	Integers   []int64
	Results    int
}

type instruction struct {
	operation operation
	operands  []int
	fixed     operands // without ciphertexts
	first     int      // the first result
	results   int
}

// A program, translated once for one evaluator.
type program struct {
	evaluator    *evaluator
	inputs       int
	instructions []instruction
	outputs      []int
	uses         []int32 // per value, by nodes and outputs
	dependencies dependencies
}

func newProgram(e *evaluator, inputs int, listed []node, plaintexts []*rlwe.Plaintext, outputs []int) (*program, error) {
	made := &program{evaluator: e, inputs: inputs, outputs: outputs}
	makers := make([]int, inputs) // of each value; those of inputs are not read
	for number, item := range listed {
		known, isKnown := operations[item.Operation]
		if !isKnown {
			return nil, invalid("there is no operation %s", item.Operation)
		}
		one := instruction{
			operation: known, operands: item.Operands, first: len(makers), results: item.Results,
			fixed: operands{floats: item.Floats, integers: item.Integers},
		}
		for _, place := range item.Plaintexts {
			one.fixed.plaintexts = append(one.fixed.plaintexts, plaintexts[place])
		}
		made.instructions = append(made.instructions, one)
		for range item.Results {
			makers = append(makers, number)
		}
	}
	made.countUses(len(makers))
	made.findDependencies(makers)
	return made, nil
}

func (p *program) countUses(values int) {
	p.uses = make([]int32, values)
	for _, item := range p.instructions {
		for _, operand := range item.operands {
			p.uses[operand]++
		}
	}
	for _, output := range p.outputs {
		p.uses[output]++
	}
}

func (p *program) findDependencies(makers []int) {
	p.dependencies.followers = make([][]int, len(p.instructions))
	p.dependencies.waits = make([]int, len(p.instructions))
	for number, item := range p.instructions {
		var before []int
		for _, operand := range item.operands {
			if operand >= p.inputs && !slices.Contains(before, makers[operand]) {
				before = append(before, makers[operand])
			}
		}
		for _, maker := range before {
			p.dependencies.followers[maker] = append(p.dependencies.followers[maker], number)
		}
		p.dependencies.waits[number] = len(before)
	}
}

// A value of the program. `usesLeft` counts nodes that still read it, and outputs, which never cease.
type value struct {
	ciphertext *rlwe.Ciphertext
	usesLeft   atomic.Int32
}

// One binding of a program: its inputs, and the values of the execution that is under way.
type execution struct {
	program    *program
	inputs     []*rlwe.Ciphertext
	threads    int
	values     []value
	recycled   recycled
	schedule   *schedule
	isExecuted bool
}

func (p *program) bind(inputs []*rlwe.Ciphertext, threads int) (*execution, error) {
	if len(inputs) != p.inputs {
		return nil, invalid("the program takes %d inputs, not %d", p.inputs, len(inputs))
	}
	made := &execution{program: p, inputs: inputs, threads: threads, values: make([]value, len(p.uses))}
	made.recycled.free = make(map[shape][]*rlwe.Ciphertext)
	made.schedule = newSchedule(&p.dependencies, made.begin, made.execute)
	return made, nil
}

func (x *execution) run(loops int64) (elapsed int64, err error) {
	x.isExecuted = false
	err = onProcessors(max(x.threads, processors), func() error {
		lasted, failed := x.schedule.run(loops, x.threads)
		elapsed = lasted.Nanoseconds()
		return failed
	})
	x.isExecuted = err == nil && loops > 0
	return elapsed, err
}

// What somebody holds is not recycled: the results of the next execution are others.
func (x *execution) results(bool) []any {
	if !x.isExecuted {
		return nil
	}
	found := make([]any, len(x.program.outputs))
	for i, output := range x.program.outputs {
		found[i] = x.values[output].ciphertext
		x.recycled.held = append(x.recycled.held, x.values[output].ciphertext)
	}
	return found
}

// Takes back what the last execution left.
func (x *execution) begin() {
	for i := range x.values {
		one := &x.values[i]
		if i < len(x.inputs) {
			one.ciphertext = x.inputs[i]
		} else if one.ciphertext != nil {
			x.recycled.giveBack(one.ciphertext)
			one.ciphertext = nil
		}
		one.usesLeft.Store(x.program.uses[i])
	}
	x.recycled.held = nil
}

func (x *execution) execute(number int) error {
	item := &x.program.instructions[number]
	row := item.fixed
	row.plaintexts = slices.Clone(row.plaintexts) // those with another scale are replaced by views
	for _, operand := range item.operands {
		row.ciphertexts = append(row.ciphertexts, x.values[operand].ciphertext)
	}
	shapes, err := item.operation.prepare(x.program.evaluator, &row)
	if err != nil {
		return err
	}
	out := make([]*rlwe.Ciphertext, len(shapes))
	for i, wanted := range shapes {
		out[i] = x.recycled.taken(x.program.evaluator.context, wanted)
	}
	if err := item.operation.apply(x.program.evaluator, &row, out); err != nil {
		return err
	}
	for i, ciphertext := range out {
		if x.program.uses[item.first+i] == 0 {
			x.recycled.give(ciphertext)
			continue
		}
		x.values[item.first+i].ciphertext = ciphertext
	}
	for _, operand := range item.operands {
		x.release(operand)
	}
	return nil
}

func (x *execution) release(operand int) {
	one := &x.values[operand]
	if one.usesLeft.Add(-1) == 0 && operand >= len(x.inputs) {
		x.recycled.give(one.ciphertext)
		one.ciphertext = nil
	}
}

// Ciphertexts whose values are dead, for the next of the same shape. From one loop to the next no ciphertext is
// allocated any more, and the collector has little to do.
type recycled struct {
	mutex sync.Mutex
	free  map[shape][]*rlwe.Ciphertext
	held  []*rlwe.Ciphertext // by the caller
}

func (r *recycled) taken(c *context, wanted shape) *rlwe.Ciphertext {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if same := r.free[wanted]; len(same) > 0 {
		r.free[wanted] = same[:len(same)-1]
		return same[len(same)-1]
	}
	return c.newCiphertext(wanted.degree, wanted.level)
}

func (r *recycled) give(ciphertext *rlwe.Ciphertext) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	own := shape{ciphertext.Degree(), ciphertext.Level()}
	r.free[own] = append(r.free[own], ciphertext)
}

// The same for a result of the last execution, unless somebody holds it.
func (r *recycled) giveBack(ciphertext *rlwe.Ciphertext) {
	if !slices.Contains(r.held, ciphertext) {
		r.give(ciphertext)
	}
}
