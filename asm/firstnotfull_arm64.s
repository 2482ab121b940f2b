//go:build !purego && !race

#include "textflag.h"

// The index of the first word that is not all ones, or -1.
//
// Eight words are combined by AND, then the halves of the last vector: one
// word, all ones if the eight are. If it is not, and for the rest, word by word.
//
//	            bytes per iteration               rest
//	NEON        64 (4 vectors)                    one word at a time
//
// Registers:
//
//	R0   next word                    V0..V3  the eight words, then their AND
//	R1   words left                   R3, R4  its halves, then a word
//	R2   index of the next word

// func firstNotFullNEON(words []uint64) int
TEXT ·firstNotFullNEON(SB), NOSPLIT, $0-32
	MOVD words_base+0(FP), R0
	MOVD words_len+8(FP), R1
	MOVD $0, R2
	SUBS $8, R1
	BLT  rest

loop:
	VLD1 (R0), [V0.D2, V1.D2, V2.D2, V3.D2]
	VAND V0.B16, V1.B16, V0.B16
	VAND V2.B16, V3.B16, V2.B16
	VAND V0.B16, V2.B16, V0.B16
	VMOV V0.D[0], R3
	VMOV V0.D[1], R4
	AND  R3, R4, R3
	CMN  $1, R3
	BNE  rest
	ADD  $64, R0
	ADD  $8, R2
	SUBS $8, R1
	BGE  loop

rest:
	ADDS $8, R1
	BEQ  none

word:
	MOVD.P 8(R0), R3
	CMN    $1, R3
	BNE    found
	ADD    $1, R2
	SUBS   $1, R1
	BNE    word

none:
	MOVD $-1, R2

found:
	MOVD R2, ret+24(FP)
	RET
