package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiled is the program of C; without a compiler the test is skipped.
func compiled(t *testing.T) string {
	t.Helper()
	program, err := compilePeer(t.TempDir())
	if errors.Is(err, errNoPeers) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	return program
}

// callsOf writes a trace for the program of C.
func callsOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := []recording{{name: "calls", path: writeFile(t, filepath.Join(dir, "calls.txt"), someCalls)}}
	require.NoError(t, writeCalls(list, dir))
	return list[0].calls
}

// TestPeerDoesWhatTheGoSideDoes runs all that both can do: the blocks are the same.
func TestPeerDoesWhatTheGoSideDoes(t *testing.T) {
	p := &peer{program: compiled(t)}
	for i := range workloads {
		w := &workloads[i]
		for _, second := range []bool{false, true} {
			if w.args == nil || second && !w.second || testing.Short() && w.long {
				continue
			}
			sp := spec{Workload: w.name, Allocator: "go", Second: second}
			c, err := p.do(p.args(sp, tiny)...)
			require.NoError(t, err)
			require.Empty(t, c.Wrong)
			require.Positive(t, c.Ops)
			require.Positive(t, c.NsPerOp)
			require.Positive(t, c.PeakRSS)
			require.Equal(t, int64(-1), c.GoAllocs)
			g, err := sp.run(tiny)
			require.NoError(t, err)
			for name, v := range g.More {
				if name != "trimmed_mb" && name != "trim_ms" && name != "left_mb" { // a C library may have no such call
					require.Contains(t, c.More, name)
				}
				if name == "live_mb" || name == "live_blocks" {
					require.InEpsilon(t, v, c.More[name], 1e-6, "%s: %s", w.name, name)
				}
			}
		}
	}
}

func TestPeerReplays(t *testing.T) {
	program, calls := compiled(t), callsOf(t)
	for _, p := range []*peer{{program: program}, {program: program, null: true}} {
		s, err := p.do(p.args(spec{Workload: tracesName, Calls: calls}, tiny)...)
		require.NoError(t, err)
		require.Empty(t, s.Wrong)
		require.Positive(t, s.NsPerOp)
		require.Positive(t, s.Ops)
		require.Zero(t, s.Ops%12)
	}
	p := &peer{program: program}
	s, err := p.do(p.args(spec{Workload: tracesName, Calls: calls, Second: true}, tiny)...)
	require.NoError(t, err)
	require.Empty(t, s.Wrong)
	require.Equal(t, 73008.0, s.More["peak_live_bytes"])
	require.Contains(t, s.More, "utilisation")
}

// TestPeerNoticesDefects preloads a malloc that is wrong.
func TestPeerNoticesDefects(t *testing.T) {
	program, calls := compiled(t), callsOf(t)
	for defect, list := range map[string][]spec{
		"TWICE":   {{Workload: "fragment/small"}, {Workload: "huge/16KiB"}, {Workload: "huge/count"}},
		"FORGETS": {{Workload: "growth"}, {Workload: tracesName, Calls: calls}},
		"DIRTY":   {{Workload: tracesName, Calls: calls}},
		"NONE":    {{Workload: "fragment/small"}, {Workload: "growth"}, {Workload: tracesName, Calls: calls}},
	} {
		library := filepath.Join(t.TempDir(), "libdefect.so.1")
		_, err := exec.Command("cc", "-D"+defect, "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", library,
			"testdata/defect.c").Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("skipped: no compiler cc")
		}
		require.NoError(t, err)
		p := &peer{program: program, library: library}
		for _, sp := range list {
			s, err := p.do(p.args(sp, tiny)...)
			require.NoError(t, err, "%s on %s", sp.Workload, defect)
			require.Equal(t, defect != "NONE", s.Wrong != "", "%s on %s: %s", sp.Workload, defect, s.Wrong)
			require.Equal(t, library, s.Library)
		}
	}
}

// TestOpenPeers: an allocator that is not installed is left out, and a line reports that.
func TestOpenPeers(t *testing.T) {
	compiled(t)
	var errs bytes.Buffer
	list := openPeers(t.TempDir(), &errs)
	require.Equal(t, "glibc", list[0].name)
	require.Equal(t, peerNull, list[len(list)-1].name)
	names := map[string]bool{}
	for i := range list {
		names[list[i].name] = true
		require.NotNil(t, list[i].peer)
		require.True(t, list[i].replays())
		require.False(t, workloadNamed("rptest").takes(&list[i]))
		require.Equal(t, list[i].name != peerNull, workloadNamed("growth").takes(&list[i]))
	}
	for _, l := range libraries {
		require.Equal(t, !names[l.name],
			bytes.Contains(errs.Bytes(), []byte(l.name+" is left out: not installed (no "+l.files[0])), l.name)
	}
}

func TestWithoutCompiler(t *testing.T) {
	t.Setenv("CC", "no-such-compiler")
	var errs bytes.Buffer
	require.Empty(t, openPeers(t.TempDir(), &errs))
	require.Contains(t, errs.String(), "memory: allocators of C are left out: not here: ")
	out, all, code := in("-quick", "-only", "growth")
	require.Equal(t, exitOK, code, all)
	require.Regexp(t, `growth +modernc +`, out)
	require.NotContains(t, out, "glibc")
}

// TestFindLibrary: a file that cannot be preloaded is not taken for the library.
func TestFindLibrary(t *testing.T) {
	program, dir := compiled(t), t.TempDir()
	t.Setenv("LD_LIBRARY_PATH", dir)
	const name = "libnosuchmalloc.so.2"
	require.Empty(t, findLibrary(program, []string{name}))
	writeFile(t, filepath.Join(dir, name), "no library")
	require.Empty(t, findLibrary(program, []string{name}))
	_, err := (&peer{program: program, library: filepath.Join(dir, name)}).do("who")
	require.ErrorContains(t, err, "malloc came from ")
}

func TestPeerRefusesBadInput(t *testing.T) {
	p := &peer{program: compiled(t)}
	dir := t.TempDir()
	whole, err := os.ReadFile(callsOf(t))
	require.NoError(t, err)
	for says, args := range map[string][]any{
		"bad arguments":        {"growth", 1},
		"No such file":         {"trace", filepath.Join(dir, "nowhere"), 1},
		"short: not a file of": {"footprint", writeFile(t, filepath.Join(dir, "short"), string(whole[:len(whole)-1]))},
		"magic: not a file of": {"footprint", writeFile(t, filepath.Join(dir, "magic"), "X"+string(whole[1:]))},
		"malloc refused ":      {"growth", int64(1) << 62, int64(1) << 62, 1},
	} {
		_, err := p.do(args...)
		require.ErrorContains(t, err, "peer: exit status 2: ")
		require.ErrorContains(t, err, says)
	}
	_, err = p.start(spec{Workload: tracesName, Allocator: "glibc", Trace: "x", Calls: "nowhere"})
	require.ErrorContains(t, err, "traces x on glibc: peer: exit status 2: nowhere: ")
	_, err = (&peer{program: "/bin/echo"}).do("who")
	require.ErrorContains(t, err, `the program printed "who`)
}

// TestCallsAreLaidOutAsSaid reads a file of calls back.
func TestCallsAreLaidOutAsSaid(t *testing.T) {
	b, err := os.ReadFile(callsOf(t))
	require.NoError(t, err)
	r := newReplay(readCalls(t), nil)
	require.Len(t, b, 40+16*len(r.calls))
	require.Equal(t, callsMagic, string(b[:8]))
	for i, want := range []int{len(r.calls), len(r.blocks), r.peakAt, int(r.peak)} {
		require.Equal(t, uint64(want), binary.LittleEndian.Uint64(b[8+8*i:]))
	}
	for i, c := range r.calls {
		at := b[40+16*i:]
		require.Equal(t, uint32(c.size), binary.LittleEndian.Uint32(at))
		require.Equal(t, c.slot, binary.LittleEndian.Uint32(at[4:]))
		require.Equal(t, uint32(c.align), binary.LittleEndian.Uint32(at[8:]))
		require.Equal(t, byte(c.effect), at[12])
		require.Equal(t, c.zeroed, at[13] == 1)
		require.Zero(t, at[14]|at[15])
	}
	back, err := readReplay(callsOf(t), nil)
	require.NoError(t, err)
	require.Equal(t, r, back)
	for name, text := range map[string]string{
		"short": "QUARRY01", "magic": "X" + string(b[1:]), "cut": string(b[:len(b)-1]), "less": string(b[:len(b)-16]),
	} {
		_, err := readReplay(writeFile(t, filepath.Join(t.TempDir(), name), text), nil)
		require.ErrorContains(t, err, name+": ")
	}
	_, err = readReplay("nowhere", nil)
	require.Error(t, err)
	require.Error(t, newReplay(readCalls(t), nil).writeTo(noRoom{}))
	require.Error(t, writeCalls([]recording{{path: "nowhere"}}, t.TempDir()))
	require.Error(t, writeCalls([]recording{{path: builtIn}}, filepath.Join(t.TempDir(), "nowhere")))
}
