//go:build !purego && !race

#include "textflag.h"
#include "column_amd64.h"

// dst[i] = op(dst[i], x[i], y[i], a) for floats; the loops and registers are
// those of column_amd64.h. Products are rounded before they are added, never
// fused, so that the results equal the Go twin's bit by bit.
//
// MINPS returns its second operand if one is NaN or if both are zeros. Taken
// both ways round, the two results differ only then, and their OR is what Go's
// min wants: a NaN, or -0 if either zero is. The maximum is the minimum of the
// negated values, negated; register 0 has the sign bits.

#define ADD_F32_AVX2(d, x, y, r) VMOVUPS x, r; VADDPS d, r, r
#define SCALE_F32_AVX2(d, x, y, r) VMULPS d, Y0, r
#define MULADD_F32_AVX2(d, x, y, r) VMOVUPS x, r; VMULPS y, r, r; VADDPS d, r, r
#define MINIMUM_F32_AVX2(d, x, y, r) \
	VMOVUPS x, Y15; VMOVUPS d, Y14; \
	VMINPS Y14, Y15, r; VMINPS Y15, Y14, Y13; VORPS Y13, r, r
#define MAXIMUM_F32_AVX2(d, x, y, r) \
	VXORPS x, Y0, Y15; VXORPS d, Y0, Y14; \
	VMINPS Y14, Y15, r; VMINPS Y15, Y14, Y13; VORPS Y13, r, r; VXORPS Y0, r, r

#define ADD_F32_AVX512(d, x, y, r) VMOVUPS x, r; VADDPS d, r, r
#define SCALE_F32_AVX512(d, x, y, r) VMULPS d, Z0, r
#define MULADD_F32_AVX512(d, x, y, r) VMOVUPS x, r; VMULPS y, r, r; VADDPS d, r, r
#define MINIMUM_F32_AVX512(d, x, y, r) \
	VMOVUPS x, Z15; VMOVUPS d, Z14; \
	VMINPS Z14, Z15, r; VMINPS Z15, Z14, Z13; VORPS Z13, r, r
#define MAXIMUM_F32_AVX512(d, x, y, r) \
	VXORPS x, Z0, Z15; VXORPS d, Z0, Z14; \
	VMINPS Z14, Z15, r; VMINPS Z15, Z14, Z13; VORPS Z13, r, r; VXORPS Z0, r, r

#define ADD_F64_AVX2(d, x, y, r) VMOVUPS x, r; VADDPD d, r, r
#define SCALE_F64_AVX2(d, x, y, r) VMULPD d, Y0, r
#define MULADD_F64_AVX2(d, x, y, r) VMOVUPS x, r; VMULPD y, r, r; VADDPD d, r, r
#define MINIMUM_F64_AVX2(d, x, y, r) \
	VMOVUPS x, Y15; VMOVUPS d, Y14; \
	VMINPD Y14, Y15, r; VMINPD Y15, Y14, Y13; VORPD Y13, r, r
#define MAXIMUM_F64_AVX2(d, x, y, r) \
	VXORPD x, Y0, Y15; VXORPD d, Y0, Y14; \
	VMINPD Y14, Y15, r; VMINPD Y15, Y14, Y13; VORPD Y13, r, r; VXORPD Y0, r, r

#define ADD_F64_AVX512(d, x, y, r) VMOVUPS x, r; VADDPD d, r, r
#define SCALE_F64_AVX512(d, x, y, r) VMULPD d, Z0, r
#define MULADD_F64_AVX512(d, x, y, r) VMOVUPS x, r; VMULPD y, r, r; VADDPD d, r, r
#define MINIMUM_F64_AVX512(d, x, y, r) \
	VMOVUPS x, Z15; VMOVUPS d, Z14; \
	VMINPD Z14, Z15, r; VMINPD Z15, Z14, Z13; VORPD Z13, r, r
#define MAXIMUM_F64_AVX512(d, x, y, r) \
	VXORPD x, Z0, Z15; VXORPD d, Z0, Z14; \
	VMINPD Z14, Z15, r; VMINPD Z15, Z14, Z13; VORPD Z13, r, r; VXORPD Z0, r, r

// func addAVX2F32(dst, x []float32)
// Requires: AVX2
TEXT ·addAVX2F32(SB), NOSPLIT, $96-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX2(ADD_F32_AVX2, 2)

// func addAVX2F64(dst, x []float64)
// Requires: AVX2
TEXT ·addAVX2F64(SB), NOSPLIT, $96-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX2(ADD_F64_AVX2, 3)

// func addAVX512F32(dst, x []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·addAVX512F32(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX512(ADD_F32_AVX512, 2)

// func addAVX512F64(dst, x []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·addAVX512F64(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX512(ADD_F64_AVX512, 3)

// func scaleAVX2F32(dst []float32, a float32)
// Requires: AVX2
TEXT ·scaleAVX2F32(SB), NOSPLIT, $96-28
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	VBROADCASTSS a+24(FP), Y0
	MOVQ DI, SI
	MOVQ DI, R9
	COLUMN_AVX2(SCALE_F32_AVX2, 2)

// func scaleAVX2F64(dst []float64, a float64)
// Requires: AVX2
TEXT ·scaleAVX2F64(SB), NOSPLIT, $96-32
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	VBROADCASTSD a+24(FP), Y0
	MOVQ DI, SI
	MOVQ DI, R9
	COLUMN_AVX2(SCALE_F64_AVX2, 3)

// func scaleAVX512F32(dst []float32, a float32)
// Requires: AVX512F, AVX512DQ
TEXT ·scaleAVX512F32(SB), NOSPLIT, $0-28
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	VBROADCASTSS a+24(FP), Z0
	MOVQ DI, SI
	MOVQ DI, R9
	COLUMN_AVX512(SCALE_F32_AVX512, 2)

// func scaleAVX512F64(dst []float64, a float64)
// Requires: AVX512F, AVX512DQ
TEXT ·scaleAVX512F64(SB), NOSPLIT, $0-32
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	VBROADCASTSD a+24(FP), Z0
	MOVQ DI, SI
	MOVQ DI, R9
	COLUMN_AVX512(SCALE_F64_AVX512, 3)

// func mulAddAVX2F32(dst, x, y []float32)
// Requires: AVX2
TEXT ·mulAddAVX2F32(SB), NOSPLIT, $96-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX2(MULADD_F32_AVX2, 2)

// func mulAddAVX2F64(dst, x, y []float64)
// Requires: AVX2
TEXT ·mulAddAVX2F64(SB), NOSPLIT, $96-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX2(MULADD_F64_AVX2, 3)

// func mulAddAVX512F32(dst, x, y []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·mulAddAVX512F32(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX512(MULADD_F32_AVX512, 2)

// func mulAddAVX512F64(dst, x, y []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·mulAddAVX512F64(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX512(MULADD_F64_AVX512, 3)

// func minimumAVX2F32(dst, x []float32)
// Requires: AVX2
TEXT ·minimumAVX2F32(SB), NOSPLIT, $96-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX2(MINIMUM_F32_AVX2, 2)

// func minimumAVX2F64(dst, x []float64)
// Requires: AVX2
TEXT ·minimumAVX2F64(SB), NOSPLIT, $96-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX2(MINIMUM_F64_AVX2, 3)

// func minimumAVX512F32(dst, x []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·minimumAVX512F32(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX512(MINIMUM_F32_AVX512, 2)

// func minimumAVX512F64(dst, x []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·minimumAVX512F64(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	COLUMN_AVX512(MINIMUM_F64_AVX512, 3)

// func maximumAVX2F32(dst, x []float32)
// Requires: AVX2
TEXT ·maximumAVX2F32(SB), NOSPLIT, $96-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	VPCMPEQD Y0, Y0, Y0
	VPSLLD $31, Y0, Y0 // the sign bits
	COLUMN_AVX2(MAXIMUM_F32_AVX2, 2)

// func maximumAVX2F64(dst, x []float64)
// Requires: AVX2
TEXT ·maximumAVX2F64(SB), NOSPLIT, $96-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	VPCMPEQD Y0, Y0, Y0
	VPSLLQ $63, Y0, Y0 // the sign bits
	COLUMN_AVX2(MAXIMUM_F64_AVX2, 3)

// func maximumAVX512F32(dst, x []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·maximumAVX512F32(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	VPTERNLOGD $0xff, Z0, Z0, Z0
	VPSLLD $31, Z0, Z0 // the sign bits
	COLUMN_AVX512(MAXIMUM_F32_AVX512, 2)

// func maximumAVX512F64(dst, x []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·maximumAVX512F64(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ DI, R9
	VPTERNLOGD $0xff, Z0, Z0, Z0
	VPSLLQ $63, Z0, Z0 // the sign bits
	COLUMN_AVX512(MAXIMUM_F64_AVX512, 3)
