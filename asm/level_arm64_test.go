//go:build !purego && !race

package asm_test

import (
	"golang.org/x/sys/cpu"

	"quarry/asm"
)

// hardwareLevel is what this machine can run according to another source than the package. Where
// the system does not report them (the flags are then all false) the port's minimum counts, which
// includes NEON.
func hardwareLevel() asm.Level {
	if cpu.Initialized && !cpu.ARM64.HasASIMD && cpu.ARM64.HasFP {
		return asm.Go
	}
	return asm.NEON
}
