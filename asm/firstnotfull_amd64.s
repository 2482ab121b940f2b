//go:build !purego && !race

#include "textflag.h"

// The index of the first word that is not all ones, or -1.
//
// Four vectors are combined by AND and one branch asks whether the result is
// all ones. If not, one of the four has the word: each is compared lane by lane,
// the four results are packed into one mask in the order of the words, and the
// lowest set bit is the answer.
//
//	            bytes per iteration               rest
//	AVX2        128 (4 vectors), then 32          one vector that ends with the slice
//	AVX512      256 (4 vectors), then 64          one masked vector
//
// Registers, the same in both functions:
//
//	SI   the words                    Y0/Z0   all ones
//	CX   how many                     Y1..Y4  the four vectors
//	AX   index of the next word       Y5, Y6  their AND
//	DX   index where a loop ends      K1..K4  AVX512: lanes that are not full
//	R8.. masks, one bit per word
//
// The rest with AVX2: the vector that ends with the slice may begin with words
// that were seen to be full, which cannot be the answer; so it needs no mask
// and reads nothing outside. Slices shorter than a vector go word by word.
//
// The rest with AVX512: lanes that the mask leaves out keep the all ones that
// the register held before, and are not loaded, so they cannot fault.
//
// BSF and not TZCNT finds the lowest bit: the mask is never zero there, and
// BSF needs no feature beyond the level. The four-vector loops start on a
// 64-byte boundary, so that they take as few lines of the instruction cache as
// they can. VZEROUPPER precedes every RET: with the upper halves dirty, the SSE
// code that the Go compiler emits would stall or gain false dependencies on
// CPUs of Intel.

// func firstNotFullAVX2(words []uint64) int
// Requires: AVX2
TEXT ·firstNotFullAVX2(SB), NOSPLIT, $0-32
	MOVQ     words_base+0(FP), SI
	MOVQ     words_len+8(FP), CX
	XORL     AX, AX
	CMPQ     CX, $4
	JLT      short
	VPCMPEQQ Y0, Y0, Y0
	MOVQ     CX, DX
	SUBQ     $16, DX // the last index at which 16 words begin
	JLT      vectors
	PCALIGN  $64

loop4:
	VMOVDQU (SI)(AX*8), Y1
	VMOVDQU 32(SI)(AX*8), Y2
	VMOVDQU 64(SI)(AX*8), Y3
	VMOVDQU 96(SI)(AX*8), Y4
	VPAND   Y1, Y2, Y5
	VPAND   Y3, Y4, Y6
	VPAND   Y5, Y6, Y5
	VPTEST  Y0, Y5 // carry: no bit of Y0 is missing from Y5
	JCC     found4
	ADDQ    $16, AX
	CMPQ    AX, DX
	JLE     loop4

vectors:
	ADDQ $12, DX // the last index at which 4 words begin
	CMPQ AX, DX
	JGT  last

loop1:
	VPCMPEQQ  (SI)(AX*8), Y0, Y1
	VMOVMSKPD Y1, R8
	XORL      $15, R8
	JNE       found1
	ADDQ      $4, AX
	CMPQ      AX, DX
	JLE       loop1

last:
	CMPQ      AX, CX
	JEQ       none
	MOVQ      DX, AX
	VPCMPEQQ  (SI)(AX*8), Y0, Y1
	VMOVMSKPD Y1, R8
	XORL      $15, R8
	JNE       found1

none:
	MOVQ $-1, ret+24(FP)
	VZEROUPPER
	RET

found4:
	VPCMPEQQ  Y0, Y1, Y1
	VPCMPEQQ  Y0, Y2, Y2
	VPCMPEQQ  Y0, Y3, Y3
	VPCMPEQQ  Y0, Y4, Y4
	VMOVMSKPD Y1, R8
	VMOVMSKPD Y2, R9
	VMOVMSKPD Y3, R10
	VMOVMSKPD Y4, R11
	SHLL      $4, R9
	SHLL      $8, R10
	SHLL      $12, R11
	ORL       R9, R8
	ORL       R11, R10
	ORL       R10, R8
	XORL      $0xffff, R8 // was: lanes that are full

found1:
	BSFL R8, R8
	ADDQ R8, AX
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET

short:
	CMPQ AX, CX
	JGE  nothing
	CMPQ (SI)(AX*8), $-1
	JNE  word
	INCQ AX
	JMP  short

nothing:
	MOVQ $-1, AX

word:
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET

// func firstNotFullAVX512(words []uint64) int
// Requires: AVX512F, AVX512BW, AVX512DQ
TEXT ·firstNotFullAVX512(SB), NOSPLIT, $0-32
	MOVQ       words_base+0(FP), SI
	MOVQ       words_len+8(FP), CX
	XORL       AX, AX
	VPTERNLOGQ $0xff, Z0, Z0, Z0 // ones, whatever was there
	MOVQ       CX, DX
	SUBQ       $32, DX           // the last index at which 32 words begin
	JLT        vectors
	PCALIGN    $64

loop4:
	VMOVDQU64 (SI)(AX*8), Z1
	VMOVDQU64 64(SI)(AX*8), Z2
	VMOVDQU64 128(SI)(AX*8), Z3
	VMOVDQU64 192(SI)(AX*8), Z4
	VPANDQ    Z1, Z2, Z5
	VPANDQ    Z3, Z4, Z6
	VPANDQ    Z5, Z6, Z5
	VPCMPEQQ  Z0, Z5, K1
	KORTESTB  K1, K1 // carry: all eight lanes are equal
	JCC       found4
	ADDQ      $32, AX
	CMPQ      AX, DX
	JLE       loop4

vectors:
	ADDQ $24, DX // the last index at which 8 words begin
	CMPQ AX, DX
	JGT  rest

loop1:
	VPCMPUQ $4, (SI)(AX*8), Z0, K1 // 4: not equal
	KMOVB   K1, R8
	TESTL   R8, R8
	JNE     found1
	ADDQ    $8, AX
	CMPQ    AX, DX
	JLE     loop1

rest:
	SUBQ      AX, CX
	JEQ       none
	MOVL      $1, R8
	SHLL      CX, R8
	DECL      R8             // the low CX bits
	KMOVB     R8, K1
	VMOVDQA64 Z0, Z1
	VMOVDQU64 (SI)(AX*8), K1, Z1
	VPCMPUQ   $4, Z0, Z1, K1 // 4: not equal
	KMOVB     K1, R8
	TESTL     R8, R8
	JNE       found1

none:
	MOVQ $-1, ret+24(FP)
	VZEROUPPER
	RET

found4:
	VPCMPUQ  $4, Z0, Z1, K1 // 4: not equal
	VPCMPUQ  $4, Z0, Z2, K2
	VPCMPUQ  $4, Z0, Z3, K3
	VPCMPUQ  $4, Z0, Z4, K4
	KUNPCKBW K1, K2, K1     // the first operand is the low half
	KUNPCKBW K3, K4, K3
	KUNPCKWD K1, K3, K1
	KMOVD    K1, R8

found1:
	BSFL R8, R8
	ADDQ R8, AX
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET
