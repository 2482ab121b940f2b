//go:build !purego && !race

#include "textflag.h"

// Bit i of dst: signature i has all of has and none of lacks.
//
// The wrong bits of a signature s are s ? lacks : has, chosen bit by bit (has
// where s lacks it, lacks where s has it). They are combined over the signature
// by OR without a branch, since which word tells two archetypes apart cannot be
// predicted, and one flag says whether none is left.
//
// 64 signatures make one word of dst. They are walked from the last to the
// first, so that ADC shifts each flag into the word from below.
//
//	            per signature
//	AVX2        a loop over vectors of 4 words; width is a multiple of 4
//	AVX512      one vector up to 8 words, two up to 16, both masked to width,
//	            with VPTERNLOGQ $0xca as the choice
//
// Registers:
//
//	DI   next word of dst             R8   bytes of one signature
//	SI   first of the 64              R9   where the current signature begins
//	CX   signatures left              R10  the word under construction
//	BX   signatures left of the 64    AX   flag, AVX2: offset in the signature
//	R11, R12  AVX2: has, lacks        Z0, Z1 has  Z2, Z3 lacks  K1, K2 width
//
// Words outside the mask are not loaded, so a signature that ends with a page
// cannot fault. VZEROUPPER precedes every RET, as in the other kernels.

// func matchAVX2(dst, table, has, lacks []uint64, width int)
// Requires: AVX2
TEXT ·matchAVX2(SB), NOSPLIT, $0-104
	MOVQ  dst_base+0(FP), DI
	MOVQ  table_base+24(FP), SI
	MOVQ  table_len+32(FP), AX
	MOVQ  has_base+48(FP), R11
	MOVQ  lacks_base+72(FP), R12
	MOVQ  width+96(FP), R8
	XORL  DX, DX
	DIVQ  R8
	MOVQ  AX, CX
	SHLQ  $3, R8

word:
	TESTQ   CX, CX
	JLE     done
	MOVL    $64, BX
	CMPQ    CX, BX
	CMOVQLT CX, BX
	SUBQ    BX, CX
	MOVQ    BX, R9
	IMULQ   R8, R9
	ADDQ    SI, R9
	MOVQ    R9, DX // where the next 64 begin
	XORL    R10, R10

signature:
	SUBQ  R8, R9
	XORL  AX, AX
	VPXOR Y0, Y0, Y0

vector:
	VMOVDQU (R9)(AX*1), Y1
	VPANDN  (R11)(AX*1), Y1, Y2 // has and not the signature
	VPAND   (R12)(AX*1), Y1, Y3
	VPOR    Y2, Y3, Y2
	VPOR    Y2, Y0, Y0
	ADDQ    $32, AX
	CMPQ    AX, R8
	JLT     vector
	XORL    AX, AX
	VPTEST  Y0, Y0
	SETEQ   AL
	LEAQ    (AX)(R10*2), R10
	DECQ    BX
	JNE     signature
	MOVQ    R10, (DI)
	ADDQ    $8, DI
	MOVQ    DX, SI
	JMP     word

done:
	VZEROUPPER
	RET

// func matchAVX512(dst, table, has, lacks []uint64, width int)
// Requires: AVX512F, AVX512DQ
TEXT ·matchAVX512(SB), NOSPLIT, $0-104
	MOVQ        dst_base+0(FP), DI
	MOVQ        table_base+24(FP), SI
	MOVQ        table_len+32(FP), AX
	MOVQ        has_base+48(FP), R11
	MOVQ        lacks_base+72(FP), R12
	MOVQ        width+96(FP), R8
	XORL        DX, DX
	DIVQ        R8
	MOVQ        R8, CX
	MOVL        $1, R9
	SHLQ        CX, R9
	DECQ        R9               // the low width bits
	KMOVB       R9, K1
	SHRQ        $8, R9
	KMOVB       R9, K2
	VMOVDQU64.Z (R11), K1, Z0
	VMOVDQU64.Z (R12), K1, Z2
	MOVQ        R8, R13
	SHLQ        $3, R8
	MOVQ        AX, CX
	CMPQ        R13, $8
	JLE         word
	VMOVDQU64.Z 64(R11), K2, Z1
	VMOVDQU64.Z 64(R12), K2, Z3

word:
	TESTQ   CX, CX
	JLE     done
	MOVL    $64, BX
	CMPQ    CX, BX
	CMOVQLT CX, BX
	SUBQ    BX, CX
	MOVQ    BX, R9
	IMULQ   R8, R9
	ADDQ    SI, R9
	MOVQ    R9, DX // where the next 64 begin
	XORL    R10, R10
	CMPQ    R13, $8
	JGT     signature2

signature1:
	SUBQ        R8, R9
	VMOVDQU64.Z (R9), K1, Z4
	VPTERNLOGQ  $0xca, Z0, Z2, Z4
	VPTESTMQ    Z4, Z4, K3
	KMOVB       K3, AX
	CMPL        AX, $1 // carry: no bit is wrong
	ADCQ        R10, R10
	DECQ        BX
	JNE         signature1
	MOVQ        R10, (DI)
	ADDQ        $8, DI
	MOVQ        DX, SI
	JMP         word

signature2:
	SUBQ        R8, R9
	VMOVDQU64.Z (R9), K1, Z4
	VMOVDQU64.Z 64(R9), K2, Z5
	VPTERNLOGQ  $0xca, Z0, Z2, Z4
	VPTERNLOGQ  $0xca, Z1, Z3, Z5
	VPORQ       Z4, Z5, Z4
	VPTESTMQ    Z4, Z4, K3
	KMOVB       K3, AX
	CMPL        AX, $1 // carry: no bit is wrong
	ADCQ        R10, R10
	DECQ        BX
	JNE         signature2
	MOVQ        R10, (DI)
	ADDQ        $8, DI
	MOVQ        DX, SI
	JMP         word

done:
	VZEROUPPER
	RET
