package micro

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/curve"
)

// One function for each table, so that benchstat sees BenchmarkQuery/n=1000/way=slices.
func BenchmarkAdd(b *testing.B)          { add.bench(b) }
func BenchmarkDot(b *testing.B)          { dot.bench(b) }
func BenchmarkFill(b *testing.B)         { fill.bench(b) }
func BenchmarkPopCount(b *testing.B)     { popCount.bench(b) }
func BenchmarkFirstNotFull(b *testing.B) { firstNotFull.bench(b) }
func BenchmarkCompact(b *testing.B)      { compact.bench(b) }
func BenchmarkMatch(b *testing.B)        { match.bench(b) }
func BenchmarkFindRun(b *testing.B)      { findRun.bench(b) }
func BenchmarkOnes(b *testing.B)         { ones.bench(b) }
func BenchmarkLastFree(b *testing.B)     { lastFree.bench(b) }
func BenchmarkPlan(b *testing.B)         { plan.bench(b) }
func BenchmarkTouch(b *testing.B)        { touch.bench(b) }
func BenchmarkChunks(b *testing.B)       { chunks.bench(b) }
func BenchmarkHeap(b *testing.B)         { heap.bench(b) }
func BenchmarkRows(b *testing.B)         { rows.bench(b) }
func BenchmarkRowGet(b *testing.B)       { rowGet.bench(b) }
func BenchmarkQuery(b *testing.B)        { query.bench(b) }
func BenchmarkKernel(b *testing.B)       { kernel.bench(b) }
func BenchmarkGet(b *testing.B)          { get.bench(b) }
func BenchmarkCreate(b *testing.B)       { create.bench(b) }
func BenchmarkCreateN(b *testing.B)      { createBatch.bench(b) }
func BenchmarkDestroy(b *testing.B)      { destroy.bench(b) }
func BenchmarkDestroyAll(b *testing.B)   { destroyBatch.bench(b) }
func BenchmarkAddRemove(b *testing.B)    { addRemove.bench(b) }
func BenchmarkAddRemoveAll(b *testing.B) { addRemoveBatch.bench(b) }
func BenchmarkToggle(b *testing.B)       { toggle.bench(b) }

// bench runs a table. With undo, ns/op covers the steps only.
func (t *table) bench(b *testing.B) {
	for _, n := range t.sizes {
		for i := range t.ways {
			w := &t.ways[i]
			b.Run(fmt.Sprintf("n=%d/way=%s", n, strings.ReplaceAll(w.name, " ", "_")), func(b *testing.B) {
				r, err := w.open(n)
				require.NoError(b, err)
				b.ResetTimer()
				took, err := r.timed(b.N)
				b.StopTimer()
				require.NoError(b, err)
				b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
				b.ReportMetric(r.perOp(took, b.N), "ns/"+t.unit)
				require.NoError(b, r.end())
			})
		}
	}
}

// TestEveryTableHasABenchmark reads the functions above.
func TestEveryTableHasABenchmark(t *testing.T) {
	source, err := os.ReadFile("micro_test.go")
	require.NoError(t, err)
	var have, need []string
	for _, f := range regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`).FindAllSubmatch(source, -1) {
		have = append(have, string(f[1]))
	}
	for _, table := range tables {
		need = append(need, table.name)
	}
	require.Equal(t, need, have)
}

// TestTables: every way gives the right result at small sizes, several times over, and curves that
// can be drawn.
func TestTables(t *testing.T) {
	for _, table := range tables {
		table.sizes = table.upTo(1000)
		points := 0
		c, err := table.curves(100*time.Microsecond, func() { points++ })
		require.NoError(t, err)
		require.Equal(t, len(table.sizes)*len(table.ways), points)
		require.NotEmpty(t, c.What+c.Package+c.XLabel+c.YLabel)
		roofs := 0
		for _, s := range c.Series {
			require.Len(t, s.X, len(table.sizes))
			require.Len(t, s.Y, len(s.X))
			for i := range s.X {
				require.Equal(t, float64(table.sizes[i]), s.X[i])
				require.Positive(t, s.Y[i], "%s %s", c.Name, s.Name)
			}
			if s.Roof {
				roofs++
			}
		}
		require.Equal(t, 1, roofs, "%s has one roof", c.Name)
	}
}

// TestProgressAndWrong: Tables counts its points, and stops at a wrong result.
func TestProgressAndWrong(t *testing.T) {
	before := tables
	t.Cleanup(func() { tables = before })
	small := plan
	small.sizes = []int{1, 2}
	tables = []table{small, small}
	var seen [][2]int
	got, err := Tables(time.Microsecond, func(done, total int) { seen = append(seen, [2]int{done, total}) })
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t,
		curve.Table{Name: "Plan", Package: "layout", What: plan.what, XLabel: "columns", YLabel: "ns per plan",
			Series: got[0].Series}, got[0])
	require.Equal(t, [2]int{1, 8}, seen[0])
	require.Equal(t, [2]int{8, 8}, seen[len(seen)-1])

	small.ways = []way{{name: "liar", build: func(int) (*run, error) {
		return fold(1, func(int) int { return 2 }), nil
	}}}
	tables = []table{small}
	_, err = Tables(time.Microsecond, func(int, int) {})
	require.ErrorIs(t, err, ErrWrong)
	require.ErrorContains(t, err, "micro: Plan/n=1/way=liar: wrong result: result: got 2, want 1")
}

// TestMeasureCountsOnlySteps: the figure leaves out the time of undo, but undo's errors count.
func TestMeasureCountsOnlySteps(t *testing.T) {
	steps, undone := 0, 0
	r := &run{ops: 10,
		pass: func(n int) { steps += n },
		undo: func() error {
			undone++
			time.Sleep(time.Millisecond)
			return nil
		},
		check: func(n int) error { return want("steps", steps, n) },
	}
	ns, err := r.measure(5 * time.Millisecond)
	require.NoError(t, err)
	require.NoError(t, r.end())
	require.Equal(t, steps-1, undone)
	require.Less(t, ns, 50_000.0)

	broken := errors.New("broken")
	r = &run{ops: 1, pass: func(int) {}, undo: func() error { return broken }, check: func(int) error { return nil }}
	_, err = r.measure(time.Millisecond)
	require.ErrorIs(t, err, broken)
}

// TestTwin moves entities about in the plain twin and finds them again.
func TestTwin(t *testing.T) {
	w := &twin{}
	var list []twinEntity
	for i := range 100 {
		e := w.create()
		w.get(e).X = float64(i)
		list = append(list, e)
	}
	for i, e := range list {
		if i%3 == 0 {
			require.True(t, w.remove(e))
			require.False(t, w.remove(e))
		}
		if i%5 == 0 {
			require.True(t, w.destroy(e))
			require.False(t, w.destroy(e))
			require.Nil(t, w.get(e))
		}
	}
	for i, e := range list {
		if i%5 != 0 {
			require.Equal(t, float64(i), w.get(e).X)
			require.Equal(t, i%3 == 0, w.add(e, Velocity{}))
		}
	}
	require.Len(t, w.moving.ids, 80)
	again := w.create()
	require.Equal(t, uint32(3), again.version, "an id is used again with another version")
	w.removeAll()
	w.addAll()
	require.Len(t, w.moving.ids, 81)
	for i, e := range list {
		if i%5 != 0 {
			require.Equal(t, float64(i), w.get(e).X)
		}
	}
}
