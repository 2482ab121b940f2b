//go:build !purego && !race

#include "textflag.h"

// PREFETCHT0 of each address of a list. The instruction never faults and is done
// as soon as the CPU has taken note of it.
//
// Registers:
//
//	SI   next address                 AX, BX, DX, DI   four addresses
//	CX   addresses left

// func prefetchLines(addresses []uintptr)
TEXT ·prefetchLines(SB), NOSPLIT, $0-24
	MOVQ addresses_base+0(FP), SI
	MOVQ addresses_len+8(FP), CX
	SUBQ $4, CX
	JLT  rest

loop:
	MOVQ       0(SI), AX
	MOVQ       8(SI), BX
	MOVQ       16(SI), DX
	MOVQ       24(SI), DI
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	PREFETCHT0 (DX)
	PREFETCHT0 (DI)
	ADDQ       $32, SI
	SUBQ       $4, CX
	JGE        loop

rest:
	ADDQ $4, CX
	JEQ  done

one:
	MOVQ       0(SI), AX
	PREFETCHT0 (AX)
	ADDQ       $8, SI
	SUBQ       $1, CX
	JNE        one

done:
	RET
