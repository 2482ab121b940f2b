//go:build !purego && !race

package asm

// Each adds the columns of all pairs in order and touches nothing else. Each X is
// at least as long as its Dst; all of any length.

//go:noescape
func addAllAVX2F32(pairs []Pair[float32])

//go:noescape
func addAllAVX2F64(pairs []Pair[float64])

//go:noescape
func addAllAVX512F32(pairs []Pair[float32])

//go:noescape
func addAllAVX512F64(pairs []Pair[float64])
