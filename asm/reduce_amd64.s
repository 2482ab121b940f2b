//go:build !purego && !race

#include "textflag.h"

// acc[i%32] = op(acc[i%32], x[i], y[i]): 32 lanes that hold partial results,
// one vector register after the other, so that the order of operations is the
// same at every level. Register 0 has the lanes 0, 1, ...
//
//	            registers for float32, float64    bytes of x per iteration
//	AVX2        Y0..Y3, Y0..Y7                    128, 256
//	AVX512      Z0..Z1, Z0..Z3                    128, 256
//
// The rest, less than 32 elements, with AVX512: it is loaded through masks, a
// vector at a time; what a mask leaves out is not loaded, so it cannot fault, and
// its lanes keep their value. With AVX2: it is copied to the stack, where whole
// vectors can be read, and a mask keeps the lanes that are not its own. (The
// masked loads of AVX2 would do as well, but qemu 7.2 reads the whole vector.)
//
// Registers:
//
//	DI   the lanes                    Y8       AVX2: bytes left, in every 4 bytes
//	SI   x                            9, 10    AVX512, rest: y, x
//	R9   y                            11       rest: the new lanes
//	CX   bytes, then bytes left       Y12      AVX2: the mask of the rest
//	AX   where the next vectors begin 13       the sign bits, for max
//	R11  the last place for a step    14, 15   used by OP
//	R8   AVX512: mask of the rest
//
// The least of two values is taken as in arith_amd64.s; the greatest is found as
// the least of the negated values. VZEROUPPER precedes every RET, as in the
// other kernels.

DATA vector<>+0(SB)/8, $0x0000002000000020
DATA vector<>+8(SB)/8, $0x0000002000000020
DATA vector<>+16(SB)/8, $0x0000002000000020
DATA vector<>+24(SB)/8, $0x0000002000000020
GLOBL vector<>(SB), RODATA|NOPTR, $32

// Byte offsets of the 4-byte lanes of a vector.
DATA offsets<>+0(SB)/8, $0x0000000400000000
DATA offsets<>+8(SB)/8, $0x0000000c00000008
DATA offsets<>+16(SB)/8, $0x0000001400000010
DATA offsets<>+24(SB)/8, $0x0000001c00000018
GLOBL offsets<>(SB), RODATA|NOPTR, $32

#define SUM_F32_AVX2(x, y, acc) VADDPS x, acc, acc
#define DOT_F32_AVX2(x, y, acc) VMOVUPS x, Y15; VMULPS y, Y15, Y15; VADDPS Y15, acc, acc
#define MIN_F32_AVX2(x, y, acc) \
	VMOVUPS x, Y15; \
	VMINPS acc, Y15, Y14; VMINPS Y15, acc, acc; VORPS Y14, acc, acc
#define MAX_F32_AVX2(x, y, acc) \
	VXORPS x, Y13, Y15; \
	VMINPS acc, Y15, Y14; VMINPS Y15, acc, acc; VORPS Y14, acc, acc

#define SUM_F32_AVX512(x, y, acc) VADDPS x, acc, acc
#define DOT_F32_AVX512(x, y, acc) VMOVUPS x, Z15; VMULPS y, Z15, Z15; VADDPS Z15, acc, acc
#define MIN_F32_AVX512(x, y, acc) \
	VMOVUPS x, Z15; \
	VMINPS acc, Z15, Z14; VMINPS Z15, acc, acc; VORPS Z14, acc, acc
#define MAX_F32_AVX512(x, y, acc) \
	VXORPS x, Z13, Z15; \
	VMINPS acc, Z15, Z14; VMINPS Z15, acc, acc; VORPS Z14, acc, acc

#define SUM_F64_AVX2(x, y, acc) VADDPD x, acc, acc
#define DOT_F64_AVX2(x, y, acc) VMOVUPS x, Y15; VMULPD y, Y15, Y15; VADDPD Y15, acc, acc
#define MIN_F64_AVX2(x, y, acc) \
	VMOVUPS x, Y15; \
	VMINPD acc, Y15, Y14; VMINPD Y15, acc, acc; VORPD Y14, acc, acc
#define MAX_F64_AVX2(x, y, acc) \
	VXORPD x, Y13, Y15; \
	VMINPD acc, Y15, Y14; VMINPD Y15, acc, acc; VORPD Y14, acc, acc

#define SUM_F64_AVX512(x, y, acc) VADDPD x, acc, acc
#define DOT_F64_AVX512(x, y, acc) VMOVUPS x, Z15; VMULPD y, Z15, Z15; VADDPD Z15, acc, acc
#define MIN_F64_AVX512(x, y, acc) \
	VMOVUPS x, Z15; \
	VMINPD acc, Z15, Z14; VMINPD Z15, acc, acc; VORPD Z14, acc, acc
#define MAX_F64_AVX512(x, y, acc) \
	VXORPD x, Z13, Z15; \
	VMINPD acc, Z15, Z14; VMINPD Z15, acc, acc; VORPD Z14, acc, acc

// COPY brings the rest, CX bytes, to the stack: x to 0(SP), y to SIZE(SP).
#define COPY(SIZE) \
	ADDQ    AX, SI; \
	ADDQ    AX, R9; \
	XORL    AX, AX; \
	LEAQ    -32(CX), R11; \
whole: \
	CMPQ    AX, R11; \
	JGT     part; \
	VMOVUPS 0(SI)(AX*1), Y9; \
	VMOVUPS Y9, 0(SP)(AX*1); \
	VMOVUPS 0(R9)(AX*1), Y9; \
	VMOVUPS Y9, SIZE(SP)(AX*1); \
	ADDQ    $32, AX; \
	JMP     whole; \
part: \
	CMPQ    AX, CX; \
	JGE     masks; \
	MOVL    0(SI)(AX*1), R8; \
	MOVL    R8, 0(SP)(AX*1); \
	MOVL    0(R9)(AX*1), R8; \
	MOVL    R8, SIZE(SP)(AX*1); \
	ADDQ    $4, AX; \
	JMP     part; \
masks: \
	VMOVD        CX, X8; \
	VPBROADCASTD X8, Y8

#define REST_AVX2(OP, SIZE, k, acc) \
	VPCMPGTD  offsets<>(SB), Y8, Y12; \
	VMOVAPS   acc, Y11; \
	OP(k(SP), SIZE+k(SP), Y11); \
	VBLENDVPS Y12, Y11, acc, acc; \
	VPSUBD    vector<>(SB), Y8, Y8

#define REST_AVX512(OP, k, acc) \
	KMOVW     R8, K1; \
	VMOVUPS.Z k(SI)(AX*1), K1, Z10; \
	VMOVUPS.Z k(R9)(AX*1), K1, Z9; \
	VMOVAPS   acc, Z11; \
	OP(Z10, Z9, Z11); \
	VMOVAPS   Z11, K1, acc; \
	SHRQ      $16, R8

#define LANES_AVX2_F32(OP) \
	VMOVUPS 0(DI), Y0; \
	VMOVUPS 32(DI), Y1; \
	VMOVUPS 64(DI), Y2; \
	VMOVUPS 96(DI), Y3; \
	SHLQ $2, CX; \
	XORL AX, AX; \
	LEAQ -128(CX), R11; \
	CMPQ AX, R11; \
	JGT rest; \
	PCALIGN $64; \
loop: \
	OP(0(SI)(AX*1), 0(R9)(AX*1), Y0); \
	OP(32(SI)(AX*1), 32(R9)(AX*1), Y1); \
	OP(64(SI)(AX*1), 64(R9)(AX*1), Y2); \
	OP(96(SI)(AX*1), 96(R9)(AX*1), Y3); \
	ADDQ $128, AX; \
	CMPQ AX, R11; \
	JLE loop; \
rest: \
	SUBQ AX, CX; \
	JLE store; \
	COPY(128); \
	REST_AVX2(OP, 128, 0, Y0); \
	REST_AVX2(OP, 128, 32, Y1); \
	REST_AVX2(OP, 128, 64, Y2); \
	REST_AVX2(OP, 128, 96, Y3); \
store: \
	VMOVUPS Y0, 0(DI); \
	VMOVUPS Y1, 32(DI); \
	VMOVUPS Y2, 64(DI); \
	VMOVUPS Y3, 96(DI); \
	VZEROUPPER; \
	RET

#define LANES_AVX2_F64(OP) \
	VMOVUPS 0(DI), Y0; \
	VMOVUPS 32(DI), Y1; \
	VMOVUPS 64(DI), Y2; \
	VMOVUPS 96(DI), Y3; \
	VMOVUPS 128(DI), Y4; \
	VMOVUPS 160(DI), Y5; \
	VMOVUPS 192(DI), Y6; \
	VMOVUPS 224(DI), Y7; \
	SHLQ $3, CX; \
	XORL AX, AX; \
	LEAQ -256(CX), R11; \
	CMPQ AX, R11; \
	JGT rest; \
	PCALIGN $64; \
loop: \
	OP(0(SI)(AX*1), 0(R9)(AX*1), Y0); \
	OP(32(SI)(AX*1), 32(R9)(AX*1), Y1); \
	OP(64(SI)(AX*1), 64(R9)(AX*1), Y2); \
	OP(96(SI)(AX*1), 96(R9)(AX*1), Y3); \
	OP(128(SI)(AX*1), 128(R9)(AX*1), Y4); \
	OP(160(SI)(AX*1), 160(R9)(AX*1), Y5); \
	OP(192(SI)(AX*1), 192(R9)(AX*1), Y6); \
	OP(224(SI)(AX*1), 224(R9)(AX*1), Y7); \
	ADDQ $256, AX; \
	CMPQ AX, R11; \
	JLE loop; \
rest: \
	SUBQ AX, CX; \
	JLE store; \
	COPY(256); \
	REST_AVX2(OP, 256, 0, Y0); \
	REST_AVX2(OP, 256, 32, Y1); \
	REST_AVX2(OP, 256, 64, Y2); \
	REST_AVX2(OP, 256, 96, Y3); \
	REST_AVX2(OP, 256, 128, Y4); \
	REST_AVX2(OP, 256, 160, Y5); \
	REST_AVX2(OP, 256, 192, Y6); \
	REST_AVX2(OP, 256, 224, Y7); \
store: \
	VMOVUPS Y0, 0(DI); \
	VMOVUPS Y1, 32(DI); \
	VMOVUPS Y2, 64(DI); \
	VMOVUPS Y3, 96(DI); \
	VMOVUPS Y4, 128(DI); \
	VMOVUPS Y5, 160(DI); \
	VMOVUPS Y6, 192(DI); \
	VMOVUPS Y7, 224(DI); \
	VZEROUPPER; \
	RET

#define LANES_AVX512_F32(OP) \
	VMOVUPS 0(DI), Z0; \
	VMOVUPS 64(DI), Z1; \
	SHLQ $2, CX; \
	XORL AX, AX; \
	LEAQ -128(CX), R11; \
	CMPQ AX, R11; \
	JGT rest; \
	PCALIGN $64; \
loop: \
	OP(0(SI)(AX*1), 0(R9)(AX*1), Z0); \
	OP(64(SI)(AX*1), 64(R9)(AX*1), Z1); \
	ADDQ $128, AX; \
	CMPQ AX, R11; \
	JLE loop; \
rest: \
	SUBQ AX, CX; \
	JLE store; \
	SHRL $2, CX; \
	MOVL $1, R8; \
	SHLQ CX, R8; \
	DECQ R8; \
	REST_AVX512(OP, 0, Z0); \
	REST_AVX512(OP, 64, Z1); \
store: \
	VMOVUPS Z0, 0(DI); \
	VMOVUPS Z1, 64(DI); \
	VZEROUPPER; \
	RET

#define LANES_AVX512_F64(OP) \
	VMOVUPS 0(DI), Z0; \
	VMOVUPS 64(DI), Z1; \
	VMOVUPS 128(DI), Z2; \
	VMOVUPS 192(DI), Z3; \
	SHLQ $3, CX; \
	XORL AX, AX; \
	LEAQ -256(CX), R11; \
	CMPQ AX, R11; \
	JGT rest; \
	PCALIGN $64; \
loop: \
	OP(0(SI)(AX*1), 0(R9)(AX*1), Z0); \
	OP(64(SI)(AX*1), 64(R9)(AX*1), Z1); \
	OP(128(SI)(AX*1), 128(R9)(AX*1), Z2); \
	OP(192(SI)(AX*1), 192(R9)(AX*1), Z3); \
	ADDQ $256, AX; \
	CMPQ AX, R11; \
	JLE loop; \
rest: \
	SUBQ AX, CX; \
	JLE store; \
	SHRL $2, CX; \
	MOVL $1, R8; \
	SHLQ CX, R8; \
	DECQ R8; \
	REST_AVX512(OP, 0, Z0); \
	REST_AVX512(OP, 64, Z1); \
	REST_AVX512(OP, 128, Z2); \
	REST_AVX512(OP, 192, Z3); \
store: \
	VMOVUPS Z0, 0(DI); \
	VMOVUPS Z1, 64(DI); \
	VMOVUPS Z2, 128(DI); \
	VMOVUPS Z3, 192(DI); \
	VZEROUPPER; \
	RET

// func sumAVX2F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX2
TEXT ·sumAVX2F32(SB), NOSPLIT, $256-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX2_F32(SUM_F32_AVX2)

// func sumAVX2F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX2
TEXT ·sumAVX2F64(SB), NOSPLIT, $512-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX2_F64(SUM_F64_AVX2)

// func sumAVX512F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·sumAVX512F32(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX512_F32(SUM_F32_AVX512)

// func sumAVX512F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·sumAVX512F64(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX512_F64(SUM_F64_AVX512)

// func dotAVX2F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX2
TEXT ·dotAVX2F32(SB), NOSPLIT, $256-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX2_F32(DOT_F32_AVX2)

// func dotAVX2F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX2
TEXT ·dotAVX2F64(SB), NOSPLIT, $512-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX2_F64(DOT_F64_AVX2)

// func dotAVX512F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·dotAVX512F32(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX512_F32(DOT_F32_AVX512)

// func dotAVX512F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·dotAVX512F64(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX512_F64(DOT_F64_AVX512)

// func minAVX2F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX2
TEXT ·minAVX2F32(SB), NOSPLIT, $256-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX2_F32(MIN_F32_AVX2)

// func minAVX2F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX2
TEXT ·minAVX2F64(SB), NOSPLIT, $512-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX2_F64(MIN_F64_AVX2)

// func minAVX512F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·minAVX512F32(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX512_F32(MIN_F32_AVX512)

// func minAVX512F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·minAVX512F64(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	LANES_AVX512_F64(MIN_F64_AVX512)

// func maxAVX2F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX2
TEXT ·maxAVX2F32(SB), NOSPLIT, $256-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	VPCMPEQD Y13, Y13, Y13
	VPSLLD $31, Y13, Y13 // the sign bits
	LANES_AVX2_F32(MAX_F32_AVX2)

// func maxAVX2F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX2
TEXT ·maxAVX2F64(SB), NOSPLIT, $512-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	VPCMPEQD Y13, Y13, Y13
	VPSLLQ $63, Y13, Y13 // the sign bits
	LANES_AVX2_F64(MAX_F64_AVX2)

// func maxAVX512F32(acc *[lanes]float32, x, y []float32)
// Requires: AVX512F, AVX512DQ
TEXT ·maxAVX512F32(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	VPTERNLOGD $0xff, Z13, Z13, Z13
	VPSLLD $31, Z13, Z13 // the sign bits
	LANES_AVX512_F32(MAX_F32_AVX512)

// func maxAVX512F64(acc *[lanes]float64, x, y []float64)
// Requires: AVX512F, AVX512DQ
TEXT ·maxAVX512F64(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), CX
	MOVQ y_base+32(FP), R9
	VPTERNLOGD $0xff, Z13, Z13, Z13
	VPSLLQ $63, Z13, Z13 // the sign bits
	LANES_AVX512_F64(MAX_F64_AVX512)
