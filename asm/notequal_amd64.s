//go:build !purego && !race

#include "textflag.h"

// A bit for each byte that differs, 64 bytes at a time. AVX512 compares into a mask register; AVX2
// compares for equality, takes the highest bit of each byte and inverts.
//
// Registers:
//
//	DI   next word of dst      R8   the word
//	SI   x                     R9   AVX2: its upper half
//	DX   y - x                 AX   the words so far, or'ed
//	CX   bytes left
//
// VZEROUPPER precedes every RET, as in the other kernels.

// func notEqualAVX2(dst []uint64, x, y []byte) bool
// Requires: AVX2
TEXT ·notEqualAVX2(SB), NOSPLIT, $0-73
	MOVQ    dst_base+0(FP), DI
	MOVQ    x_base+24(FP), SI
	MOVQ    x_len+32(FP), CX
	MOVQ    y_base+48(FP), DX
	SUBQ    SI, DX
	XORL    AX, AX
	PCALIGN $64

loop:
	VMOVDQU   0(SI), Y0
	VMOVDQU   32(SI), Y1
	VPCMPEQB  0(SI)(DX*1), Y0, Y0
	VPCMPEQB  32(SI)(DX*1), Y1, Y1
	VPMOVMSKB Y0, R8
	VPMOVMSKB Y1, R9
	SHLQ      $32, R9
	ORQ       R9, R8
	NOTQ      R8
	ORQ       R8, AX
	MOVQ      R8, (DI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	SUBQ      $64, CX
	JGT       loop
	TESTQ     AX, AX
	SETNE     ret+72(FP)
	VZEROUPPER
	RET

// func notEqualAVX512(dst []uint64, x, y []byte) bool
// Requires: AVX512F, AVX512BW
TEXT ·notEqualAVX512(SB), NOSPLIT, $0-73
	MOVQ    dst_base+0(FP), DI
	MOVQ    x_base+24(FP), SI
	MOVQ    x_len+32(FP), CX
	MOVQ    y_base+48(FP), DX
	SUBQ    SI, DX
	XORL    AX, AX
	SUBQ    $128, CX
	JLT     one
	PCALIGN $64

loop:
	VMOVDQU64 0(SI), Z0
	VMOVDQU64 64(SI), Z1
	VPCMPUB   $4, 0(SI)(DX*1), Z0, K1
	VPCMPUB   $4, 64(SI)(DX*1), Z1, K2
	KMOVQ     K1, R8
	KMOVQ     K2, R9
	MOVQ      R8, 0(DI)
	MOVQ      R9, 8(DI)
	ORQ       R8, AX
	ORQ       R9, AX
	ADDQ      $128, SI
	ADDQ      $16, DI
	SUBQ      $128, CX
	JGE       loop

one:
	ADDQ      $64, CX
	JLT       end
	VMOVDQU64 0(SI), Z0
	VPCMPUB   $4, 0(SI)(DX*1), Z0, K1
	KMOVQ     K1, R8
	MOVQ      R8, 0(DI)
	ORQ       R8, AX

end:
	TESTQ AX, AX
	SETNE ret+72(FP)
	VZEROUPPER
	RET
