//go:build alloc_mutants

package alloc

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// mutant is the defect that is planted.
var mutant = healthy

// Mutants is the number of seeded defects of the universe, which are numbered from
// 1; those of the heap have the numbers after Mutants+1, up to HeapMutants.
const (
	Mutants     = int(universeMutations) - 1
	HeapMutants = int(mutations) - 1
)

// Plant puts a seeded defect into the protocol; 0 takes it out. Nothing else of
// this package may be running.
func Plant(n int) {
	if n < 0 || n > HeapMutants {
		panic(fmt.Sprintf("alloc: Plant: n=%d is not in 0..%d", n, HeapMutants))
	}
	mutant = mutation(n)
}

// pause lets other goroutines in, now and then.
func pause() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}
