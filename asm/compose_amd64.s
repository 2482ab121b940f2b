//go:build !purego && !race

#include "textflag.h"

// dst[i] = m times the matrix of x[i], two elements at a time, one in each half of
// the vectors. Products are rounded before they are added, never fused.
//
// A single element left is computed in both halves: the stride between the two is
// 0 then, and the second store writes what the first one did.
//
// Registers:
//
//	DI   next element of dst      Y8..Y10   the columns of m, in each half
//	SI   next element of x        Y11       its last column
//	CX   elements left            Y12       1 in every lane
//	R8   from an element of x     Y13       0 in every lane
//	     to the second            Y0..Y7    see the comments
//	R9   the same of dst          BX        m
//
// Lanes of a half are written [0 1 2 3]; a ? is a lane that nobody reads.
//
// VZEROUPPER precedes the RET, as in the other kernels.

// COLUMN: C = the sum of m's columns times lane LX of X, LY of Y and LZ of Z (each
// a lane times 0x55), in each half. It uses Y6 and Y7.
#define COLUMN(LX, X, LY, Y, LZ, Z, C) \
	VPERMILPS LX, X, C     \
	VPERMILPS LY, Y, Y6    \
	VPERMILPS LZ, Z, Y7    \
	VMULPS    Y8, C, C     \
	VMULPS    Y9, Y6, Y6   \
	VMULPS    Y10, Y7, Y7  \
	VADDPS    Y6, C, C     \
	VADDPS    Y7, C, C

// STORE: lane 3 of C is lane 3 of LAST in each half, and the halves go to AT bytes
// behind DI and DI+R9.
#define STORE(LAST, C, XC, AT) \
	VBLENDPS     $0x88, LAST, C, C \
	VMOVUPS      XC, AT(DI)        \
	VEXTRACTF128 $1, C, AT(DI)(R9*1)

// func composeAVX2(dst [][16]float32, m *[16]float32, x [][8]float32)
// Requires: AVX2
TEXT ·composeAVX2(SB), NOSPLIT, $0-56
	MOVQ           dst_base+0(FP), DI
	MOVQ           dst_len+8(FP), CX
	MOVQ           m+24(FP), BX
	MOVQ           x_base+32(FP), SI
	VBROADCASTF128 (BX), Y8
	VBROADCASTF128 16(BX), Y9
	VBROADCASTF128 32(BX), Y10
	VBROADCASTF128 48(BX), Y11
	VPCMPEQD       Y12, Y12, Y12
	VPSRLD         $25, Y12, Y12
	VPSLLD         $23, Y12, Y12 // 0x3f800000
	VXORPS         Y13, Y13, Y13
	MOVL           $32, R8
	MOVL           $64, R9
	PCALIGN        $64

loop:
	CMPQ CX, $1
	JNE  pair
	XORL R8, R8
	XORL R9, R9

pair:
	VMOVUPS     (SI), X0
	VINSERTF128 $1, (SI)(R8*1), Y0, Y0   // position and scale
	VMOVUPS     16(SI), X1
	VINSERTF128 $1, 16(SI)(R8*1), Y1, Y1 // [x y z w]
	VADDPS      Y1, Y1, Y2               // [2x 2y 2z 2w]
	VMULPS      Y1, Y2, Y3               // [xx yy zz ?], twice the products of x, y, z and w here and below
	VPERMILPS   $0xd0, Y1, Y4            // [x x y ?]
	VPERMILPS   $0xe9, Y2, Y5            // [2y 2z 2z ?]
	VMULPS      Y5, Y4, Y4               // [xy xz yz ?]
	VPERMILPS   $0xff, Y1, Y5            // [w w w w]
	VPERMILPS   $0xc6, Y2, Y6            // [2z 2y 2x ?]
	VMULPS      Y6, Y5, Y5               // [wz wy wx ?]
	VPERMILPS   $0xc1, Y3, Y6            // [yy xx xx ?]
	VPERMILPS   $0xda, Y3, Y7            // [zz zz yy ?]
	VADDPS      Y7, Y6, Y6
	VSUBPS      Y6, Y12, Y1              // [1-yy-zz 1-xx-zz 1-xx-yy ?]
	VADDPS      Y5, Y4, Y2               // [xy+wz xz+wy yz+wx ?]
	VSUBPS      Y5, Y4, Y3               // [xy-wz xz-wy yz-wx ?]
	VPERMILPS   $0xff, Y0, Y7            // scale
	VMULPS      Y7, Y1, Y1
	VMULPS      Y7, Y2, Y2
	VMULPS      Y7, Y3, Y3

	COLUMN($0x00, Y1, $0x00, Y2, $0x55, Y3, Y4)
	STORE(Y13, Y4, X4, 0)
	COLUMN($0x00, Y3, $0x55, Y1, $0xaa, Y2, Y5)
	STORE(Y13, Y5, X5, 16)
	COLUMN($0x55, Y2, $0xaa, Y3, $0xaa, Y1, Y4)
	STORE(Y13, Y4, X4, 32)
	COLUMN($0x00, Y0, $0x55, Y0, $0xaa, Y0, Y5)
	VADDPS Y11, Y5, Y5
	STORE(Y12, Y5, X5, 48)

	ADDQ $64, SI
	ADDQ $128, DI
	SUBQ $2, CX
	JGT  loop
	VZEROUPPER
	RET
