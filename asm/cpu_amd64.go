//go:build !purego && !race

package asm

import (
	"os"

	"github.com/klauspost/cpuid/v2"
)

// I1: written here and nowhere else.
var best, levelErr = choose(offered(), os.Getenv(envLevel))

// offered returns the highest level that the CPU and the OS can run. AVX512 needs all four groups,
// though a kernel may use fewer: CPUs that lack one of them (the Xeon Phi family) do not justify a
// level of their own.
func offered() Level {
	switch {
	case cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL, cpuid.AVX2):
		return AVX512
	case cpuid.CPU.Supports(cpuid.AVX2):
		return AVX2
	}
	return Go
}

// I4: groups of AVX-512 that are newer than the groups of level AVX512.
var (
	vpopcnt = best == AVX512 && offersVPOPCNT() // PopCount
	vbmi2   = best == AVX512 && offersVBMI2()   // FindRun512
)

func offersVPOPCNT() bool {
	return offered() == AVX512 && cpuid.CPU.Supports(cpuid.AVX512VPOPCNTDQ)
}

func offersVBMI2() bool {
	return offered() == AVX512 && cpuid.CPU.Supports(cpuid.AVX512VBMI2)
}
