//go:build !alloc_mutants

package alloc

const mutant = healthy

// pause marks the places between the two loads of a handshake, where the tagged build yields to
// other goroutines.
func pause() {}
