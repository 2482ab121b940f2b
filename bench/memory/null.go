package main

import (
	"sync"
	"unsafe"
)

// nullMemory hands out places that were made before, so its cost is the cost of the harness. A
// handle has stacks of its own, one per power of two, and keeps no books but a count. When it has
// no place left it makes one; that happens in the first pass of a workload, which does not count
// for time, or in prepare, if each pass has a fresh allocator.
//
// If one goroutine gets blocks and another frees them, places travel back through the depot,
// depotLoad at a time.
type nullMemory struct {
	stacks [alignClasses][classes][]unsafe.Pointer
	live   int // blocks got through this handle, less the blocks freed through it
	depot  *depot
}

// depotLoad is how many places move at once.
const depotLoad = 4096

// depot is shared by the handles of one null allocator.
type depot struct {
	mu    sync.Mutex
	loads [alignClasses][classes][][]unsafe.Pointer
	live  int // of the retired handles
}

func newNull() (memory, error) { return &nullMemory{depot: &depot{}}, nil }

func (m *nullMemory) prepare(size, n int) error {
	class, alignClass := place(size, 0)
	for range n {
		p := made(1<<class, 0)
		touch(p, 1<<class, 1)
		m.stacks[alignClass][class] = append(m.stacks[alignClass][class], p)
	}
	return nil
}

func (m *nullMemory) alloc(size, align int) (unsafe.Pointer, error) {
	class, alignClass := place(size, align)
	stack := &m.stacks[alignClass][class]
	m.live++
	if n := len(*stack); n > 0 {
		p := (*stack)[n-1]
		*stack = (*stack)[:n-1]
		return p, nil
	}
	return m.refill(stack, class, alignClass, align), nil
}

// refill takes a load from the depot, or makes one place.
func (m *nullMemory) refill(stack *[]unsafe.Pointer, class, alignClass, align int) unsafe.Pointer {
	m.depot.mu.Lock()
	defer m.depot.mu.Unlock()
	loads := &m.depot.loads[alignClass][class]
	n := len(*loads)
	if n == 0 {
		return made(1<<class, align)
	}
	*stack = append(*stack, (*loads)[n-1]...)
	*loads = (*loads)[:n-1]
	n = len(*stack)
	p := (*stack)[n-1]
	*stack = (*stack)[:n-1]
	return p
}

func (m *nullMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	return remake(m, p, old, size)
}

func (m *nullMemory) free(p unsafe.Pointer, size, align int) {
	class, alignClass := place(size, align)
	stack := &m.stacks[alignClass][class]
	m.live--
	*stack = append(*stack, p)
	if n := len(*stack); n >= 2*depotLoad && class < 14 {
		m.spill(stack, class, alignClass, depotLoad)
	}
}

// spill moves the last n places of a stack to the depot.
func (m *nullMemory) spill(stack *[]unsafe.Pointer, class, alignClass, n int) {
	keep := len(*stack) - n
	load := append([]unsafe.Pointer(nil), (*stack)[keep:]...)
	*stack = (*stack)[:keep]
	m.depot.mu.Lock()
	m.depot.loads[alignClass][class] = append(m.depot.loads[alignClass][class], load)
	m.depot.mu.Unlock()
}

func (m *nullMemory) zeroed() bool          { return false }
func (m *nullMemory) fork() (memory, error) { return &nullMemory{depot: m.depot}, nil }
func (m *nullMemory) committed() int64      { return -1 }

func (m *nullMemory) retire() error {
	for a := range m.stacks {
		for c := range m.stacks[a] {
			if n := len(m.stacks[a][c]); n > 0 {
				m.spill(&m.stacks[a][c], c, a, n)
			}
		}
	}
	m.depot.mu.Lock()
	m.depot.live += m.live
	m.depot.mu.Unlock()
	m.live = 0
	return nil
}

func (m *nullMemory) close() error {
	if err := m.retire(); err != nil {
		return err
	}
	if m.depot.live != 0 {
		return wrong("the null allocator counts %d live blocks after all were freed", m.depot.live)
	}
	return nil
}
