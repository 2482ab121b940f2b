//go:build !(amd64 || arm64) || purego || race

package asm_test

import "quarry/asm"

// hardwareLevel is Go: this build has no assembly.
func hardwareLevel() asm.Level { return asm.Go }
