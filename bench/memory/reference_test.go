package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/recorded"
)

const referenceHeader = "trace,allocator,ops,ns_per_op_best,mops_per_s,peak_live_bytes," +
	"peak_footprint_bytes,utilisation,corruptions\n"

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestReadReference(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "REFERENCE.csv"), referenceHeader+
		"a/x.zip,one,100,2,500,5000000,6000000,0.8,0\n"+
		"a/x.zip,two,100,4.5,222,5000000,6000000,0.5,0\n"+
		"b,one,10,8,125,400,6000,0.1,0\n"+
		"b,two,10,2,500,400,6000,0.2,0\n")
	ref, err := readReference(path)
	require.NoError(t, err)
	require.Equal(t, []string{"a/x.zip", "b"}, ref.traces)
	require.Equal(t, []string{"one", "two"}, ref.allocators)
	require.Equal(t, figure{100, 5e6, 4.5, 0.5}, ref.rows[[2]string{"a/x.zip", "two"}])
	require.True(t, ref.has("b"))
	require.False(t, ref.has("c"))
	ns := func(f figure) float64 { return f.nsPerOp }
	require.InDelta(t, 4.0, ref.mean("one", ns, false), 1e-12)
	require.InDelta(t, 3.0, ref.mean("two", ns, false), 1e-12)
	require.InDelta(t, 0.5, ref.mean("two", func(f figure) float64 { return f.utilisation }, true), 1e-12)
	require.Zero(t, ref.mean("three", ns, false))
}

func TestReadReferenceErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"", ":1: expected a header line"},
		"column":       {"trace,allocator,ops\n", ":1: expected a column peak_live_bytes"},
		"word":         {referenceHeader + "a,one,100,fast,1,1,1,1,0\n", `:2: column ns_per_op_best: expected a number above 0 and up to 1e+18, got "fast"`},
		"zero":         {referenceHeader + "a,one,0,1,1,1,1,1,0\n", `:2: column ops: expected a number above 0 and up to 1e+18, got "0"`},
		"too large":    {referenceHeader + "a,one,1e19,1,1,1,1,1,0\n", `:2: column ops: expected a number above 0 and up to 1e+18, got "1e19"`},
		"not a number": {referenceHeader + "a,one,1,NaN,1,1,1,1,0\n", `got "NaN"`},
		"long":         {referenceHeader + strings.Repeat("\n", 256<<10), "expected at most 262144 bytes: leave out what is not needed"},
		"fields":       {referenceHeader + "a,one\n", "wrong number of fields"},
		"twice":        {referenceHeader + "a,one,1,1,1,1,1,1,0\na,one,1,1,1,1,1,1,0\n", ":3: a second row of a, one"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, filepath.Join(t.TempDir(), "REFERENCE.csv"), c.text)
			_, err := readReference(path)
			require.ErrorIs(t, err, errReference)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := readReference(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file that is not a REFERENCE.csv is an error with its name; otherwise all figures are above 0.
func FuzzReadReference(f *testing.F) {
	f.Add([]byte(referenceHeader + "a/x.zip,one,100,2,500,5000000,6000000,0.8,0\nb,one,10,8,125,400,6000,0.1,0\n"))
	f.Add([]byte(referenceHeader + "a,one,1e19,1,1,1,1,1,0\n"))
	f.Add([]byte("utilisation,trace,peak_live_bytes,allocator,ops,ns_per_op_best\n1,a,1e308,b,0x1p9,5e-324\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := writeFile(t, filepath.Join(t.TempDir(), "REFERENCE.csv"), string(text))
		ref, err := readReference(path)
		if err != nil {
			require.ErrorIs(t, err, errReference)
			require.ErrorContains(t, err, path)
			return
		}
		require.LessOrEqual(t, len(ref.rows), len(ref.traces)*len(ref.allocators))
		for key, row := range ref.rows {
			require.Positive(t, row.ops, key)
			require.Positive(t, min(row.peak, row.nsPerOp, row.utilisation), key)
		}
	})
}

// TestSharedReference: the file has five traces and four allocators each, and
// the traces are among the recordings.
func TestSharedReference(t *testing.T) {
	folder := recorded.Path(t, "alloc")
	ref, err := readReference(filepath.Join(folder, "REFERENCE.csv"))
	require.NoError(t, err)
	require.Len(t, ref.traces, 5)
	require.Equal(t, []string{"glibc", "jemalloc", "mimalloc", "tcmalloc"}, ref.allocators)
	require.Len(t, ref.rows, 20)
	require.Equal(t, figure{102943, 3256011, 11.69, 0.881}, ref.rows[[2]string{"recorded/cc1.zip", "glibc"}])
	product := 1.0
	for _, v := range []float64{3.88, 3.36, 3.53, 4.01, 5.47} {
		product *= v
	}
	require.InDelta(t, math.Pow(product, 0.2), ref.mean("tcmalloc", func(f figure) float64 { return f.nsPerOp }, false),
		1e-9)
	list, leftOut, err := recordings(folder, false)
	require.NoError(t, err)
	require.Empty(t, leftOut)
	require.Len(t, list, 13)
	for _, name := range ref.traces {
		require.Contains(t, list, recording{name: name, path: filepath.Join(folder, filepath.FromSlash(name))})
	}
	list, leftOut, err = recordings(folder, true)
	require.NoError(t, err)
	require.Len(t, list, 12)
	require.Equal(t, []string{"aosp/surfaceflinger.zip"}, leftOut)
}

func TestDataFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	want := filepath.Join(dir, "shared", "data", "alloc")
	require.NoError(t, os.MkdirAll(want, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	t.Chdir(filepath.Join(dir, "a", "b"))
	t.Setenv("QUARRY_DATA", "")
	found, err := dataFolder()
	require.NoError(t, err)
	require.Equal(t, want, found)
	t.Setenv("QUARRY_DATA", filepath.Join(dir, "shared", "data"))
	found, err = dataFolder()
	require.NoError(t, err)
	require.Equal(t, want, found)
	t.Setenv("QUARRY_DATA", filepath.Join(dir, "nowhere"))
	_, err = dataFolder()
	require.ErrorContains(t, err, "expected a folder that has one named alloc")
}
