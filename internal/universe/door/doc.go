// Package door is how package ecs gets from what programs hold, an *alloc.Universe or an
// alloc.Growth, to its core, and back. internal/lint/floors.go says who may import it, and why; no
// other module can, and no exported name of alloc leads here.
//
//	ecs ----> door ----> alloc             faces around cores
//	   \          \
//	    ------------> universe, growth     the cores, which the rooms of ecs hold
//
// A face is its core and nothing else, which the compiler checks by size and a test by type, so a
// conversion costs nothing and a universe keeps its identity: two faces are one pointer if their
// cores are.
//
// Ownership, lifetime, goroutines, failure: those of the argument.
package door
