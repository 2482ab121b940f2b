package asm

import "unsafe"

// Pair is a column Dst and a column X to be added to it.
type Pair[F Float] struct{ Dst, X []F }

// AddAll does Add(p.Dst, p.X) for each of the pairs in order, so a later pair may read what an
// earlier one wrote. Five components of a chunk take one call. The pairs may have different
// lengths.
//
// It makes one assembly call when the pairs have at most 256 KiB in total, as the columns of a
// chunk do, and otherwise calls Add. The saving is small: three pairs of 16 to 372 float64 took
// 0.90 to 1.01 of the time of three calls of Add with AVX2, 1.03 to 1.10 with AVX512 (go test
// -bench AddAll ./asm, minima of 12 runs on a Xeon of two virtual CPUs, Go 1.26.8). AddAll exists
// to express a chunk's work in one call.
//
// It panics if an X is shorter than its Dst, before anything is written; in debug builds it also
// panics for overlaps, as Add does.
func AddAll[F Float](pairs ...Pair[F]) {
	elements := 0
	for i := range pairs {
		p := &pairs[i]
		checkColumns("AddAll", p.Dst, p.X, p.X)
		elements += len(p.Dst)
	}
	var f F
	if best != AVX512 && best != AVX2 || elements < arithMin || elements > callBytes/2/int(unsafe.Sizeof(f)) {
		for i := range pairs {
			column(opAdd, pairs[i].Dst, pairs[i].X, pairs[i].X, 0)
		}
		return
	}
	if unsafe.Sizeof(f) == 4 {
		// Safe because a Float of 4 bytes has float32 as its underlying type.
		addAll32(*(*[]Pair[float32])(unsafe.Pointer(&pairs)))
	} else {
		// Safe because a Float that has not 4 bytes has float64 as its underlying type.
		addAll64(*(*[]Pair[float64])(unsafe.Pointer(&pairs)))
	}
}

func addAll32(pairs []Pair[float32]) {
	if best == AVX512 {
		addAllAVX512F32(pairs)
	} else {
		addAllAVX2F32(pairs)
	}
}

func addAll64(pairs []Pair[float64]) {
	if best == AVX512 {
		addAllAVX512F64(pairs)
	} else {
		addAllAVX2F64(pairs)
	}
}
