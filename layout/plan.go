package layout

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"quarry/asm"
)

// The plan of one chunk.
//
// Invariants, checked by Verify and by tests:
//
//	I1 Column k occupies [Offset, Offset+Bytes), where Bytes is rows*size rounded up to whole
//	   lines. Columns lie in the given order, holes among them, without gaps.
//	I2 The cache line is a power of two in 64..256. So every Offset is a multiple of it, and of
//	   every alignment that a Go type can have.
//	I3 The last column ends inside the chunk.
//	I4 Rows is maximal: one more row would break I3, or the row limit.
//
// Let all rows have s bytes each and lines have L bytes. A column of elements of s_i bytes is
// padded by at most L - gcd(s_i, L). So the largest row count lies between (chunk - sum of these
// paddings) / s and chunk / s, both rounded down. Bisection closes that gap of a few rows, since
// the bytes needed never fall when a row is added. This also proves I4.

// Limits and defaults of a chunk.
const (
	ChunkSize    = 16 << 10 // default bytes of a chunk
	MaxChunkSize = 1 << 20  // largest chunk: one megachunk
	MaxRows      = 4096     // maximum rows of a chunk: a row is 12 bits of an alloc.Handle
)

// ErrTooBig is wrapped by errors of New when not even one row fits the chunk.
var ErrTooBig = errors.New("row does not fit a chunk")

// ErrColumn is wrapped by errors of New when a column or an option is invalid.
var ErrColumn = errors.New("invalid layout")

// Column describes one array of a chunk.
type Column struct {
	Name  string // for drawings and errors
	Size  int    // bytes of one element; 0 for a tag, which takes no space
	Align int    // alignment of one element in bytes, a power of two

	Enableable bool // each row has a bit that is set while the element is enabled
}

// Placement is a column and its place in the chunk.
type Placement struct {
	Column
	Offset int  // bytes from the start of the chunk; a multiple of the cache line
	Bytes  int  // bytes taken, padded to whole cache lines
	Hole   bool // the column is not in these rows, but in the plan they are narrowed from; see Narrow
}

// Options changes the assumptions of New. The zero value selects the defaults.
type Options struct {
	ChunkSize int // bytes, a power of two in 16 KiB..1 MiB; 0: ChunkSize
	MaxRows   int // row limit in 1..4,096; 0: MaxRows
	CacheLine int // bytes, a power of two in 64..256; 0: the CPU's
}

// Plan is the layout of a chunk.
type Plan struct {
	ChunkSize int         // bytes
	CacheLine int         // bytes
	RowLimit  int         // requested row limit
	Rows      int         // rows of a full chunk
	RowSize   int         // bytes of one row, without padding and holes
	Places    []Placement // one per column, in the order given, and one per hole
}

// New returns the plan with the most rows for the given columns, in their order. An error wraps
// ErrTooBig when one row does not fit, and names the needed size and the largest column. It wraps
// ErrColumn when a column or an option is invalid.
func New(columns []Column, o Options) (Plan, error) { return NewIn(nil, columns, o) }

// NewIn is New for callers that make many plans and keep none: the plan's Places lie in the given
// memory, from its beginning, if its capacity suffices. A plan in that memory is then void.
func NewIn(places []Placement, columns []Column, o Options) (Plan, error) {
	o, err := o.resolve()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{ChunkSize: o.ChunkSize, CacheLine: o.CacheLine, RowLimit: o.MaxRows}
	for _, c := range columns {
		if c.Size < 0 || c.Align < 1 || !isPow2(c.Align) || c.Align > o.CacheLine || c.Size%c.Align != 0 {
			return Plan{},
				fmt.Errorf("layout: New: column %s has size %d and alignment %d; want a power of two in 1..%d and a multiple of it: %w",
					c.Name, c.Size, c.Align, o.CacheLine, ErrColumn)
		}
		p.RowSize += c.Size
	}
	lo, hi := bounds(columns, o) // lo rows fit; hi+1 do not, or exceed the limit
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if need(columns, mid, o.CacheLine) <= o.ChunkSize {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	if lo == 0 {
		return Plan{}, tooBig(columns, o)
	}
	p.Rows, p.Places = lo, slices.Grow(places[:0], len(columns))
	offset := 0
	for _, c := range columns {
		n := alignUp(c.Size*lo, o.CacheLine)
		p.Places = append(p.Places, Placement{Column: c, Offset: offset, Bytes: n})
		offset += n
	}
	return p, nil
}

// Narrow returns the plan of rows that have only some of p's columns, each at its place in p, so
// that chunks of both kinds of rows are laid out alike. It keeps the columns of non-zero size at
// the given offsets and turns the others into holes. Tags have no place of their own: Narrow drops
// the tags of p and appends the given ones.
func (p Plan) Narrow(offsets []int, tags []Column) Plan {
	n, end := p, 0
	n.RowSize, n.Places = 0, nil
	for _, c := range p.Places {
		if c.Size == 0 {
			continue
		}
		if c.Hole = !slices.Contains(offsets, c.Offset); !c.Hole {
			n.RowSize += c.Size
		}
		n.Places, end = append(n.Places, c), c.Offset+c.Bytes
	}
	for _, c := range tags {
		n.Places = append(n.Places, Placement{Column: c, Offset: end})
	}
	return n
}

func (o Options) resolve() (Options, error) {
	if o.ChunkSize == 0 {
		o.ChunkSize = ChunkSize
	}
	if o.MaxRows == 0 {
		o.MaxRows = MaxRows
	}
	if o.CacheLine == 0 {
		o.CacheLine = asm.CacheLine()
	}
	switch {
	case o.ChunkSize < ChunkSize || o.ChunkSize > MaxChunkSize || !isPow2(o.ChunkSize):
		return o, fmt.Errorf("layout: New: chunk of %d bytes; want a power of two in %d..%d: %w",
			o.ChunkSize, ChunkSize, MaxChunkSize, ErrColumn)
	case o.MaxRows < 1 || o.MaxRows > MaxRows:
		return o, fmt.Errorf("layout: New: row limit %d is not in 1..%d: %w", o.MaxRows, MaxRows, ErrColumn)
	case o.CacheLine < 64 || o.CacheLine > 256 || !isPow2(o.CacheLine):
		return o, fmt.Errorf("layout: New: cache line of %d bytes; want a power of two in 64..256: %w",
			o.CacheLine, ErrColumn)
	}
	return o, nil
}

// bounds returns two row counts: lo rows fit, and hi+1 rows do not fit or exceed the limit.
func bounds(columns []Column, o Options) (lo, hi int) {
	size, pad := 0, 0
	for _, c := range columns {
		if c.Size > o.ChunkSize {
			return 0, 0
		}
		if c.Size > 0 {
			size += c.Size
			pad += o.CacheLine - gcdPow2(c.Size, o.CacheLine)
		}
	}
	if size == 0 {
		return o.MaxRows, o.MaxRows
	}
	return min(max(0, (o.ChunkSize-pad)/size), o.MaxRows), min(o.ChunkSize/size, o.MaxRows)
}

// gcdPow2 returns the greatest common divisor of n and a power of two.
func gcdPow2(n, pow2 int) int { return min(n&-n, pow2) }

// need returns the bytes that the columns take with the given number of rows.
func need(columns []Column, rows, line int) int {
	sum := 0
	for _, c := range columns {
		// A size near the top of int would wrap; it is over any chunk anyway.
		sum += alignUp(min(c.Size, 2*MaxChunkSize)*rows, line)
	}
	return sum
}

func tooBig(columns []Column, o Options) error {
	most := 0
	for i, c := range columns {
		if c.Size > columns[most].Size {
			most = i
		}
	}
	if columns[most].Size > o.ChunkSize {
		return fmt.Errorf("layout: New: %s alone is %d bytes, a chunk has %d: %w",
			columns[most].Name, columns[most].Size, o.ChunkSize, ErrTooBig)
	}
	return fmt.Errorf(
		"layout: New: one row needs %d bytes in whole cache lines, a chunk has %d; %s alone is %d bytes: %w",
		need(columns, 1, o.CacheLine), o.ChunkSize, columns[most].Name, columns[most].Size, ErrTooBig)
}

// Used returns the bytes of a full chunk that hold data, without padding and holes.
func (p Plan) Used() int { return p.Rows * p.RowSize }

// Free returns the number of bytes after the last column.
func (p Plan) Free() int {
	if len(p.Places) == 0 {
		return p.ChunkSize
	}
	last := p.Places[len(p.Places)-1]
	return p.ChunkSize - last.Offset - last.Bytes
}

// Beside returns the bytes of Go memory that a chunk costs in addition: change versions of 4 B per
// column, and for every enableable column a mask of one bit per row, in words of 8 B.
func (p Plan) Beside() (versions, masks int) {
	for _, c := range p.Places {
		if c.Hole {
			continue
		}
		versions += 4
		if c.Enableable {
			masks += (p.Rows + 63) / 64 * 8
		}
	}
	return versions, masks
}

// Verify checks the numbered invariants and returns an error that names the first that does not
// hold.
func (p Plan) Verify() error {
	if p.CacheLine < 64 || p.CacheLine > 256 || !isPow2(p.CacheLine) {
		return fmt.Errorf("layout: I2: a cache line of %d bytes is not a power of two in 64..256", p.CacheLine)
	}
	offset := 0
	columns := make([]Column, 0, len(p.Places))
	for _, c := range p.Places {
		columns = append(columns, c.Column)
		if want := alignUp(c.Size*p.Rows, p.CacheLine); c.Offset != offset || c.Bytes != want {
			return fmt.Errorf("layout: I1: column %s is at [%d, +%d), want [%d, +%d)",
				c.Name, c.Offset, c.Bytes, offset, want)
		}
		offset += c.Bytes
	}
	if offset > p.ChunkSize {
		return fmt.Errorf("layout: I3: columns end at %d, the chunk has %d bytes", offset, p.ChunkSize)
	}
	if p.Rows < p.RowLimit && need(columns, p.Rows+1, p.CacheLine) <= p.ChunkSize {
		return fmt.Errorf("layout: I4: %d rows, but %d would fit", p.Rows, p.Rows+1)
	}
	return nil
}

// String returns a drawing of the chunk: one line per column or hole with its offset, bytes of data
// and bytes of padding, low addresses first, and the cost in Go memory.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d B chunk, %d B lines, %d rows of %d B, %.1f %% used\n",
		p.ChunkSize, p.CacheLine, p.Rows, p.RowSize, 100*float64(p.Used())/float64(max(p.ChunkSize, 1)))
	fmt.Fprintf(&b, "offset   bytes     pad  column\n")
	for _, c := range p.Places {
		data, hole := c.Size*p.Rows, ""
		if c.Hole {
			data, hole = 0, "hole, as wide as "
		}
		fmt.Fprintf(&b, "%6d  %6d  %6d  %s%s %d x %d B\n", c.Offset, data, c.Bytes-data, hole, c.Name, p.Rows, c.Size)
	}
	if free := p.Free(); free > 0 {
		fmt.Fprintf(&b, "%6d       -  %6d  free\n", p.ChunkSize-free, free)
	}
	versions, masks := p.Beside()
	fmt.Fprintf(&b, "beside the chunk: %d B of versions, %d B of enable masks\n", versions, masks)
	return b.String()
}

func alignUp(n, align int) int { return (n + align - 1) &^ (align - 1) }

func isPow2(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }
