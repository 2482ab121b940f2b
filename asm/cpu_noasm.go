//go:build !(amd64 || arm64) || purego || race

package asm

import "os"

// best is a constant here, so the compiler drops every branch to assembly. The race tag needs this
// for correct reports: the race detector does not see loads and stores in assembly.
const best = Go

var _, levelErr = choose(offered(), os.Getenv(envLevel))

// offered returns the highest level that this build can run.
func offered() Level { return Go }

// I4: no group beyond a level.
const vpopcnt, vbmi2 = false, false

func offersVPOPCNT() bool { return false }
func offersVBMI2() bool   { return false }
