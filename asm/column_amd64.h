// The loops of kernels that compute one column from up to three: dst[i] from
// dst[i], x[i] and y[i]. A kernel gives them an instruction sequence
//
//	OP(d, x, y, r)   r = the new element, from memory operands or registers
//	                 d, x and y; it may use vector registers 13 to 15 as well
//
// and has loaded, before it, its constants into vector register 0 and
//
//	DI   dst        CX   elements
//	SI   x          R9   y; equal to DI where OP does not use it
//
// LOG is the logarithm of an element's size in bytes: 2 or 3.
//
//	            bytes of dst per iteration        rest
//	AVX2        128 (4 vectors), then 32          one vector that ends with the column
//	AVX512      256 (4 vectors), then 64          one masked vector
//
// Registers, all of them in bytes:
//
//	AX   where the next vector begins         R10  AVX2: where the last vector begins
//	R11  the last place where a step begins   5    AVX2: the last vector's result
//
// The rest with AVX2: a masked store of AVX2 is slow on AMD's CPUs. Instead the
// last whole vector is computed before the loop, from values that nothing has
// changed yet, and stored after it; elements that the loop did as well get the
// same value a second time. So dst may be x or y. It lies inside the column.
// Columns shorter than a vector, the end of one longer than a call, are computed
// on the stack, where lanes that are not theirs do no harm: 96 bytes of frame.
//
// The rest with AVX512: lanes that the mask leaves out are neither loaded (they
// cannot fault, whatever page they lie in) nor stored. Masks count units of 4
// bytes for every LOG.
//
// VZEROUPPER precedes every RET: with the upper halves dirty, the SSE code that
// the Go compiler emits would stall or gain false dependencies on CPUs of Intel.

// COLUMN_AVX2 and COLUMN_AVX512 are a whole kernel; COLUMNS_AVX2 and COLUMNS_AVX512 end
// at the label done, for kernels that go on to another column.

#define COLUMN_AVX2(OP, LOG) \
	COLUMNS_AVX2(OP, LOG); \
	VZEROUPPER; \
	RET

#define COLUMN_AVX512(OP, LOG) \
	COLUMNS_AVX512(OP, LOG); \
	VZEROUPPER; \
	RET

#define COLUMNS_AVX2(OP, LOG) \
	SHLQ         $LOG, CX; \
	XORL         AX, AX; \
	LEAQ         -32(CX), R10; \
	CMPQ         CX, $32; \
	JLT          short; \
	OP(0(DI)(R10*1), 0(SI)(R10*1), 0(R9)(R10*1), Y5); \
	LEAQ         -128(CX), R11; \
	CMPQ         AX, R11; \
	JGT          vectors; \
	PCALIGN      $64; \
loop4: \
	OP(0(DI)(AX*1), 0(SI)(AX*1), 0(R9)(AX*1), Y1); \
	OP(32(DI)(AX*1), 32(SI)(AX*1), 32(R9)(AX*1), Y2); \
	OP(64(DI)(AX*1), 64(SI)(AX*1), 64(R9)(AX*1), Y3); \
	OP(96(DI)(AX*1), 96(SI)(AX*1), 96(R9)(AX*1), Y4); \
	VMOVUPS      Y1, 0(DI)(AX*1); \
	VMOVUPS      Y2, 32(DI)(AX*1); \
	VMOVUPS      Y3, 64(DI)(AX*1); \
	VMOVUPS      Y4, 96(DI)(AX*1); \
	ADDQ         $128, AX; \
	CMPQ         AX, R11; \
	JLE          loop4; \
vectors: \
	CMPQ         AX, R10; \
	JGE          last; \
	OP(0(DI)(AX*1), 0(SI)(AX*1), 0(R9)(AX*1), Y1); \
	VMOVUPS      Y1, 0(DI)(AX*1); \
	ADDQ         $32, AX; \
	JMP          vectors; \
last: \
	VMOVUPS      Y5, 0(DI)(R10*1); \
	JMP          done; \
short: \
	TESTQ        CX, CX; \
	JLE          done; \
	XORL         AX, AX; \
gather: \
	MOVL         0(DI)(AX*1), R8; \
	MOVL         R8, 0(SP)(AX*1); \
	MOVL         0(SI)(AX*1), R8; \
	MOVL         R8, 32(SP)(AX*1); \
	MOVL         0(R9)(AX*1), R8; \
	MOVL         R8, 64(SP)(AX*1); \
	ADDQ         $4, AX; \
	CMPQ         AX, CX; \
	JLT          gather; \
	OP(0(SP), 32(SP), 64(SP), Y5); \
	VMOVUPS      Y5, 0(SP); \
	XORL         AX, AX; \
scatter: \
	MOVL         0(SP)(AX*1), R8; \
	MOVL         R8, 0(DI)(AX*1); \
	ADDQ         $4, AX; \
	CMPQ         AX, CX; \
	JLT          scatter; \
done:

#define COLUMNS_AVX512(OP, LOG) \
	SHLQ      $LOG, CX; \
	XORL      AX, AX; \
	LEAQ      -256(CX), R11; \
	CMPQ      AX, R11; \
	JGT       vectors; \
	PCALIGN   $64; \
loop4: \
	OP(0(DI)(AX*1), 0(SI)(AX*1), 0(R9)(AX*1), Z1); \
	OP(64(DI)(AX*1), 64(SI)(AX*1), 64(R9)(AX*1), Z2); \
	OP(128(DI)(AX*1), 128(SI)(AX*1), 128(R9)(AX*1), Z3); \
	OP(192(DI)(AX*1), 192(SI)(AX*1), 192(R9)(AX*1), Z4); \
	VMOVUPS   Z1, 0(DI)(AX*1); \
	VMOVUPS   Z2, 64(DI)(AX*1); \
	VMOVUPS   Z3, 128(DI)(AX*1); \
	VMOVUPS   Z4, 192(DI)(AX*1); \
	ADDQ      $256, AX; \
	CMPQ      AX, R11; \
	JLE       loop4; \
vectors: \
	LEAQ      -64(CX), R11; \
vector: \
	CMPQ      AX, R11; \
	JGT       rest; \
	OP(0(DI)(AX*1), 0(SI)(AX*1), 0(R9)(AX*1), Z1); \
	VMOVUPS   Z1, 0(DI)(AX*1); \
	ADDQ      $64, AX; \
	JMP       vector; \
rest: \
	SUBQ      AX, CX; \
	JLE       done; \
	SHRL      $2, CX; \
	MOVL      $1, R8; \
	SHLL      CX, R8; \
	DECL      R8; \
	KMOVW     R8, K1; \
	VMOVUPS.Z 0(DI)(AX*1), K1, Z6; \
	VMOVUPS.Z 0(SI)(AX*1), K1, Z7; \
	VMOVUPS.Z 0(R9)(AX*1), K1, Z8; \
	OP(Z6, Z7, Z8, Z1); \
	VMOVUPS   Z1, K1, 0(DI)(AX*1); \
done:
