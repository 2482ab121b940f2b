// Package vectors has loops over the columns of a query, in plain Go and by Go's own vectors, an
// experiment: package simd of Go 1.27, portable, or simd/archsimd of Go 1.26, for amd64:
//
//	go test ./ecs/examples/vectors                                      plain Go
//	GOEXPERIMENT=simd go test ./ecs/examples/vectors                    both, compared
//	GOEXPERIMENT=simd go test -bench . ./ecs/examples/vectors           both, timed
//	GOAMD64=v3 go test -bench . ./ecs/examples/vectors                  what newer instructions give
//
// What the kernels of package asm do needs no experiment; this is for loops that they do not have.
package vectors
