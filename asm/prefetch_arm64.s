//go:build !purego && !race

#include "textflag.h"

// PRFM PLDL1KEEP of each address of a list. The instruction never faults and is
// done as soon as the CPU has taken note of it.
//
// Registers:
//
//	R0   next address                 R2..R5   four addresses
//	R1   addresses left

// func prefetchLines(addresses []uintptr)
TEXT ·prefetchLines(SB), NOSPLIT, $0-24
	MOVD addresses_base+0(FP), R0
	MOVD addresses_len+8(FP), R1
	SUBS $4, R1
	BLT  rest

loop:
	LDP.P 16(R0), (R2, R3)
	LDP.P 16(R0), (R4, R5)
	PRFM  (R2), PLDL1KEEP
	PRFM  (R3), PLDL1KEEP
	PRFM  (R4), PLDL1KEEP
	PRFM  (R5), PLDL1KEEP
	SUBS  $4, R1
	BGE   loop

rest:
	ADDS $4, R1
	BEQ  done

one:
	MOVD.P 8(R0), R2
	PRFM   (R2), PLDL1KEEP
	SUBS   $1, R1
	BNE    one

done:
	RET
