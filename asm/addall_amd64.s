//go:build !purego && !race

#include "textflag.h"
#include "column_amd64.h"

// The loops of column_amd64.h, once for each pair. A pair is two slices, 48 bytes:
// Dst at 0, its length at 8, X at 24. R12 is the next pair, R13 how many are left:
// the loops use neither.

#define ADD_F32_AVX2(d, x, y, r) VMOVUPS x, r; VADDPS d, r, r
#define ADD_F64_AVX2(d, x, y, r) VMOVUPS x, r; VADDPD d, r, r
#define ADD_F32_AVX512(d, x, y, r) VMOVUPS x, r; VADDPS d, r, r
#define ADD_F64_AVX512(d, x, y, r) VMOVUPS x, r; VADDPD d, r, r

#define BEGIN \
	MOVQ pairs_base+0(FP), R12; \
	MOVQ pairs_len+8(FP), R13; \
next: \
	DECQ R13; \
	JLT  end; \
	MOVQ 0(R12), DI; \
	MOVQ 8(R12), CX; \
	MOVQ 24(R12), SI; \
	MOVQ DI, R9; \
	ADDQ $48, R12

#define END \
	JMP  next; \
end: \
	VZEROUPPER; \
	RET

// func addAllAVX2F32(pairs []Pair[float32])
// Requires: AVX2
TEXT ·addAllAVX2F32(SB), NOSPLIT, $96-24
	BEGIN
	COLUMNS_AVX2(ADD_F32_AVX2, 2)
	END

// func addAllAVX2F64(pairs []Pair[float64])
// Requires: AVX2
TEXT ·addAllAVX2F64(SB), NOSPLIT, $96-24
	BEGIN
	COLUMNS_AVX2(ADD_F64_AVX2, 3)
	END

// func addAllAVX512F32(pairs []Pair[float32])
// Requires: AVX512F, AVX512DQ
TEXT ·addAllAVX512F32(SB), NOSPLIT, $0-24
	BEGIN
	COLUMNS_AVX512(ADD_F32_AVX512, 2)
	END

// func addAllAVX512F64(pairs []Pair[float64])
// Requires: AVX512F, AVX512DQ
TEXT ·addAllAVX512F64(SB), NOSPLIT, $0-24
	BEGIN
	COLUMNS_AVX512(ADD_F64_AVX512, 3)
	END
