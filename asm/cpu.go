package asm

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// How a level is chosen.
//
//	offered (CPU, OS, build)  ->  QUARRY_SIMD may lower it  ->  best
//
//	I1 best is written once, while the package's variables are initialized, and never again, so
//	   no kernel needs an atomic load to read it.
//	I2 best <= offered. No setting of a user can select code that the CPU or the operating
//	   system cannot run.
//	I3 In builds with the purego or race tag, and on CPUs without kernels, best is the constant
//	   Go; the compiler then drops the other branches.
//	I4 A kernel that needs more than its level (VPOPCNTDQ, VBMI2) also tests a variable of its
//	   own, which is false at every lower level.
//
// The CPU's report alone is not enough: an operating system that does not save the wide registers
// at a context switch would corrupt them. The feature bits of cpuid/v2 already account for that.
// AVX and AVX2 are set only if OSXSAVE is on and XGETBV shows XMM and YMM state; the AVX-512 bits
// are set only if XGETBV shows the opmask and ZMM state as well. macOS enables ZMM state at first
// use; there the bits are set if the kernel reports that it will.

// envLevel is the name of the environment variable that lowers the level. It is read once, before
// main.
const envLevel = "QUARRY_SIMD"

// envLine is the name of the environment variable that overrides the length of cache lines, 64, 128
// or 256 bytes: for CPUs that do not report it, and to see how columns are laid out on another CPU.
// Any other value is ignored. It is read once, before main.
const envLine = "QUARRY_LINE"

// ErrLevel is wrapped by the error of LevelError.
var ErrLevel = errors.New("asm: level not as asked for")

// Level is the set of instructions that the kernels use. Among levels of one architecture a greater
// value includes the smaller ones.
type Level uint8

const (
	Go     Level = iota // no assembly
	AVX2                // amd64: 256-bit vectors
	AVX512              // amd64: 512-bit vectors and masks (F, BW, DQ and VL)
	NEON                // arm64: 128-bit vectors; Axpy, FirstNotFull and PopCount use them, the others run Go
)

// includes reports whether code for level l runs where offered is the highest level.
func (offered Level) includes(l Level) bool {
	return l == Go || l == offered || l == AVX2 && offered == AVX512
}

// String returns the name of the level that QUARRY_SIMD accepts.
func (l Level) String() string {
	switch l {
	case Go:
		return "go"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// Best returns the level that the kernels use. It does not change while the program runs.
func Best() Level { return best }

// LevelError returns an error that wraps ErrLevel if the environment variable QUARRY_SIMD requested
// something that was not granted: a word that names no level, or a level above what this build
// offers on this CPU. The word was then ignored. Otherwise LevelError returns nil.
func LevelError() error { return levelErr }

// choose lowers offered to the level that word names. An empty word leaves offered unchanged.
func choose(offered Level, word string) (Level, error) {
	if word == "" {
		return offered, nil
	}
	for _, l := range []Level{Go, AVX2, AVX512, NEON} {
		if l.String() != word {
			continue
		}
		if !offered.includes(l) {
			return offered, fmt.Errorf("%w: %s=%q, but this build offers %q on this CPU at most; using that",
				ErrLevel, envLevel, word, offered)
		}
		return l, nil
	}
	return offered, fmt.Errorf("%w: %s=%q is unknown; set it to go, avx2, avx512 or neon; using %q",
		ErrLevel, envLevel, word, offered)
}

// CPUName returns the CPU's name for itself, for example "Intel(R) Xeon(R) Platinum 8481C CPU @
// 2.70GHz", or the architecture's name when the CPU reports none. It is meant for reports, not for
// decisions.
func CPUName() string {
	if name := strings.TrimSpace(cpuid.CPU.BrandName); name != "" {
		return name
	}
	return runtime.GOARCH
}

// CacheLine returns the size in bytes of a cache line of this CPU, or the size that QUARRY_LINE
// gives: a power of two from 64 to 256. It does not change while the program runs, and does not
// depend on build tags. Code that needs a constant (padding inside a struct) should use
// golang.org/x/sys/cpu.CacheLinePad instead.
func CacheLine() int { return line }

// line is written once, before main.
var line = lineOf(os.Getenv(envLine), lineSize(runtime.GOOS, runtime.GOARCH, cpuid.CPU.CacheLine))

// lineOf returns the size that word names, or else size.
func lineOf(word string, size int) int {
	for _, n := range []int{64, 128, 256} {
		if word == strconv.Itoa(n) {
			return n
		}
	}
	return size
}

// lineSize turns what cpuid reports into a size that column layouts can rely on. An unknown size
// counts as 64, the size of nearly all CPUs, except as 128 on arm64, where both exist (Apple's and
// some servers' lines have 128 bytes): a line taken too long wastes a little padding, a line taken
// too short lets two cores share it.
//
// On arm64 cpuid/v2 detects only on Apple's systems; everywhere else it returns a hard-coded 64,
// which is no information and is treated as unknown. An odd size is rounded up to a power of two,
// then clamped: below 64 columns would not be aligned for 512-bit vectors, above 256 no CPU is
// known.
func lineSize(goos, goarch string, reported int) int {
	unknown := 64
	if goarch == "arm64" {
		unknown = 128
		if goos != "darwin" && goos != "ios" {
			reported = 0
		}
	}
	if reported <= 0 {
		return unknown
	}
	size := 64
	for size < reported && size < 256 {
		size *= 2
	}
	return size
}
