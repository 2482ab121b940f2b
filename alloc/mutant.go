//go:build alloc_mutants

package alloc

import "quarry/internal/universe/mutant"

// Mutants is the number of seeded defects of the universe, numbered from 1. The defects of the heap
// are numbered from Mutants+2 to HeapMutants.
const (
	Mutants     = mutant.OfUniverse
	HeapMutants = mutant.OfHeap
)

// Plant plants seeded defect n in the protocol; 0 removes it. Nothing else of this package may be
// running. Plant panics unless n is in 0..HeapMutants.
func Plant(n int) { mutant.Plant(n) }
