//go:build !purego && !race

package asm

// Each sets dst[i] for i in [0, len(dst)), as AndRef, OrRef and AndNotRef do,
// and touches nothing else. x and y are at least as long; all of any length.

//go:noescape
func andAVX2(dst, x, y []uint64)

//go:noescape
func andAVX512(dst, x, y []uint64)

//go:noescape
func orAVX2(dst, x, y []uint64)

//go:noescape
func orAVX512(dst, x, y []uint64)

//go:noescape
func andNotAVX2(dst, x, y []uint64)

//go:noescape
func andNotAVX512(dst, x, y []uint64)
