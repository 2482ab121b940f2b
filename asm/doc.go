// Package asm holds the kernels that run over a whole column or table of words
// per call, and says what the CPU offers.
//
// Each kernel exists as hand-written assembly per level (AVX2 and AVX512 on
// amd64), as portable Go, and as a reference that is slow and obviously right
// (AxpyRef, FirstNotFullRef). All give the same results; the tests hold every
// one to the reference.
//
//	Best()    what the kernels use: chosen once, before main, from what CPU
//	          and operating system support; QUARRY_SIMD=go, avx2 or avx512 in
//	          the environment lowers it, never raises it; LevelError() tells
//	          whether that variable could not be followed
//	purego    builds with this tag have no assembly, nor have builds with the
//	race      race detector, which cannot see what assembly touches
//
// Memory: kernels own nothing, allocate nothing and keep nothing; arguments do
// not escape, so slices of arrays on the stack stay there. Slices may start at
// any element and may lie outside the Go heap. Nothing outside the slices is
// written, and nothing outside them is read by an access that could fault.
//
//	        the slice a kernel is given, 21 float32 from byte 16 of a column on
//	byte    0      16                            80           100          128
//	        +------+-----------------------------+------------+------------+
//	        | not  | 64 B: one AVX512 vector, or | 20 B: the  | not        |
//	        | ours | two AVX2 vectors            | rest       | ours       |
//	        +------+-----------------------------+------------+------------+
//
// Goroutines: kernels may run at the same time on disjoint slices, even of one
// column, to the element. An assembly call cannot be preempted, so one touches
// at most 256 KiB; longer slices are cut in Go.
//
// Failure: a slice that is too short panics, as "asm: Axpy: len(x)=3 is less
// than len(dst)=4". There is nothing else that can fail.
//
// Cost: an assembly call takes about 1.5 ns, so short slices go to the Go code;
// each kernel says from which length on. Measured on an AMD Zen 5, 2 virtual
// CPUs, Go 1.26.8, 2026-11-20, all words full but the last, minimum of four runs
// (go test -run=NONE -bench=. -benchtime=60ms -count=4 ./asm), ns per call and
// how many times as fast as Go in the same run:
//
//	                              Go         AVX2            AVX512
//	Axpy float32, n=16            5.5       3.2   1.7x      3.1   1.8x
//	              n=256            60        12   4.9x      8.6   7.0x
//	              n=2048 (L1)     466        67   7.0x       37    12x
//	              n=32768 (L2)   7510      1155   6.5x     1234   6.1x
//	              n=1<<20 (L3)   245k       76k   3.2x      63k   3.9x
//	Axpy float64, n=16            5.5       3.6   1.5x      3.4   1.6x
//	              n=256            59        18   3.2x       13   4.6x
//	              n=2048 (L1)     463       136   3.4x       72   6.4x
//	              n=32768 (L2)   7757      2294   3.4x     1887   4.1x
//	FirstNotFull, 16 words        4.0       2.8   1.5x      2.9   1.4x
//	              256 words        27       9.9   2.7x      6.2   4.3x
//	              2048 words      213        59   3.6x       37   5.8x
//	              16384 words    1669       644   2.6x      624   2.7x
package asm
