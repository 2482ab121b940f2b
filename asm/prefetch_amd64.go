//go:build !purego && !race

package asm

// prefetchLines prefetches the line of each address into every level of cache. It
// needs nothing that an amd64 CPU may lack.
//
//go:noescape
func prefetchLines(addresses []uintptr)
