package main

import (
	"fmt"
	"io"
	"runtime"

	"quarry/alloc"
	"quarry/asm"
	"quarry/mmap"
)

// printMachine says what the program found: what its figures depend on.
func printMachine(w io.Writer) error {
	u, err := alloc.NewUniverse()
	if err != nil {
		return err
	}
	defer u.Close()
	fmt.Fprintf(w, "cpu        %s, %d of %d cores, %s %s/%s\n",
		asm.CPUName(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(w, "vectors    %v, cache line %d B\n", asm.Best(), asm.CacheLine())
	if err := asm.LevelError(); err != nil {
		fmt.Fprintf(w, "           %v\n", err)
	}
	huge := "unknown"
	if n := mmap.HugePageSize(); n > 0 {
		huge = fmt.Sprintf("%d B", n)
	}
	backing := "the operating system"
	if !mmap.Real {
		backing = "the Go heap"
	}
	fmt.Fprintf(w, "pages      %d B, huge %s, from %s\n", mmap.PageSize(), huge, backing)
	fmt.Fprintf(w, "universe   %s of address space, %d chunks of %d B\n", size(int64(u.Size())), u.Size()/alloc.ChunkSize, alloc.ChunkSize)
	if wanted := u.Shrunk(); wanted > 0 {
		fmt.Fprintf(w, "           smaller than the %s wanted: limits forbid it (see ulimit -v)\n", size(int64(wanted)))
	}
	return nil
}

// size prints bytes with three figures and a binary unit.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.4g %s", v, units[i])
}
