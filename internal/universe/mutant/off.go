//go:build !alloc_mutants

package mutant

// Planted is the planted defect: none.
const Planted = Healthy

// Pause marks the places between the two loads of a handshake, where the tagged build yields to
// other goroutines.
func Pause() {}
