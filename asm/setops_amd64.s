//go:build !purego && !race

#include "textflag.h"
#include "column_amd64.h"

// dst[i] = x[i] op y[i] for words; the loops and registers are those of
// column_amd64.h. VPANDN inverts its middle operand, here y.

#define AND_AVX2(d, x, y, r) VMOVUPS x, r; VPAND y, r, r
#define AND_AVX512(d, x, y, r) VMOVUPS x, r; VPANDQ y, r, r
#define OR_AVX2(d, x, y, r) VMOVUPS x, r; VPOR y, r, r
#define OR_AVX512(d, x, y, r) VMOVUPS x, r; VPORQ y, r, r
#define ANDNOT_AVX2(d, x, y, r) VMOVUPS y, r; VPANDN x, r, r
#define ANDNOT_AVX512(d, x, y, r) VMOVUPS y, r; VPANDNQ x, r, r

// func andAVX2(dst, x, y []uint64)
// Requires: AVX2
TEXT ·andAVX2(SB), NOSPLIT, $96-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX2(AND_AVX2, 3)

// func andAVX512(dst, x, y []uint64)
// Requires: AVX512F
TEXT ·andAVX512(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX512(AND_AVX512, 3)

// func orAVX2(dst, x, y []uint64)
// Requires: AVX2
TEXT ·orAVX2(SB), NOSPLIT, $96-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX2(OR_AVX2, 3)

// func orAVX512(dst, x, y []uint64)
// Requires: AVX512F
TEXT ·orAVX512(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX512(OR_AVX512, 3)

// func andNotAVX2(dst, x, y []uint64)
// Requires: AVX2
TEXT ·andNotAVX2(SB), NOSPLIT, $96-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX2(ANDNOT_AVX2, 3)

// func andNotAVX512(dst, x, y []uint64)
// Requires: AVX512F
TEXT ·andNotAVX512(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ y_base+48(FP), R9
	COLUMN_AVX512(ANDNOT_AVX512, 3)
