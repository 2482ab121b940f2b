//go:build alloc_mutants

package mutant

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Planted is the planted defect.
var Planted = Healthy

// OfUniverse and OfHeap bound the numbers of the defects: 1 to OfUniverse, and OfUniverse+2 to
// OfHeap.
const (
	OfUniverse = int(universeMutations) - 1
	OfHeap     = int(mutations) - 1
)

// Plant plants seeded defect n; 0 removes it. Nothing else of package alloc may be running.
func Plant(n int) {
	if n < 0 || n > OfHeap {
		panic(fmt.Sprintf("alloc: Plant: n=%d is not in 0..%d", n, OfHeap))
	}
	Planted = mutation(n)
}

// Pause yields to other goroutines now and then.
func Pause() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}
