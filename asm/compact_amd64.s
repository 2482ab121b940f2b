//go:build !purego && !race

#include "textflag.h"

// The rows that a mask chooses, one behind the other: the mask's bits choose the
// lanes of a vector that are loaded, VPCOMPRESS moves them together, and as many
// low lanes are stored. Rows outside the mask are not loaded, so the last vector
// cannot fault, and nothing behind the chosen rows is stored. The compression
// into memory is not used: it is microcode on AMD's Zen 4.
//
// One word of the mask, 64 rows, at a time; its steps end when no bit is left,
// so empty words cost a load and a branch.
//
//	            rows per step
//	x4          16
//	x8          8
//	x16         4, as pairs of 8-byte lanes: each bit of the mask is doubled
//
// Registers:
//
//	DI   next row of dst              R8   bits of this step
//	SI   first row of the next word   R10  bits of the word that are left
//	R9   next word of the mask        R12  first row of this step
//	DX   rows left                    K1   lanes to load
//	CX   count, shift                 K2   lanes to store
//
// VZEROUPPER precedes every RET, as in the other kernels.

// WORDMASK takes the next word into R10, cut to the rows that are left; BYTES is
// the size of 64 rows. Leaves through done, and through word if no bit is set.
#define WORDMASK(BYTES) \
	TESTQ DX, DX;       \
	JLE   done;         \
	MOVQ  (R9), R10;    \
	ADDQ  $8, R9;       \
	MOVQ  SI, R12;      \
	ADDQ  $BYTES, SI;   \
	CMPQ  DX, $64;      \
	JGE   whole;        \
	MOVQ  DX, CX;       \
	MOVL  $1, R11;      \
	SHLQ  CX, R11;      \
	DECQ  R11;          \
	ANDQ  R11, R10;     \
whole:                  \
	SUBQ  $64, DX;      \
	TESTQ R10, R10;     \
	JEQ   word

// func compactAVX512x4(dst, src unsafe.Pointer, mask []uint64, n int) int
// Requires: AVX512F, AVX512DQ, POPCNT
TEXT ·compactAVX512x4(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask_base+16(FP), R9
	MOVQ n+40(FP), DX
	MOVQ DI, BX

word:
	WORDMASK(256)

step:
	MOVWLZX R10, R8
	KMOVW R8, K1
	VMOVDQU32.Z (R12), K1, Z1
	VPCOMPRESSD.Z Z1, K1, Z2
	POPCNTL R8, CX
	MOVL $1, R11
	SHLL CX, R11
	DECL R11 // the low CX bits
	KMOVW R11, K2
	VMOVDQU32 Z2, K2, (DI)
	LEAQ (DI)(CX*4), DI
	ADDQ $64, R12
	SHRQ $16, R10
	JNE step
	JMP word

done:
	SUBQ BX, DI
	SHRQ $2, DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET

// func compactAVX512x8(dst, src unsafe.Pointer, mask []uint64, n int) int
// Requires: AVX512F, AVX512DQ, POPCNT
TEXT ·compactAVX512x8(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask_base+16(FP), R9
	MOVQ n+40(FP), DX
	MOVQ DI, BX

word:
	WORDMASK(512)

step:
	MOVBLZX R10, R8
	KMOVB R8, K1
	VMOVDQU64.Z (R12), K1, Z1
	VPCOMPRESSQ.Z Z1, K1, Z2
	POPCNTL R8, CX
	MOVL $1, R11
	SHLL CX, R11
	DECL R11 // the low CX bits
	KMOVB R11, K2
	VMOVDQU64 Z2, K2, (DI)
	LEAQ (DI)(CX*8), DI
	ADDQ $64, R12
	SHRQ $8, R10
	JNE step
	JMP word

done:
	SUBQ BX, DI
	SHRQ $3, DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET

// func compactAVX512x16(dst, src unsafe.Pointer, mask []uint64, n int) int
// Requires: AVX512F, AVX512DQ, POPCNT
TEXT ·compactAVX512x16(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask_base+16(FP), R9
	MOVQ n+40(FP), DX
	MOVQ DI, BX

word:
	WORDMASK(1024)

step:
	MOVL R10, R8
	ANDL $15, R8
	MOVL R8, R11
	SHLL $2, R11
	ORL  R11, R8
	ANDL $0x33, R8
	MOVL R8, R11
	SHLL $1, R11
	ORL  R11, R8
	ANDL $0x55, R8 // bit i is at 2*i
	LEAL (R8)(R8*2), R8
	KMOVB R8, K1
	VMOVDQU64.Z (R12), K1, Z1
	VPCOMPRESSQ.Z Z1, K1, Z2
	POPCNTL R8, CX
	MOVL $1, R11
	SHLL CX, R11
	DECL R11 // the low CX bits
	KMOVB R11, K2
	VMOVDQU64 Z2, K2, (DI)
	LEAQ (DI)(CX*8), DI
	ADDQ $64, R12
	SHRQ $4, R10
	JNE step
	JMP word

done:
	SUBQ BX, DI
	SHRQ $4, DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET
