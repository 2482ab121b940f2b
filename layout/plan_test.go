package layout_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/layout"
)

// bruteRows is the slow twin of the row count: it adds rows one at a time.
func bruteRows(columns []layout.Column, chunk, maxRows, line int) int {
	rows := 0
	for rows < maxRows {
		sum := 0
		for _, c := range columns {
			n := c.Size * (rows + 1)
			for n%line != 0 {
				n++
			}
			sum += n
		}
		if sum > chunk {
			break
		}
		rows++
	}
	return rows
}

func TestPlanIsMaximal(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 4, 7, 8, 12, 16, 24, 33, 64, 100, 119, 120, 255, 1024, 4097, 8192, 16300}
	for _, a := range sizes {
		for _, b := range sizes {
			for _, line := range []int{64, 128, 256} {
				columns := []layout.Column{
					{Name: "Entity", Size: 8, Align: 8}, {Name: "A", Size: a, Align: 1}, {Name: "B", Size: b, Align: 1},
				}
				plan, err := layout.New(columns, layout.Options{CacheLine: line})
				want := bruteRows(columns, layout.ChunkSize, layout.MaxRows, line)
				if want == 0 {
					require.ErrorIs(t, err, layout.ErrTooBig)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, want, plan.Rows, "I4: sizes 8, %d, %d line %d", a, b, line)
				require.NoError(t, plan.Verify())
			}
		}
	}
}

// TestNewIn makes plans of fewer and more columns in the memory of the plan before, which holds
// what that plan left: each is as New makes it, and takes memory of its own only where it has more
// columns than any before.
func TestNewIn(t *testing.T) {
	all := []layout.Column{{Name: "Entity", Size: 8, Align: 8}, {Name: "A", Size: 12, Align: 4},
		{Name: "Tag", Align: 1},
		{Name: "B", Size: 1, Align: 1, Enableable: true}, {Name: "C", Size: 64, Align: 8}}
	var places []layout.Placement
	for _, n := range []int{2, 1, 4, 0, 3, 5, 2, 5} {
		want, err := layout.New(all[:n], layout.Options{})
		require.NoError(t, err)
		got, err := layout.NewIn(places, all[:n], layout.Options{})
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String())
		require.Equal(t, append([]layout.Placement{}, want.Places...), append([]layout.Placement{}, got.Places...))
		if cap(places) >= max(n, 1) {
			require.Same(t, &places[:1][0], &got.Places[:1][0])
		}
		places = got.Places
	}
	_, err := layout.NewIn(places, []layout.Column{{Name: "Huge", Size: 1 << 20, Align: 8}}, layout.Options{})
	require.ErrorIs(t, err, layout.ErrTooBig)
}

func TestPlanOptions(t *testing.T) {
	columns := []layout.Column{
		{Name: "Entity", Size: 8, Align: 8}, {Name: "Position", Size: 16, Align: 8}, {Name: "Velocity", Size: 16, Align: 8},
	}
	original, err := layout.New(columns, layout.Options{MaxRows: 128, CacheLine: 64})
	require.NoError(t, err)
	require.Equal(t, 128, original.Rows, "the layout of the original")
	require.NoError(t, original.Verify(), "the row limit is no breach of I4")
	big, err := layout.New(columns, layout.Options{ChunkSize: 64 << 10, CacheLine: 64})
	require.NoError(t, err)
	require.Equal(t, bruteRows(columns, 64<<10, 4096, 64), big.Rows)
	tag, err := layout.New(columns[:1:1], layout.Options{})
	require.NoError(t, err)
	require.Equal(t, 2048, tag.Rows)
}

func TestPlanRefuses(t *testing.T) {
	one := []layout.Column{{Name: "A", Size: 4, Align: 4}}
	for name, c := range map[string]struct {
		columns []layout.Column
		o       layout.Options
		is      error
		text    string
	}{
		"row too big": {[]layout.Column{{Name: "Entity", Size: 8, Align: 8}, {Name: "Blob", Size: 16380, Align: 1}},
			layout.Options{CacheLine: 64}, layout.ErrTooBig,
			"layout: New: one row needs 16448 bytes in whole cache lines, a chunk has 16384; Blob alone is 16380 bytes: row does not fit a chunk"},
		"column too big": {[]layout.Column{
			{Name: "Entity", Size: 8, Align: 8}, {Name: "Blob", Size: math.MaxInt, Align: 1},
		}, layout.Options{CacheLine: 64}, layout.ErrTooBig,
			"layout: New: Blob alone is 9223372036854775807 bytes, a chunk has 16384: row does not fit a chunk"},
		"odd size": {[]layout.Column{{Name: "A", Size: 3, Align: 2}}, layout.Options{CacheLine: 64}, layout.ErrColumn,
			"layout: New: column A has size 3 and alignment 2; want a power of two in 1..64 and a multiple of it: invalid layout"},
		"huge":           {[]layout.Column{{Name: "Blob", Size: math.MaxInt, Align: 1}}, layout.Options{}, layout.ErrTooBig, ""},
		"negative size":  {[]layout.Column{{Name: "A", Size: -1, Align: 1}}, layout.Options{}, layout.ErrColumn, ""},
		"align 3":        {[]layout.Column{{Name: "A", Size: 4, Align: 3}}, layout.Options{}, layout.ErrColumn, ""},
		"chunk 1":        {one, layout.Options{ChunkSize: 1}, layout.ErrColumn, ""},
		"chunk 2 MiB":    {one, layout.Options{ChunkSize: 2 << 20}, layout.ErrColumn, ""},
		"chunk odd":      {one, layout.Options{ChunkSize: 17 << 10}, layout.ErrColumn, ""},
		"row limit":      {one, layout.Options{MaxRows: 4097}, layout.ErrColumn, "layout: New: row limit 4097 is not in 1..4096: invalid layout"},
		"row limit -1":   {one, layout.Options{MaxRows: -1}, layout.ErrColumn, ""},
		"cache line 32":  {one, layout.Options{CacheLine: 32}, layout.ErrColumn, ""},
		"cache line 100": {one, layout.Options{CacheLine: 100}, layout.ErrColumn, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := layout.New(c.columns, c.o)
			require.ErrorIs(t, err, c.is)
			if c.text != "" {
				require.EqualError(t, err, c.text)
			}
		})
	}
}

// TestNarrow takes columns out of a plan: those that stay keep their places.
func TestNarrow(t *testing.T) {
	wide, err := layout.New([]layout.Column{{Name: "Entity", Size: 8, Align: 8}, {Name: "A", Size: 16, Align: 8},
		{Name: "Label", Align: 1}, {Name: "B", Size: 4, Align: 4, Enableable: true}, {Name: "C", Size: 100, Align: 4}}, layout.Options{CacheLine: 64})
	require.NoError(t, err)
	require.Equal(t, 128, wide.RowSize)
	less := wide.Narrow([]int{0, wide.Places[4].Offset}, []layout.Column{{Name: "Other", Align: 1}})
	require.NoError(t, less.Verify())
	require.Equal(t, []int{wide.Rows, 108, 108 * wide.Rows, wide.Free()}, []int{
		less.Rows, less.RowSize, less.Used(), less.Free(),
	})
	var names []string
	for _, p := range less.Places {
		names = append(names, fmt.Sprint(p.Name, p.Offset, p.Hole))
	}
	at := func(i int) int { return wide.Places[i].Offset }
	require.Equal(t, []string{"Entity0 false", fmt.Sprint("A", at(1), true), fmt.Sprint("B", at(3), true),
		fmt.Sprint("C", at(4), false), fmt.Sprint("Other", at(4)+wide.Places[4].Bytes, false)}, names)
	versions, masks := less.Beside()
	require.Equal(t, []int{12, 0}, []int{versions, masks})
	require.Contains(t, less.String(), fmt.Sprintf("hole, as wide as A %d x 16 B\n", wide.Rows))
	again := less.Narrow([]int{0}, nil)
	require.NoError(t, again.Verify())
	require.Equal(t, []int{8, 4}, []int{again.RowSize, len(again.Places)}, "holes stay")
	require.Len(t, wide.Places, 5, "the first plan is as it was")
	require.False(t, wide.Places[1].Hole)
}

// TestVerifyNamesTheInvariant corrupts a plan in one way per invariant.
func TestVerifyNamesTheInvariant(t *testing.T) {
	for name, corrupt := range map[string]func(p *layout.Plan){
		"I1": func(p *layout.Plan) { p.Places[1].Offset += 64 },
		"I2": func(p *layout.Plan) { p.CacheLine = 48 },
		"I3": func(p *layout.Plan) { p.ChunkSize = 8192 },
		"I4": func(p *layout.Plan) { p.ChunkSize *= 2 },
	} {
		p, err := layout.New([]layout.Column{{Name: "Entity", Size: 8, Align: 8}, {Name: "A", Size: 16, Align: 8}},
			layout.Options{CacheLine: 64})
		require.NoError(t, err)
		require.NoError(t, p.Verify())
		corrupt(&p)
		require.ErrorContains(t, p.Verify(), "layout: "+name+":", name)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(uint16(16), uint16(16), uint16(0), uint8(0))
	f.Add(uint16(1), uint16(8192), uint16(12), uint8(2))
	f.Fuzz(func(t *testing.T, a, b, c uint16, lineLog uint8) {
		line := 64 << (lineLog % 3)
		columns := []layout.Column{{Name: "Entity", Size: 8, Align: 8}, {Name: "A", Size: int(a), Align: 1},
			{Name: "B", Size: int(b), Align: 1}, {Name: "C", Size: int(c), Align: 1}}
		plan, err := layout.New(columns, layout.Options{CacheLine: line})
		want := bruteRows(columns, layout.ChunkSize, layout.MaxRows, line)
		if err != nil {
			if want != 0 {
				t.Fatalf("got %v want %d rows", err, want)
			}
			return
		}
		if plan.Rows != want {
			t.Fatalf("I4: got %d rows want %d", plan.Rows, want)
		}
		if err := plan.Verify(); err != nil {
			t.Fatal(err)
		}
	})
}
