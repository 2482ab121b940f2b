//go:build !purego && !race

package asm_test

import (
	"golang.org/x/sys/cpu"

	"quarry/asm"
)

// hardwareLevel is what this machine can run according to another library than the one that the
// package uses, so that a wrong detection shows.
func hardwareLevel() asm.Level {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return asm.AVX512
	case cpu.X86.HasAVX2:
		return asm.AVX2
	}
	return asm.Go
}
