// Package micro measures single operations of each package over the number of things that they work
// on, and a plain Go twin that does the same: the roof.
//
//	go test -run '^$' -bench . ./bench/micro        for benchstat, as BenchmarkQuery/n=1000/way=slices
//	go run ./bench                                  draws them (Tables)
//
// The result of every way is checked after the measurement; a wrong result fails the benchmark.
//
// Benchmarks inside the packages look closer, at kernels for one CPU and at single words; this
// package measures the exported API, as a caller sees it.
package micro
