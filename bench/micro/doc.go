// Package micro measures single operations of each package over the number of things that they work
// on, beside a plain Go twin that does the same: the roof.
//
//	go test -run '^$' -bench . ./bench/micro        for benchstat, as BenchmarkQuery/n=1000/way=slices
//	go run ./bench                                  draws them (Tables)
//
// Every way's result is checked after it was measured, against what the operations must have left
// behind; a wrong one fails the benchmark.
//
// Benchmarks inside the packages look closer, at kernels for one CPU and at single words; what is
// here is the exported API, as a caller sees it.
package micro
