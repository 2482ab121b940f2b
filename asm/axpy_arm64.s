//go:build !purego && !race

#include "textflag.h"

// dst[i] += a*x[i], the product rounded and then the sum.
//
// Go's assembler has only the fused multiply-add for vectors of floats. Two of
// them round twice: (-0) + a*x is the product rounded, with the right sign of a
// zero, since adding -0 changes no value; d + product*1 is the sum rounded.
//
//	            bytes of dst per iteration        rest
//	NEON        64 (4 vectors)                    one element at a time
//
// Registers, the same in both functions:
//
//	R0   next element of dst          V0      a in every lane
//	R1   next element of x            V1      -0 in every lane
//	R2   elements left                V2      1 in every lane
//	                                  V4..V7  x, V16..V19 dst, V20..V23 products
//
// The rest goes through scalar registers, so nothing behind dst is touched.

#define STEP(ARR) \
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	VLD1   (R0), [V16.B16, V17.B16, V18.B16, V19.B16]; \
	VMOV   V1.B16, V20.B16; \
	VMOV   V1.B16, V21.B16; \
	VMOV   V1.B16, V22.B16; \
	VMOV   V1.B16, V23.B16; \
	VFMLA  V4.ARR, V0.ARR, V20.ARR; \
	VFMLA  V5.ARR, V0.ARR, V21.ARR; \
	VFMLA  V6.ARR, V0.ARR, V22.ARR; \
	VFMLA  V7.ARR, V0.ARR, V23.ARR; \
	VFMLA  V20.ARR, V2.ARR, V16.ARR; \
	VFMLA  V21.ARR, V2.ARR, V17.ARR; \
	VFMLA  V22.ARR, V2.ARR, V18.ARR; \
	VFMLA  V23.ARR, V2.ARR, V19.ARR; \
	VST1.P [V16.B16, V17.B16, V18.B16, V19.B16], 64(R0)

// func axpyNEONF32(dst []float32, a float32, x []float32)
TEXT ·axpyNEONF32(SB), NOSPLIT, $0-56
	MOVD  dst_base+0(FP), R0
	MOVD  dst_len+8(FP), R2
	FMOVS a+24(FP), F0
	MOVD  x_base+32(FP), R1
	FMOVS F0, F24
	VDUP  V0.S[0], V0.S4
	MOVD  $0x80000000, R3
	VDUP  R3, V1.S4
	MOVD  $0x3f800000, R3
	VDUP  R3, V2.S4
	SUBS  $16, R2
	BLT   rest

loop:
	STEP(S4)
	SUBS $16, R2
	BGE  loop

rest:
	ADDS $16, R2
	BEQ  done

element:
	FMOVS.P 4(R1), F4
	FMOVS   (R0), F5
	FMULS   F24, F4, F4
	FADDS   F4, F5, F5
	FMOVS.P F5, 4(R0)
	SUBS    $1, R2
	BNE     element

done:
	RET

// func axpyNEONF64(dst []float64, a float64, x []float64)
TEXT ·axpyNEONF64(SB), NOSPLIT, $0-56
	MOVD  dst_base+0(FP), R0
	MOVD  dst_len+8(FP), R2
	FMOVD a+24(FP), F0
	MOVD  x_base+32(FP), R1
	FMOVD F0, F24
	VDUP  V0.D[0], V0.D2
	MOVD  $0x8000000000000000, R3
	VDUP  R3, V1.D2
	MOVD  $0x3ff0000000000000, R3
	VDUP  R3, V2.D2
	SUBS  $8, R2
	BLT   rest

loop:
	STEP(D2)
	SUBS $8, R2
	BGE  loop

rest:
	ADDS $8, R2
	BEQ  done

element:
	FMOVD.P 8(R1), F4
	FMOVD   (R0), F5
	FMULD   F24, F4, F4
	FADDD   F4, F5, F5
	FMOVD.P F5, 8(R0)
	SUBS    $1, R2
	BNE     element

done:
	RET
