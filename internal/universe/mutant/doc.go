// Package mutant has the seeded defects of the protocols of universe and heap, and the places at
// which they yield. In the ordinary build all of it is compiled away; under the tag alloc_mutants
// tests plant a defect and show that they find it.
//
// Goroutines: nothing of package alloc may run while a defect is planted.
//
// Failure: Plant panics for a number that is no defect. Cost: none in the ordinary build.
package mutant
