package wrap_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/internal/debug"
	"quarry/mmap"
)

// misuseMode is a column of the table in docs/memory.md.
type misuseMode struct {
	name string
	here bool // this build has it
	open func(h *alloc.Heap, zone int) alloc.Allocator
}

var misuseModes = []misuseMode{
	{"heap", !debug.On, bare},
	{"heap, debug", debug.On, bare},
	{"Track", !debug.On, func(h *alloc.Heap, _ int) alloc.Allocator { return wrap.NewTrack(h, "misuse") }},
	{"Zero", !debug.On, func(h *alloc.Heap, _ int) alloc.Allocator { return wrap.NewZero(h, wrap.Wipe()) }},
	{"Guard", mmap.Guards() != mmap.GuardNone, func(h *alloc.Heap, zone int) alloc.Allocator {
		return wrap.NewGuard(h, wrap.Zone(zone))
	}},
	{"Guard, canaries", true, func(h *alloc.Heap, zone int) alloc.Allocator {
		return wrap.NewGuard(h, wrap.Zone(max(zone, 256)), wrap.Canaries())
	}},
}

func bare(h *alloc.Heap, _ int) alloc.Allocator { return h }

// room is a universe for one case. The case has 8 MiB in the middle of it; what is
// before and behind is ready memory that is nobody's, so that no wild write leaves it.
type room struct {
	t    *testing.T
	a    alloc.Allocator
	seen int // so that reads are not dead
}

const (
	roomSize = 16 << 20
	roomEdge = 4 // MiB on both sides
)

func (r *room) open(mode misuseMode, zone int) (shut func()) {
	u, err := alloc.NewUniverse(alloc.Size(roomSize), alloc.Retain(roomSize), alloc.PurgeAfter(time.Hour))
	require.NoError(r.t, err)
	var runs []alloc.ChunkIndex
	for range roomSize / alloc.MegachunkSize {
		first, err := u.AllocExact(alloc.ChunksPerMegachunk)
		require.NoError(r.t, err)
		runs = append(runs, first)
	}
	slices.Sort(runs)
	for _, first := range runs[roomEdge : len(runs)-roomEdge] {
		u.Free(first, alloc.ChunksPerMegachunk)
	}
	h, err := alloc.NewHeap(u)
	require.NoError(r.t, err)
	r.a = mode.open(h, zone)
	return func() {
		for a := range chain(r.a) {
			if c, ok := a.(interface{ Close() error }); ok {
				if err := c.Close(); err != nil {
					require.True(r.t, errors.Is(err, alloc.ErrLeak) || errors.Is(err, wrap.ErrDamage), "%v", err)
				}
			}
		}
		for _, first := range slices.Concat(runs[:roomEdge], runs[len(runs)-roomEdge:]) {
			u.Free(first, alloc.ChunksPerMegachunk)
		}
		require.NoError(r.t, u.Close())
	}
}

// chain yields an allocator and those inside it.
func chain(a alloc.Allocator) func(yield func(alloc.Allocator) bool) {
	return func(yield func(alloc.Allocator) bool) {
		for a != nil && yield(a) {
			w, ok := a.(interface{ Unwrap() alloc.Allocator })
			if !ok {
				return
			}
			a = w.Unwrap()
		}
	}
}

// outcome is what becomes of a case, in a word of docs/memory.md.
func (r *room) outcome(do func(r *room, size int) string, size int) (word string) {
	defer func() {
		if value := recover(); value != nil {
			text, ok := value.(string)
			// Zero requests a resize to the same size before it wipes.
			if !ok || !strings.Contains(text, ".FreeSized: ") && !strings.Contains(text, ".ResizeSized: ") {
				panic(value)
			}
			word = "free"
		}
	}()
	run := mmap.Guarded
	if g, ok := r.a.(interface{ Run(func()) error }); ok {
		run = g.Run
	}
	if err := run(func() { word = do(r, size) }); err != nil {
		require.ErrorIs(r.t, err, mmap.ErrFault)
		return "fault"
	}
	if word != "" {
		return word
	}
	for a := range chain(r.a) {
		if v, ok := a.(interface{ Verify() error }); ok && v.Verify() != nil {
			return "Verify"
		}
	}
	return "-"
}

// TestMisuse makes each misuse of docs/memory.md, in each way that this build has, and checks
// whether it is caught as the page states.
func TestMisuse(t *testing.T) {
	heading, rows := misuseTable(t)
	require.Len(t, misuses, 42)
	require.Len(t, rows, len(misuses))
	for i, m := range misuses {
		require.Equal(t, m.name, rows[i]["case"])
		for _, mode := range misuseModes {
			require.Contains(t, heading, mode.name)
			if !mode.here {
				continue
			}
			t.Run(m.name+"/"+mode.name, func(t *testing.T) {
				var words []string
				sizes, want := misuseSizes(), strings.Split(rows[i][mode.name], "/")
				if testing.Short() {
					sizes, want = sizes[:1], want[:1]
				}
				for _, size := range sizes {
					r := &room{t: t}
					shut := r.open(mode, m.zone)
					words = append(words, r.outcome(m.do, size))
					shut()
				}
				if same := slices.Compact(slices.Clone(words)); len(same) == 1 {
					words = same
				}
				require.Equal(t, want, words)
			})
		}
	}
}

// TestMisuseVerdict: the verdicts of the table follow from its columns.
func TestMisuseVerdict(t *testing.T) {
	_, rows := misuseTable(t)
	for _, row := range rows {
		caught := func(column string) bool { return !slices.Contains(strings.Split(row[column], "/"), "-") }
		want := "not"
		switch {
		case caught("heap") && caught("heap, debug"):
			want = "always"
		case caught("heap, debug"):
			want = "debug"
		case caught("Guard"):
			want = "Guard"
		}
		require.Equal(t, want, row["verdict"], row["case"])
	}
}

// misuseTable reads the table of docs/memory.md: its heading, and a map by heading for
// each row.
func misuseTable(t *testing.T) (heading []string, rows []map[string]string) {
	text, err := os.ReadFile("../../docs/memory.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			heading = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case heading == nil && cells[0] == "case":
			heading = cells
		case heading == nil || strings.HasPrefix(cells[0], "--"):
		default:
			row := map[string]string{}
			require.Len(t, cells, len(heading), line)
			for i, cell := range cells {
				row[heading[i]] = cell
			}
			rows = append(rows, row)
		}
	}
	return heading, rows
}
