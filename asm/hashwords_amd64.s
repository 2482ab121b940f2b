//go:build !purego && !race

#include "textflag.h"

// The sum of the terms of HashWords, 64 bytes at a time: lane i of a vector has word i, and the key
// of its place.
//
// AVX512 multiplies words with VPMULLQ, one instruction. AVX2 makes each product of three products
// of halves: low*low + (low*high + high*low)<<32.
//
// Registers, Y for AVX2 and Z for AVX512:
//
//	SI   next bytes            Y0, Y1    sums                Y8, Y9    low and high half of the first factor
//	CX   bytes left            Y2        keys                Y10, Y11  of the second
//	AX   a constant            Y3        what keys advance   Y4..Y7    a vector on its way
//	                           Y15       the mask
//
// VZEROUPPER precedes every RET, as in the other kernels.

// 0 to 7 times the factor of places.
DATA places<>+0(SB)/8, $0x0000000000000000
DATA places<>+8(SB)/8, $0x9e3779b97f4a7c15
DATA places<>+16(SB)/8, $0x3c6ef372fe94f82a
DATA places<>+24(SB)/8, $0xdaa66d2c7ddf743f
DATA places<>+32(SB)/8, $0x78dde6e5fd29f054
DATA places<>+40(SB)/8, $0x1715609f7c746c69
DATA places<>+48(SB)/8, $0xb54cda58fbbee87e
DATA places<>+56(SB)/8, $0x538454127b096493
GLOBL places<>(SB), RODATA|NOPTR, $64

// MUL leaves the product of r and the factor with halves l and h in r.
#define MUL(r, l, h, a, b) \
	VPSRLQ   $32, r, a; \
	VPMULUDQ h, r, b;   \
	VPMULUDQ l, a, a;   \
	VPMULUDQ l, r, r;   \
	VPADDQ   a, b, b;   \
	VPSLLQ   $32, b, b; \
	VPADDQ   b, r, r

#define TERM_AVX2(m, sum, r, a, b) \
	VPAND  m, Y15, r;    \
	VPXOR  Y2, r, r;     \
	VPADDQ Y3, Y2, Y2;   \
	VPSRLQ $30, r, a;    \
	VPXOR  a, r, r;      \
	MUL(r, Y8, Y9, a, b) \
	VPSRLQ $27, r, a;    \
	VPXOR  a, r, r;      \
	MUL(r, Y10, Y11, a, b) \
	VPSRLQ $31, r, a;    \
	VPXOR  a, r, r;      \
	VPADDQ r, sum, sum

#define TERM_AVX512(m, sum, r, a) \
	VMOVDQA64  Z2, r;              \
	VPTERNLOGQ $0x78, m, Z15, r;   \
	VPADDQ     Z3, Z2, Z2;         \
	VPSRLQ     $30, r, a;          \
	VPXORQ     a, r, r;            \
	VPMULLQ    Z8, r, r;           \
	VPSRLQ     $27, r, a;          \
	VPXORQ     a, r, r;            \
	VPMULLQ    Z10, r, r;          \
	VPSRLQ     $31, r, a;          \
	VPXORQ     a, r, r;            \
	VPADDQ     r, sum, sum

// func hashWordsAVX2(b []byte, key, mask uint64) uint64
// Requires: AVX2
TEXT ·hashWordsAVX2(SB), NOSPLIT, $0-48
	MOVQ         b_base+0(FP), SI
	MOVQ         b_len+8(FP), CX
	VPBROADCASTQ key+24(FP), Y2
	VPADDQ       places<>(SB), Y2, Y2
	VPBROADCASTQ mask+32(FP), Y15
	MOVQ         $0x78dde6e5fd29f054, AX
	MOVQ         AX, X3
	VPBROADCASTQ X3, Y3
	MOVQ         $0xbf58476d1ce4e5b9, AX
	MOVQ         AX, X8
	VPBROADCASTQ X8, Y8
	VPSRLQ       $32, Y8, Y9
	MOVQ         $0x94d049bb133111eb, AX
	MOVQ         AX, X10
	VPBROADCASTQ X10, Y10
	VPSRLQ       $32, Y10, Y11
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	PCALIGN      $64

loop:
	TERM_AVX2(0(SI), Y0, Y4, Y5, Y6)
	TERM_AVX2(32(SI), Y1, Y7, Y12, Y13)
	ADDQ $64, SI
	SUBQ $64, CX
	JGT  loop

	VPADDQ       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, AX
	MOVQ         AX, ret+40(FP)
	VZEROUPPER
	RET

// func hashWordsAVX512(b []byte, key, mask uint64) uint64
// Requires: AVX512F, AVX512DQ
TEXT ·hashWordsAVX512(SB), NOSPLIT, $0-48
	MOVQ         b_base+0(FP), SI
	MOVQ         b_len+8(FP), CX
	VPBROADCASTQ key+24(FP), Z2
	VPADDQ       places<>(SB), Z2, Z2
	VPBROADCASTQ mask+32(FP), Z15
	MOVQ         $0xf1bbcdcbfa53e0a8, AX
	VPBROADCASTQ AX, Z3
	MOVQ         $0xbf58476d1ce4e5b9, AX
	VPBROADCASTQ AX, Z8
	MOVQ         $0x94d049bb133111eb, AX
	VPBROADCASTQ AX, Z10
	VPXORQ       Z0, Z0, Z0
	VPXORQ       Z1, Z1, Z1
	SUBQ         $128, CX
	JLT          one
	PCALIGN      $64

loop:
	TERM_AVX512(0(SI), Z0, Z4, Z5)
	TERM_AVX512(64(SI), Z1, Z6, Z7)
	ADDQ $128, SI
	SUBQ $128, CX
	JGE  loop

one:
	ADDQ $64, CX
	JLT  end
	TERM_AVX512(0(SI), Z0, Z4, Z5)

end:
	VPADDQ        Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDQ        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	VPSRLDQ       $8, X0, X1
	VPADDQ        X1, X0, X0
	VMOVQ         X0, AX
	MOVQ          AX, ret+40(FP)
	VZEROUPPER
	RET
