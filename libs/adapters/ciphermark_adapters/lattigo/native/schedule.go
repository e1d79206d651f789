package main

import (
	"container/heap"
	"sync"
	"time"
)

// Which nodes wait for which: `followers` of a node can start when all that they wait for are done.
type dependencies struct {
	followers [][]int
	waits     []int // per node, how many others it waits for
}

// Executes the nodes of a graph on several goroutines. Of the nodes that can start, the first in the program's order
// does: so memory stays near to what one thread needs.
type schedule struct {
	dependencies *dependencies
	begin        func()
	execute      func(node int) error

	mutex     sync.Mutex
	ready     *sync.Cond // a node can start, or there is nothing left
	queue     nodes
	waits     []int
	nodesLeft int
	loopsLeft int64
	failed    error
}

func newSchedule(d *dependencies, begin func(), execute func(int) error) *schedule {
	made := &schedule{dependencies: d, begin: begin, execute: execute}
	made.ready = sync.NewCond(&made.mutex)
	return made
}

// Executes the whole graph `loops` times, one after the other.
func (s *schedule) run(loops int64, threads int) (time.Duration, error) {
	count := len(s.dependencies.waits)
	if threads > 1 && count > 0 && loops > 0 {
		return s.runTogether(loops, threads)
	}
	start := time.Now()
	if loops == 0 || count == 0 {
		s.begin()
	}
	for range loops {
		s.begin()
		for node := range count {
			if err := s.execute(node); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(start), nil
}

func (s *schedule) runTogether(loops int64, threads int) (time.Duration, error) {
	var helpers sync.WaitGroup
	s.queue, s.failed, s.loopsLeft = nil, nil, loops
	for range threads - 1 {
		helpers.Add(1)
		go func() {
			defer helpers.Done()
			s.work()
		}()
	}
	start := time.Now()
	s.mutex.Lock()
	s.startLoop()
	s.mutex.Unlock()
	s.ready.Broadcast()
	s.work()
	elapsed := time.Since(start)
	helpers.Wait()
	return elapsed, s.failed
}

// What each goroutine does: takes nodes until the last loop is done.
func (s *schedule) work() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for {
		for len(s.queue) == 0 && s.loopsLeft > 0 {
			s.ready.Wait()
		}
		if s.loopsLeft == 0 {
			return
		}
		node := heap.Pop(&s.queue).(int)
		s.mutex.Unlock()
		err := withoutPanic(func() error { return s.execute(node) })
		s.mutex.Lock()
		s.end(node, err)
	}
}

// The mutex is held by the caller.
func (s *schedule) startLoop() {
	s.waits = append(s.waits[:0], s.dependencies.waits...)
	s.nodesLeft = len(s.waits)
	s.begin()
	for node, waits := range s.waits {
		if waits == 0 {
			heap.Push(&s.queue, node)
		}
	}
}

// The mutex is held by the caller.
func (s *schedule) end(node int, err error) {
	if s.loopsLeft == 0 {
		return // another node has failed
	}
	if err != nil {
		s.failed, s.loopsLeft = err, 0
		s.ready.Broadcast()
		return
	}
	for _, follower := range s.dependencies.followers[node] {
		if s.waits[follower]--; s.waits[follower] == 0 {
			heap.Push(&s.queue, follower)
			s.ready.Signal()
		}
	}
	if s.nodesLeft--; s.nodesLeft == 0 {
		if s.loopsLeft--; s.loopsLeft > 0 {
			s.startLoop()
		}
		s.ready.Broadcast()
	}
}

// A heap of nodes, the first in the program's order on top.
type nodes []int

func (n nodes) Len() int           { return len(n) }
func (n nodes) Less(i, j int) bool { return n[i] < n[j] }
func (n nodes) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *nodes) Push(node any)     { *n = append(*n, node.(int)) }
func (n *nodes) Pop() any {
	last := len(*n) - 1
	node := (*n)[last]
	*n = (*n)[:last]
	return node
}
