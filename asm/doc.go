// Package asm provides kernels, each of which processes a whole column or table of words per call,
// and reports what the CPU supports.
//
//	bits       And, Or, AndNot, PopCount, FirstNotFull, FindRun512; Match (one query against all signatures);
//	           NotEqual (the bytes that differ)
//	columns    Fill, Consecutive (entity ids), Compact (the rows that a mask selects), HashWords
//	numbers    Add, AddAll, Scale, Axpy, MulAdd, Minimum, Maximum; Sum, Dot, Min, Max (float32 and float64)
//	matrices   Compose (a matrix times those of positions, scales and quaternions)
//	hints      Prefetch (addresses that will be read soon)
//
// Each kernel except Prefetch exists as portable Go (`*_go.go`) and as a slow reference that is
// obviously correct (`*_ref_test.go`). All but Compose have assembly for AVX512, all but Compact
// and FindRun512 for AVX2, and Axpy, FirstNotFull and PopCount for NEON; Compose runs its AVX2 code
// at level AVX512. All versions return the same results, to the bit (a NaN may be any NaN); the
// tests compare each with the reference.
//
//	Best()    the level that the kernels use, chosen once, before main, from what
//	          CPU and system support; QUARRY_SIMD=go, avx2, avx512 or neon lowers
//	          it, never raises it; LevelError() reports a word that was ignored;
//	          QUARRY_LINE=64, 128 or 256 overrides CacheLine()
//	purego    builds with this tag have no assembly, nor have builds with the
//	race      race detector, which cannot see what assembly touches
//
// Memory: kernels own, allocate and retain nothing. Arguments do not escape, so slices of arrays on
// the stack stay there. Slices may start at any element and may lie outside the Go heap. Kernels
// write nothing outside their slices and never fault by reading outside them.
//
//	        the slice a kernel is given, 21 float32 from byte 16 of a column on
//	byte    0      16                            80           100          128
//	        +------+-----------------------------+------------+------------+
//	        | not  | 64 B: one AVX512 vector, or | 20 B: the  | not        |
//	        | ours | two AVX2 vectors            | rest       | ours       |
//	        +------+-----------------------------+------------+------------+
//
// Goroutines: kernels may run at the same time on disjoint slices, even of one column. An assembly
// call cannot be preempted, so one call touches at most 256 KiB.
//
// Failure: a slice that is too short, or a number that a function's documentation excludes, panics,
// for example "asm: Axpy: len(x)=3 is less than len(dst)=4".
//
// Cost: short slices use the Go code. ns per call in Go / AVX2 / AVX512, on an AMD Zen 5, Go
// 1.26.8, 2026-11-20, 2 virtual CPUs under other load, minimum of six runs (go test -run=NONE
// -bench=. -benchtime=8ms -count=6 ./asm), n words, elements, ids:
//
//	                             n=16                 n=256                n=2048
//	And, Or, AndNot               7.2 / 4.3 / 3.7     101 / 20  / 12      827  / 137 / 75
//	PopCount                      6.6 / 3.4 / 2.4      99 / 29  / 6.2     710  / 231 / 37
//	FirstNotFull                  4.0 / 2.8 / 2.9      27 / 9.9 / 6.2     213  / 59  / 37
//	Match, 1024 of 1, 4, 16 words                                         1.9-6.2k / 0.5-1.5k / 0.4-0.8k
//	Fill, 4, 8, 16 bytes                              19-34 / 11-21 / 12-22      67-234 / 42-128 / 37-123
//	Consecutive                   5.1 / 3.5 / 3.1      66 / 9.7 / 8.9     493  / 63  / 62
//	Compact 4, half of the rows    13 / Go  / 4.6      67 / Go  / 22      520  / Go  / 149
//	Compact 8; 16 bytes                                                   824  / Go  / 302; 712 / Go / 614
//	Add; Scale float32            8.2 / 4.5 / 4.2      67 / 13  / 9.1     508  / 71  / 40; 336 / 46 / 33
//	Axpy; MulAdd float32          5.5 / 3.2 / 3.1      60 / 12  / 8.6     466  / 67  / 37; 740 / 110 / 53
//	Minimum; Maximum float32       10 / 4.9 / 4.7     101 / 13  / 9.4     676  / 76  / 40; 1076 / 95 / 49
//	Sum; Dot; Min, Max float32     14 / Go  / Go       93 / 23  / 22      626 / 49 / 47; 816 / 75 / 47; 742 / 90 / 89
//	Compose, of 1, 10, 256        17 / 7 / AVX2, 147 / 33 / AVX2, 3.8k / 0.8k / AVX2
//	HashWords, 8, 512 words        15 / 10 / 7.5, 632 / 318 / 71
//	FindRun512                    a run of 12: 5.0 / Go / 4.7, of 32: 11.7 / Go / 4.9, of 64: 22 / Go / 7.1
package asm
