//go:build !purego && !race

#include "textflag.h"

// The number of set bits: VCNT counts per byte, four vectors are added per byte
// (at most 32, so nothing overflows), and VUADDLV adds the bytes.
//
//	            bytes per iteration               rest
//	NEON        64 (4 vectors)                    one word at a time
//
// Registers:
//
//	R0   next word                    V0..V3  the counts per byte
//	R1   words left                   V4      their sum
//	R2   the sum                      R3      the sum of one step

// func popcountNEON(words []uint64) int
TEXT ·popcountNEON(SB), NOSPLIT, $0-32
	MOVD words_base+0(FP), R0
	MOVD words_len+8(FP), R1
	MOVD $0, R2
	SUBS $8, R1
	BLT  rest

loop:
	VLD1.P  64(R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	VCNT    V0.B16, V0.B16
	VCNT    V1.B16, V1.B16
	VCNT    V2.B16, V2.B16
	VCNT    V3.B16, V3.B16
	VADD    V0.B16, V1.B16, V0.B16
	VADD    V2.B16, V3.B16, V2.B16
	VADD    V0.B16, V2.B16, V0.B16
	VUADDLV V0.B16, V4
	VMOV    V4.H[0], R3
	ADD     R3, R2, R2
	SUBS    $8, R1
	BGE     loop

rest:
	ADDS $8, R1
	BEQ  done

word:
	MOVD.P  8(R0), R3
	FMOVD   R3, F0
	VCNT    V0.B8, V0.B8
	VUADDLV V0.B8, V4
	VMOV    V4.H[0], R3
	ADD     R3, R2, R2
	SUBS    $1, R1
	BNE     word

done:
	MOVD R2, ret+24(FP)
	RET
