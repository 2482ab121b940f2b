//go:build !purego && !race

#include "textflag.h"
#include "column_amd64.h"

// dst = pattern, pattern, ...: the loops and registers are those of
// column_amd64.h, with the pattern in every 16 bytes of register 0. A vector
// may begin at any multiple of 4 bytes before the end only because the length
// is a multiple of the element's size, which divides 16: so the pattern fits.

#define FILL_AVX2(d, x, y, r) VMOVDQA Y0, r
#define FILL_AVX512(d, x, y, r) VMOVDQA64 Z0, r

// func fillAVX2(dst []byte, pattern *[16]byte)
// Requires: AVX2
TEXT ·fillAVX2(SB), NOSPLIT, $96-32
	MOVQ           dst_base+0(FP), DI
	MOVQ           dst_len+8(FP), CX
	MOVQ           pattern+24(FP), SI
	VBROADCASTI128 (SI), Y0
	MOVQ           DI, SI
	MOVQ           DI, R9
	COLUMN_AVX2(FILL_AVX2, 0)

// func fillAVX512(dst []byte, pattern *[16]byte)
// Requires: AVX512F
TEXT ·fillAVX512(SB), NOSPLIT, $0-32
	MOVQ            dst_base+0(FP), DI
	MOVQ            dst_len+8(FP), CX
	MOVQ            pattern+24(FP), SI
	VBROADCASTI32X4 (SI), Z0
	MOVQ            DI, SI
	MOVQ            DI, R9
	COLUMN_AVX512(FILL_AVX512, 0)
