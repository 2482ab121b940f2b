//go:build !purego && !race

#include "textflag.h"

// dst[i] += a*x[i], the product rounded and then the sum: a multiply and an
// add, never a fused one, so that the results equal the Go twin's bit by bit.
//
//	            bytes of dst per iteration        rest
//	AVX2        128 (4 vectors), then 32          one vector that ends with the slice
//	AVX512      256 (4 vectors), then 64          one masked vector
//
// Registers, the same in all four functions:
//
//	DI   next element of dst          Y0/Z0   a in every lane
//	SI   next element of x            Y1..Y4  products, then sums
//	CX   elements left, minus the     Y5      AVX2: the last vector of dst
//	     step of the loop             K1      AVX512: lanes of the rest
//	R8   AVX2: where Y5 goes          AX      AVX512: the mask on its way to K1
//
// The rest with AVX2: a masked store of AVX2 is slow on AMD's CPUs, and one
// element at a time costs up to seven steps. Instead the last whole vector of
// dst is computed before the loop, from values that nothing has changed yet, and
// stored after it. Elements that the loop did as well get the same value a second
// time. It lies inside the slice, so it can neither fault nor write behind it;
// slices shorter than a vector go element by element. Computing it first is what
// allows dst and x to be the same memory: after the loop x would be changed.
//
// The rest with AVX512: lanes that the mask leaves out are neither loaded
// (they cannot fault, whatever page they lie in) nor stored.
//
// Loads and stores are unaligned ones: rows may begin anywhere in a column.
// The four-vector loops start on a 64-byte boundary, so that they take as few
// lines of the instruction cache as they can.
//
// VZEROUPPER precedes every RET: with the upper halves dirty, the SSE code
// that the Go compiler emits would stall or gain false dependencies on CPUs of
// Intel.

// func axpyAVX2F32(dst []float32, a float32, x []float32)
// Requires: AVX2
TEXT ·axpyAVX2F32(SB), NOSPLIT, $0-56
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	VBROADCASTSS a+24(FP), Y0
	MOVQ         x_base+32(FP), SI
	CMPQ         CX, $8
	JLT          short

	// The last vector, from unchanged values.
	LEAQ    -32(DI)(CX*4), R8
	VMULPS  -32(SI)(CX*4), Y0, Y5
	VADDPS  (R8), Y5, Y5
	SUBQ    $32, CX
	JLT     vectors
	PCALIGN $64

loop4:
	VMULPS  (SI), Y0, Y1
	VMULPS  32(SI), Y0, Y2
	VMULPS  64(SI), Y0, Y3
	VMULPS  96(SI), Y0, Y4
	VADDPS  (DI), Y1, Y1
	VADDPS  32(DI), Y2, Y2
	VADDPS  64(DI), Y3, Y3
	VADDPS  96(DI), Y4, Y4
	VMOVUPS Y1, (DI)
	VMOVUPS Y2, 32(DI)
	VMOVUPS Y3, 64(DI)
	VMOVUPS Y4, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JGE     loop4

vectors:
	ADDQ    $24, CX // 32 back, 8 for the next step
	JLT     last

loop1:
	VMULPS  (SI), Y0, Y1
	VADDPS  (DI), Y1, Y1
	VMOVUPS Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JGE     loop1

last:
	VMOVUPS Y5, (R8)
	VZEROUPPER
	RET

short:
	TESTQ CX, CX
	JLE   done

element:
	VMOVSS (SI), X1
	VMULSS X1, X0, X1
	VADDSS (DI), X1, X1
	VMOVSS X1, (DI)
	ADDQ   $4, SI
	ADDQ   $4, DI
	DECQ   CX
	JNE    element

done:
	VZEROUPPER
	RET

// func axpyAVX2F64(dst []float64, a float64, x []float64)
// Requires: AVX2
TEXT ·axpyAVX2F64(SB), NOSPLIT, $0-56
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	VBROADCASTSD a+24(FP), Y0
	MOVQ         x_base+32(FP), SI
	CMPQ         CX, $4
	JLT          short

	// The last vector, from unchanged values.
	LEAQ    -32(DI)(CX*8), R8
	VMULPD  -32(SI)(CX*8), Y0, Y5
	VADDPD  (R8), Y5, Y5
	SUBQ    $16, CX
	JLT     vectors
	PCALIGN $64

loop4:
	VMULPD  (SI), Y0, Y1
	VMULPD  32(SI), Y0, Y2
	VMULPD  64(SI), Y0, Y3
	VMULPD  96(SI), Y0, Y4
	VADDPD  (DI), Y1, Y1
	VADDPD  32(DI), Y2, Y2
	VADDPD  64(DI), Y3, Y3
	VADDPD  96(DI), Y4, Y4
	VMOVUPD Y1, (DI)
	VMOVUPD Y2, 32(DI)
	VMOVUPD Y3, 64(DI)
	VMOVUPD Y4, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JGE     loop4

vectors:
	ADDQ    $12, CX // 16 back, 4 for the next step
	JLT     last

loop1:
	VMULPD  (SI), Y0, Y1
	VADDPD  (DI), Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     loop1

last:
	VMOVUPD Y5, (R8)
	VZEROUPPER
	RET

short:
	TESTQ CX, CX
	JLE   done

element:
	VMOVSD (SI), X1
	VMULSD X1, X0, X1
	VADDSD (DI), X1, X1
	VMOVSD X1, (DI)
	ADDQ   $8, SI
	ADDQ   $8, DI
	DECQ   CX
	JNE    element

done:
	VZEROUPPER
	RET

// func axpyAVX512F32(dst []float32, a float32, x []float32)
// Requires: AVX512F
TEXT ·axpyAVX512F32(SB), NOSPLIT, $0-56
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	VBROADCASTSS a+24(FP), Z0
	MOVQ         x_base+32(FP), SI
	SUBQ         $64, CX
	JLT          vectors
	PCALIGN      $64

loop4:
	VMULPS  (SI), Z0, Z1
	VMULPS  64(SI), Z0, Z2
	VMULPS  128(SI), Z0, Z3
	VMULPS  192(SI), Z0, Z4
	VADDPS  (DI), Z1, Z1
	VADDPS  64(DI), Z2, Z2
	VADDPS  128(DI), Z3, Z3
	VADDPS  192(DI), Z4, Z4
	VMOVUPS Z1, (DI)
	VMOVUPS Z2, 64(DI)
	VMOVUPS Z3, 128(DI)
	VMOVUPS Z4, 192(DI)
	ADDQ    $256, SI
	ADDQ    $256, DI
	SUBQ    $64, CX
	JGE     loop4

vectors:
	ADDQ    $48, CX // 64 back, 16 for the next step
	JLT     rest

loop1:
	VMULPS  (SI), Z0, Z1
	VADDPS  (DI), Z1, Z1
	VMOVUPS Z1, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	JGE     loop1

rest:
	ADDQ      $16, CX
	JEQ       done
	MOVL      $1, AX
	SHLL      CX, AX
	DECL      AX // the low CX bits
	KMOVW     AX, K1
	VMOVUPS.Z (SI), K1, Z1
	VMULPS    Z1, Z0, Z1
	VMOVUPS.Z (DI), K1, Z2
	VADDPS    Z2, Z1, Z1
	VMOVUPS   Z1, K1, (DI)

done:
	VZEROUPPER
	RET

// func axpyAVX512F64(dst []float64, a float64, x []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·axpyAVX512F64(SB), NOSPLIT, $0-56
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), CX
	VBROADCASTSD a+24(FP), Z0
	MOVQ         x_base+32(FP), SI
	SUBQ         $32, CX
	JLT          vectors
	PCALIGN      $64

loop4:
	VMULPD  (SI), Z0, Z1
	VMULPD  64(SI), Z0, Z2
	VMULPD  128(SI), Z0, Z3
	VMULPD  192(SI), Z0, Z4
	VADDPD  (DI), Z1, Z1
	VADDPD  64(DI), Z2, Z2
	VADDPD  128(DI), Z3, Z3
	VADDPD  192(DI), Z4, Z4
	VMOVUPD Z1, (DI)
	VMOVUPD Z2, 64(DI)
	VMOVUPD Z3, 128(DI)
	VMOVUPD Z4, 192(DI)
	ADDQ    $256, SI
	ADDQ    $256, DI
	SUBQ    $32, CX
	JGE     loop4

vectors:
	ADDQ    $24, CX // 32 back, 8 for the next step
	JLT     rest

loop1:
	VMULPD  (SI), Z0, Z1
	VADDPD  (DI), Z1, Z1
	VMOVUPD Z1, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JGE     loop1

rest:
	ADDQ      $8, CX
	JEQ       done
	MOVL      $1, AX
	SHLL      CX, AX
	DECL      AX // the low CX bits
	KMOVB     AX, K1
	VMOVUPD.Z (SI), K1, Z1
	VMULPD    Z1, Z0, Z1
	VMOVUPD.Z (DI), K1, Z2
	VADDPD    Z2, Z1, Z1
	VMOVUPD   Z1, K1, (DI)

done:
	VZEROUPPER
	RET
