//go:build !purego && !race

package asm

// prefetchLines prefetches the line of each address into every level of cache. Every arm64 CPU
// supports it.
//
//go:noescape
func prefetchLines(addresses []uintptr)
