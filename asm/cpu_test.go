package asm_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/asm"
)

func TestChoose(t *testing.T) {
	const unknown = "; set it to go, avx2, avx512 or neon; using "
	for _, c := range []struct {
		offered asm.Level
		word    string
		want    asm.Level
		err     string // behind the sentinel's text
	}{
		{asm.AVX512, "", asm.AVX512, ""},
		{asm.AVX512, "avx512", asm.AVX512, ""},
		{asm.AVX512, "avx2", asm.AVX2, ""},
		{asm.AVX512, "go", asm.Go, ""},
		{asm.AVX2, "", asm.AVX2, ""},
		{asm.AVX2, "avx2", asm.AVX2, ""},
		{asm.AVX2, "go", asm.Go, ""},
		{asm.Go, "", asm.Go, ""},
		{asm.Go, "go", asm.Go, ""},
		{asm.AVX2, "avx512", asm.AVX2,
			`QUARRY_SIMD="avx512", but this build offers "avx2" on this CPU at most; using that`},
		{asm.Go, "avx2", asm.Go,
			`QUARRY_SIMD="avx2", but this build offers "go" on this CPU at most; using that`},
		{asm.AVX512, "AVX2", asm.AVX512, `QUARRY_SIMD="AVX2" is unknown` + unknown + `"avx512"`},
		{asm.AVX2, "neon", asm.AVX2,
			`QUARRY_SIMD="neon", but this build offers "avx2" on this CPU at most; using that`},
		{asm.NEON, "avx2", asm.NEON,
			`QUARRY_SIMD="avx2", but this build offers "neon" on this CPU at most; using that`},
		{asm.NEON, "", asm.NEON, ""},
		{asm.NEON, "neon", asm.NEON, ""},
		{asm.NEON, "go", asm.Go, ""},
		{asm.AVX2, "sse", asm.AVX2, `QUARRY_SIMD="sse" is unknown` + unknown + `"avx2"`},
		{asm.Go, " go", asm.Go, `QUARRY_SIMD=" go" is unknown` + unknown + `"go"`},
	} {
		got, err := asm.Choose(c.offered, c.word)
		assert.Equal(t, c.want, got, "offered %v, word %q", c.offered, c.word)
		if c.err == "" {
			assert.NoError(t, err, "offered %v, word %q", c.offered, c.word)
			continue
		}
		assert.ErrorIs(t, err, asm.ErrLevel)
		assert.EqualError(t, err, asm.ErrLevel.Error()+": "+c.err)
	}
}

func TestLevelNames(t *testing.T) {
	for l, want := range map[asm.Level]string{
		asm.Go: "go", asm.AVX2: "avx2", asm.AVX512: "avx512", asm.NEON: "neon", 200: "Level(200)",
	} {
		assert.Equal(t, want, l.String())
	}
}

// wantLevel is what Best must be for a value of QUARRY_SIMD on this machine,
// and whether that value must be reported.
func wantLevel(word string) (want asm.Level, reported bool) {
	hardware := hardwareLevel()
	asked, known := map[string]asm.Level{
		"": hardware, "go": asm.Go, "avx2": asm.AVX2, "avx512": asm.AVX512, "neon": asm.NEON,
	}[word]
	has := asked == asm.Go || asked == hardware || asked == asm.AVX2 && hardware == asm.AVX512
	if !known || !has {
		return hardware, true
	}
	return asked, false
}

// TestLevelSelected runs in whatever environment the test has; CI sets
// QUARRY_SIMD, and this fails if another level than the wanted one was chosen.
func TestLevelSelected(t *testing.T) {
	word := os.Getenv(asm.EnvLevel)
	want, reported := wantLevel(word)
	assert.Equal(t, want, asm.Best(), "%s=%q", asm.EnvLevel, word)
	if reported {
		assert.ErrorIs(t, asm.LevelError(), asm.ErrLevel)
		assert.ErrorContains(t, asm.LevelError(), word)
	} else {
		assert.NoError(t, asm.LevelError())
	}
	t.Logf("%s: level %v, cache line %d", asm.CPUName(), asm.Best(), asm.CacheLine())
}

// EnvRequire names the environment variable in which CI has the level that must have been selected:
// on an emulated CPU, say, that has AVX2 and not AVX-512.
const EnvRequire = "QUARRY_REQUIRE"

// TestLevelRequired fails, and does not skip, where QUARRY_REQUIRE names another
// level than the one that was selected.
func TestLevelRequired(t *testing.T) {
	got := asm.Best().String()
	require.Contains(t, []string{"go", "avx2", "avx512", "neon"}, got)
	if want := os.Getenv(EnvRequire); want != "" {
		require.Equal(t, want, got, "%s asks for a level that was not selected; the hardware has %v",
			EnvRequire, hardwareLevel())
	}
}

// levelTests are the tests that between them call every exported kernel.
var levelTests = []string{"TestAxpyLengths", "TestFirstNotFullPositions", "TestPopCountLengths", "TestSetOpsColumns",
	"TestMatchTables", "TestFillColumns", "TestConsecutive", "TestCompactColumns", "TestArithColumns",
	"TestReduceColumns", "TestFindRunRandom", "TestHashWordsLengths",
	"TestNotEqualLengths"}

// TestLevelForced runs the exported kernels once more per level in a child
// process, where the build has more than one, and TestLevelSelected with them to
// prove the level. A level that the CPU has and that did not run is a failure,
// not a skip.
func TestLevelForced(t *testing.T) {
	const inChild = "QUARRY_ASM_TEST_CHILD"
	if os.Getenv(inChild) != "" {
		t.Skip("this is the child process")
	}
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "ios" {
		t.Skip("this system has no child processes")
	}
	binary, err := os.Executable()
	require.NoError(t, err)
	if err := exec.Command(binary, "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("this program runs on an emulator and cannot start itself")
	}
	seen := map[asm.Level]bool{}
	for _, word := range []string{"", "go", "avx2", "avx512", "neon", "avx9"} {
		t.Run("QUARRY_SIMD="+word, func(t *testing.T) {
			want, _ := wantLevel(word)
			names := []string{"TestLevelSelected"}
			if !seen[want] && hardwareLevel() != asm.Go {
				names = append(names, levelTests...) // once per level, where there are several
			}
			seen[want] = true
			child := exec.Command(binary, "-test.v", "-test.short", "-test.run=^("+
				strings.Join(names, "|")+")$/^(impl=public|op=.*|size=.*)$/^(impl=public|type=.*)$")
			child.Env = append(os.Environ(), asm.EnvLevel+"="+word, EnvRequire+"=", inChild+"=1")
			out, err := child.CombinedOutput()
			require.NoError(t, err, "%s", out)
			for _, name := range names {
				assert.Contains(t, string(out), "--- PASS: "+name)
			}
			assert.Contains(t, string(out), ": level "+want.String()+", cache line")
		})
	}
}

func TestLineSize(t *testing.T) {
	for _, c := range []struct {
		goos, goarch   string
		reported, want int
	}{
		{"linux", "amd64", 64, 64},
		{"linux", "amd64", 0, 64},
		{"linux", "amd64", -1, 64},
		{"linux", "amd64", 32, 64},
		{"linux", "amd64", 65, 128},
		{"linux", "amd64", 128, 128},
		{"linux", "amd64", 200, 256},
		{"linux", "amd64", 256, 256},
		{"linux", "amd64", 4096, 256},
		{"linux", "arm64", 64, 128}, // hard-coded by cpuid, no information
		{"windows", "arm64", 64, 128},
		{"freebsd", "arm64", 64, 128},
		{"darwin", "arm64", 128, 128},
		{"darwin", "arm64", 64, 64},
		{"ios", "arm64", 128, 128},
		{"darwin", "arm64", 0, 128},
		{"js", "wasm", 0, 64},
		{"linux", "s390x", 256, 256},
	} {
		assert.Equal(t, c.want, asm.LineSize(c.goos, c.goarch, c.reported), "%+v", c)
	}
}

func TestLineOf(t *testing.T) {
	for word, want := range map[string]int{"64": 64, "128": 128, "256": 256,
		"": 77, "0": 77, "32": 77, "100": 77, "512": 77, " 64": 77, "064": 77, "off": 77} {
		assert.Equal(t, want, asm.LineOf(word, 77), "%q", word)
	}
}

func TestCacheLineAndName(t *testing.T) {
	line := asm.CacheLine()
	assert.Contains(t, []int{64, 128, 256}, line)
	assert.Equal(t, asm.LineOf(os.Getenv(asm.EnvLine), line), line, "%s is followed", asm.EnvLine)
	assert.NotEmpty(t, asm.CPUName())
}
