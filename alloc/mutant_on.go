//go:build alloc_mutants

package alloc

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// mutant is the planted defect.
var mutant = healthy

// Mutants is the number of seeded defects of the universe, numbered from 1. The defects of the heap
// are numbered from Mutants+2 to HeapMutants.
const (
	Mutants     = int(universeMutations) - 1
	HeapMutants = int(mutations) - 1
)

// Plant plants seeded defect n in the protocol; 0 removes it. Nothing else of this package may be
// running. Plant panics unless n is in 0..HeapMutants.
func Plant(n int) {
	if n < 0 || n > HeapMutants {
		panic(fmt.Sprintf("alloc: Plant: n=%d is not in 0..%d", n, HeapMutants))
	}
	mutant = mutation(n)
}

// pause yields to other goroutines now and then.
func pause() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}
