//go:build !purego && !race

package asm

import "os"

// I1: written here and nowhere else.
var best, levelErr = choose(offered(), os.Getenv(envLevel))

// offered returns NEON: every CPU that Go's arm64 port runs on has it.
func offered() Level { return NEON }

// I4: no group beyond a level.
const vpopcnt, vbmi2 = false, false

func offersVPOPCNT() bool { return false }
func offersVBMI2() bool   { return false }
