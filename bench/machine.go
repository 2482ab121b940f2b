package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"quarry/alloc"
	"quarry/asm"
	"quarry/mmap"
)

// machine lists the facts about the machine that figures depend on, as pairs of a name and a value.
// A name is empty where the previous value continues.
func machine() ([][]string, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, err
	}
	defer u.Close()
	facts := [][]string{
		{"cpu", fmt.Sprintf("%s, %d of %d cores, %s %s/%s",
			asm.CPUName(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{"vectors", fmt.Sprintf("%v, cache line %d B", asm.Best(), asm.CacheLine())},
	}
	if err := asm.LevelError(); err != nil {
		facts = append(facts, []string{"", err.Error()})
	}
	huge := "unknown"
	if n := mmap.HugePageSize(); n > 0 {
		huge = fmt.Sprintf("%d B", n)
	}
	backing := "the operating system"
	if !mmap.Real {
		backing = "the Go heap"
	}
	facts = append(facts,
		[]string{"pages", fmt.Sprintf("%d B, huge %s, from %s", mmap.PageSize(), huge, backing)},
		[]string{"universe", fmt.Sprintf("%s of address space, %d chunks of %d B",
			size(int64(u.Size())), u.Size()/alloc.ChunkSize, alloc.ChunkSize)})
	if wanted := u.Shrunk(); wanted > 0 {
		facts = append(facts, []string{"",
			fmt.Sprintf("smaller than the %s wanted: limits forbid it (see ulimit -v)", size(int64(wanted)))})
	}
	return facts, nil
}

// origin lists what the program runs on and was built from, as far as it is known: system and
// commit, and the modules.
func origin() (facts, modules [][]string) {
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		facts = append(facts, []string{"system", runtime.GOOS + " " + strings.TrimSpace(string(release))})
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	commit := gitCommit()
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && commit == "" {
			commit = s.Value
		}
	}
	if commit != "" {
		facts = append(facts, []string{"Quarry", commit})
	}
	for _, m := range info.Deps {
		if m.Path != "quarry" {
			modules = append(modules, []string{m.Path, m.Version})
		}
	}
	return facts, modules
}

// gitCommit gets the commit of the folder of this file from git, because go run records no commit
// in what it builds. It is empty if there is no git, or no such folder.
func gitCommit() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	out, err := exec.Command("git", "-C", filepath.Dir(file), "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// printMachine prints the facts, one a line.
func printMachine(w io.Writer, facts [][]string) {
	for _, f := range facts {
		fmt.Fprintf(w, "%-10s %s\n", f[0], f[1])
	}
	fmt.Fprintln(w)
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
