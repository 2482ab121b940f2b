//go:build !purego && !race

#include "textflag.h"

// The number of set bits.
//
// AVX2 has no such instruction. Its code (W. Mula's) looks up the number of bits
// of each half of a byte in a table of 16 bytes with VPSHUFB, adds the two per
// byte, four vectors at a time (at most 32 a byte, so nothing overflows), and
// adds the bytes of each word with VPSADBW. AVX512 has VPOPCNTQ.
//
//	            bytes per iteration               rest
//	AVX2        128 (4 vectors), then 32          word by word
//	AVX512      256 (4 vectors), then 64          one masked vector
//
// Registers:
//
//	SI   next word                    Y0/Z0   the sum per 64-bit lane
//	CX   words left                   Y14     AVX2: the table
//	AX   AVX2: sum of the rest        Y15     AVX2: low half of every byte
//	K1   AVX512: lanes of the rest    Y13     AVX2: zero
//
// VZEROUPPER precedes every RET, as in the other kernels.

DATA nibbles<>+0(SB)/8, $0x0302020102010100
DATA nibbles<>+8(SB)/8, $0x0403030203020201
GLOBL nibbles<>(SB), RODATA|NOPTR, $16

// BYTES leaves the number of set bits of each byte at m in r.
#define BYTES(m, r, t) \
	VMOVDQU m, t;       \
	VPAND   Y15, t, r;  \
	VPSRLW  $4, t, t;   \
	VPAND   Y15, t, t;  \
	VPSHUFB r, Y14, r;  \
	VPSHUFB t, Y14, t;  \
	VPADDB  t, r, r

// func popcountAVX2(words []uint64) int
// Requires: AVX2, POPCNT
TEXT ·popcountAVX2(SB), NOSPLIT, $0-32
	MOVQ           words_base+0(FP), SI
	MOVQ           words_len+8(FP), CX
	XORL           AX, AX
	VPXOR          Y0, Y0, Y0
	VPXOR          Y13, Y13, Y13
	VBROADCASTI128 nibbles<>(SB), Y14
	MOVL           $0x0f0f0f0f, R8
	VMOVD          R8, X15
	VPBROADCASTD   X15, Y15
	SUBQ           $16, CX
	JLT            vectors
	PCALIGN        $64

loop4:
	BYTES(0(SI), Y1, Y5)
	BYTES(32(SI), Y2, Y6)
	BYTES(64(SI), Y3, Y7)
	BYTES(96(SI), Y4, Y8)
	VPADDB  Y1, Y2, Y1
	VPADDB  Y3, Y4, Y3
	VPADDB  Y1, Y3, Y1
	VPSADBW Y13, Y1, Y1
	VPADDQ  Y1, Y0, Y0
	ADDQ    $128, SI
	SUBQ    $16, CX
	JGE     loop4

vectors:
	ADDQ $12, CX // 16 back, 4 for the next step
	JLT  rest

loop1:
	BYTES(0(SI), Y1, Y5)
	VPSADBW Y13, Y1, Y1
	VPADDQ  Y1, Y0, Y0
	ADDQ    $32, SI
	SUBQ    $4, CX
	JGE     loop1

rest:
	ADDQ $4, CX
	JEQ  fold

word:
	POPCNTQ (SI), R8
	ADDQ    R8, AX
	ADDQ    $8, SI
	DECQ    CX
	JNE     word

fold:
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSHUFD      $0xee, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, R8
	ADDQ         R8, AX
	MOVQ         AX, ret+24(FP)
	VZEROUPPER
	RET

// func popcountAVX512(words []uint64) int
// Requires: AVX512F, AVX512DQ, AVX512VPOPCNTDQ
TEXT ·popcountAVX512(SB), NOSPLIT, $0-32
	MOVQ    words_base+0(FP), SI
	MOVQ    words_len+8(FP), CX
	VPXORQ  Z0, Z0, Z0
	VPXORQ  Z6, Z6, Z6
	SUBQ    $32, CX
	JLT     vectors
	PCALIGN $64

loop4:
	VPOPCNTQ (SI), Z1
	VPOPCNTQ 64(SI), Z2
	VPOPCNTQ 128(SI), Z3
	VPOPCNTQ 192(SI), Z4
	VPADDQ   Z1, Z2, Z1
	VPADDQ   Z3, Z4, Z3
	VPADDQ   Z1, Z0, Z0
	VPADDQ   Z3, Z6, Z6
	ADDQ     $256, SI
	SUBQ     $32, CX
	JGE      loop4

vectors:
	ADDQ $24, CX // 32 back, 8 for the next step
	JLT  rest

loop1:
	VPOPCNTQ (SI), Z1
	VPADDQ   Z1, Z0, Z0
	ADDQ     $64, SI
	SUBQ     $8, CX
	JGE      loop1

rest:
	ADDQ        $8, CX
	JEQ         fold
	MOVL        $1, R8
	SHLL        CX, R8
	DECL        R8 // the low CX bits
	KMOVB       R8, K1
	VMOVDQU64.Z (SI), K1, Z1
	VPOPCNTQ    Z1, Z1
	VPADDQ      Z1, Z0, Z0

fold:
	VPADDQ        Z6, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDQ        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	VPSHUFD       $0xee, X0, X1
	VPADDQ        X1, X0, X0
	VMOVQ         X0, AX
	MOVQ          AX, ret+24(FP)
	VZEROUPPER
	RET
