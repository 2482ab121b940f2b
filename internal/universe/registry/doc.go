// Package registry lists live objects of one type, and keeps none of them alive: the universes and
// the mappings of a process, from which a purge takes memory.
//
// Ownership: a [Registry] holds weak pointers only. An object that is dropped without Remove leaves
// when the collector finds it.
//
// Goroutines: any may use it. Failure: none.
//
// Cost: Add and Remove are a lock and a map entry; All walks the entries.
package registry
