//go:build !purego && !race

#include "textflag.h"

// The lowest offset of n zeros in 512 bits.
//
// All eight words are one number of 512 bits in a register, inverted, so that
// ones are free. Ands with itself shifted right by 1, 2, 4, ... keep the bits
// that have as many free ones behind them; the last shift brings the sum to
// n-1. VPSHRDVQ shifts each word and takes the bits that come in at the top from
// the next word, which VALIGNQ has put beside it. The lowest bit that is left is
// in the lowest lane that is not zero; VPCOMPRESSQ moves that to lane 0.
//
// Registers:
//
//	Z0   bits with enough free behind AX   the mask of lanes, then the answer
//	Z1   the next word of each        CX   n-1 less the shifts made
//	Z2   zero                         DX   the next shift, doubling
//	Z3   shifted copy                 R8   this shift
//	Z4   the shift in every lane      K1   lanes that are not zero
//
// VZEROUPPER precedes every RET, as in the other kernels.

// func findRun512AVX512(words *[8]uint64, n int) int
// Requires: AVX512F, AVX512DQ, AVX512VBMI2
TEXT ·findRun512AVX512(SB), NOSPLIT, $0-24
	MOVQ       words+0(FP), SI
	MOVQ       n+8(FP), CX
	VMOVDQU64  (SI), Z0
	VPTERNLOGQ $0x55, Z0, Z0, Z0 // not
	VPXORQ     Z2, Z2, Z2
	MOVL       $1, DX
	DECQ       CX
	JLE        search

shift:
	MOVQ         DX, R8
	CMPQ         CX, R8
	CMOVQLT      CX, R8
	VPBROADCASTQ R8, Z4
	VALIGNQ      $1, Z0, Z2, Z1 // lane i: word i+1, zero behind the last
	VMOVDQA64    Z0, Z3
	VPSHRDVQ     Z4, Z1, Z3
	VPANDQ       Z3, Z0, Z0
	ADDQ         DX, DX
	SUBQ         R8, CX
	JNE          shift

search:
	VPTESTMQ      Z0, Z0, K1
	KMOVB         K1, AX
	TESTL         AX, AX
	JEQ           none
	VPCOMPRESSQ.Z Z0, K1, Z1
	VMOVQ         X1, R8
	BSFL          AX, AX
	BSFQ          R8, R8
	SHLQ          $6, AX
	ADDQ          R8, AX
	MOVQ          AX, ret+16(FP)
	VZEROUPPER
	RET

none:
	MOVQ $-1, ret+16(FP)
	VZEROUPPER
	RET
