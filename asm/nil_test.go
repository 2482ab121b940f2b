package asm_test

import (
	"testing"

	"quarry/asm"
	"quarry/internal/lint"
)

func TestNil(t *testing.T) {
	lint.CheckNil(t,
		lint.NilPanics("FindRun512", "asm: FindRun512: ", func() { asm.FindRun512(nil, 1) }),
		lint.NilPanics("FindRun512: of the assembly", "asm: FindRun512: ", func() { asm.FindRun512(nil, 64) }),
		lint.NilPanics("Compose", "asm: Compose: ",
			func() { asm.Compose(make([][16]float32, 1), nil, make([][8]float32, 1)) }),
	)
}
