//go:build !purego && !race

#include "textflag.h"

// dst[i] = {first+i, version}, an id per 64-bit lane with first+i in the low
// half. Additions are of 32 bits, so that a carry out of the index does not
// reach the version.
//
//	            bytes per iteration               rest
//	AVX2        128 (4 vectors), then 32          one vector that ends with dst
//	AVX512      256 (4 vectors), then 64          one masked vector
//
// Registers:
//
//	DI   next id                      Y0/Z0   the ids of the next vector
//	CX   ids left, minus the step     Y1..Y3  those of the three after it
//	R8   AVX2: where Y5 goes          Y6/Z6   {ids per loop step, 0} in every lane
//	AX   the first id, as one word    Y7/Z7   {ids per vector, 0} in every lane
//	                                  Y5      AVX2: the last vector
//
// VZEROUPPER precedes every RET, as in the other kernels.

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
DATA lanes<>+32(SB)/8, $4
DATA lanes<>+40(SB)/8, $5
DATA lanes<>+48(SB)/8, $6
DATA lanes<>+56(SB)/8, $7
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// func consecutiveAVX2(dst [][2]uint32, first, version uint32)
// Requires: AVX2
TEXT ·consecutiveAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	MOVL         first+24(FP), AX
	MOVL         version+28(FP), DX
	SHLQ         $32, DX
	ORQ          DX, AX
	VMOVQ        AX, X0
	VPBROADCASTQ X0, Y0
	VPADDD       lanes<>(SB), Y0, Y0
	CMPQ         CX, $4
	JLT          short

	// The last vector.
	LEAQ         -32(DI)(CX*8), R8
	LEAL         -4(CX), R9
	VMOVQ        R9, X5
	VPBROADCASTQ X5, Y5
	VPADDD       Y0, Y5, Y5
	MOVL         $4, R9
	VMOVQ        R9, X7
	VPBROADCASTQ X7, Y7
	VPSLLQ       $2, Y7, Y6
	SUBQ         $16, CX
	JLT          vectors
	VPADDD       Y7, Y0, Y1
	VPADDD       Y7, Y1, Y2
	VPADDD       Y7, Y2, Y3
	PCALIGN      $64

loop4:
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	VPADDD  Y6, Y0, Y0
	VPADDD  Y6, Y1, Y1
	VPADDD  Y6, Y2, Y2
	VPADDD  Y6, Y3, Y3
	ADDQ    $128, DI
	SUBQ    $16, CX
	JGE     loop4

vectors:
	ADDQ $12, CX // 16 back, 4 for the next step
	JLT  last

loop1:
	VMOVDQU Y0, (DI)
	VPADDD  Y7, Y0, Y0
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     loop1

last:
	VMOVDQU Y5, (R8)
	VZEROUPPER
	RET

short:
	TESTQ        CX, CX
	JLE          done
	VMOVQ        CX, X6
	VPBROADCASTQ X6, Y6
	VPCMPGTQ     lanes<>(SB), Y6, Y6
	VPMASKMOVQ   Y0, Y6, (DI)

done:
	VZEROUPPER
	RET

// func consecutiveAVX512(dst [][2]uint32, first, version uint32)
// Requires: AVX512F, AVX512DQ
TEXT ·consecutiveAVX512(SB), NOSPLIT, $0-32
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	MOVL         first+24(FP), AX
	MOVL         version+28(FP), DX
	SHLQ         $32, DX
	ORQ          DX, AX
	VPBROADCASTQ AX, Z0
	VPADDD       lanes<>(SB), Z0, Z0
	MOVL         $8, R9
	VPBROADCASTQ R9, Z7
	VPSLLQ       $2, Z7, Z6
	SUBQ         $32, CX
	JLT          vectors
	VPADDD       Z7, Z0, Z1
	VPADDD       Z7, Z1, Z2
	VPADDD       Z7, Z2, Z3
	PCALIGN      $64

loop4:
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VPADDD    Z6, Z0, Z0
	VPADDD    Z6, Z1, Z1
	VPADDD    Z6, Z2, Z2
	VPADDD    Z6, Z3, Z3
	ADDQ      $256, DI
	SUBQ      $32, CX
	JGE       loop4

vectors:
	ADDQ $24, CX // 32 back, 8 for the next step
	JLT  rest

loop1:
	VMOVDQU64 Z0, (DI)
	VPADDD    Z7, Z0, Z0
	ADDQ      $64, DI
	SUBQ      $8, CX
	JGE       loop1

rest:
	ADDQ      $8, CX
	JEQ       done
	MOVL      $1, R9
	SHLL      CX, R9
	DECL      R9 // the low CX bits
	KMOVB     R9, K1
	VMOVDQU64 Z0, K1, (DI)

done:
	VZEROUPPER
	RET
