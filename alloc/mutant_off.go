//go:build !alloc_mutants

package alloc

const mutant = healthy

// pause marks the places between the two looks of a handshake, where the tagged
// build lets other goroutines in.
func pause() {}
