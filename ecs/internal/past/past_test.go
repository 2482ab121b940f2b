package past_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/past"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

const (
	units    = 24 // of a memory of a test, at most
	pieces   = past.UnitSize / past.PieceSize
	memories = 3
)

func newUniverse(t testing.TB, size int) *universe.Universe {
	t.Helper()
	u, err := universe.New(universe.Size(size))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

// slow is a past of some memories beside whole copies of them.
type slow struct {
	t        *testing.T
	u        *universe.Universe
	p        past.Past
	r        *rand.Rand
	bytes    [memories][]byte
	of       [memories]*past.Memory
	known    [memories][units][pieces]uint64 // number of the latest layer that needs no copy of the piece
	layers   []*slowLayer                    // by rising number
	hog      []universe.ChunkIndex           // what nobody else gets
	lost     int                             // layers that were lost
	resized  int
	restored int
}

// slowLayer is a layer beside copies of all memory at its moment.
type slowLayer struct {
	l      *past.Layer
	copies [memories][]byte
	lacks  [memories][units]bool // units that came later
	lost   bool
}

func newSlow(t *testing.T, seed uint64, size int) *slow {
	s := &slow{t: t, u: newUniverse(t, size), r: rand.New(rand.NewPCG(seed, 1))}
	s.p.Open(s.u)
	for i := range memories - 1 {
		s.add(i)
	}
	return s
}

// addLast adds the last memory, of which layers that there are have nothing.
func (s *slow) addLast() {
	const i = memories - 1
	s.add(i)
	for _, l := range s.layers {
		for unit := range units {
			l.lacks[i][unit] = true
		}
	}
	for unit := range units {
		s.know(i, unit, 0, past.UnitSize)
	}
}

// know notes that no layer needs a copy of some bytes of a unit, and returns the earliest that did
// not need one.
func (s *slow) know(i, unit, from, n int) (since uint64) {
	since = s.newest()
	for p := from / past.PieceSize; p <= (from+n-1)/past.PieceSize; p++ {
		since = min(since, s.known[i][unit][p])
		s.known[i][unit][p] = max(s.known[i][unit][p], s.newest())
	}
	return since
}

func (s *slow) add(i int) {
	s.bytes[i] = make([]byte, (units/2+i)*past.UnitSize)
	s.of[i] = s.p.Add(unsafe.Pointer(&s.bytes[i][0]), len(s.bytes[i]))
}

func (s *slow) newest() uint64 {
	if len(s.layers) == 0 {
		return 0
	}
	return s.layers[len(s.layers)-1].l.Number()
}

// some returns a memory and one of its units.
func (s *slow) some() (i, unit int) {
	for i = s.r.IntN(memories); s.of[i] == nil; i = s.r.IntN(memories) {
	}
	return i, s.r.IntN(len(s.bytes[i]) / past.UnitSize)
}

// full reports whether the universe has no chunk for a copy.
func (s *slow) full() bool {
	c, err := s.u.AllocExact(1)
	if err == nil {
		s.u.Free(c, 1)
	}
	return err != nil
}

// beforeWrite calls BeforeWrite of some bytes of a unit, and notes which layers are lost by that:
// those that lack the bytes, and perhaps others, if the unit was written before.
func (s *slow) beforeWrite(i, unit, from, n int) {
	refused := s.full() && s.newest() > 0 && !s.p.Newest().Has(s.of[i], unit)
	known := s.know(i, unit, from, n)
	s.of[i].BeforeWrite(unsafe.Add(s.of[i].Base(), unit*past.UnitSize+from), n)
	if !refused || s.newest() <= known {
		return
	}
	for _, l := range s.layers {
		switch gone := l.l.Err() != nil; {
		case l.lost:
		case l.l.Number() > known:
			require.True(s.t, gone, "layer %d", l.l.Number())
			fallthrough
		case gone:
			l.lost = true
			s.lost++
		}
	}
}

// write writes some bytes, of one unit or over a border.
func (s *slow) write() {
	i, unit := s.some()
	at := unit*past.UnitSize + s.r.IntN(past.UnitSize)
	end := min(at+1+s.r.IntN(2*past.UnitSize>>(4*s.r.IntN(3))), len(s.bytes[i]))
	for from := at; from < end; {
		n := min(past.UnitSize-from%past.UnitSize, end-from)
		s.beforeWrite(i, from/past.UnitSize, from%past.UnitSize, n)
		from += n
	}
	s.of[i].BeforeWrite(unsafe.Pointer(&s.bytes[i][at]), end-at)
	for ; at < end; at += 1 + s.r.IntN(past.UnitSize/4) {
		s.bytes[i][at] = byte(s.r.Uint32())
	}
}

// replace lets some units be of no layer that there is.
func (s *slow) replace() {
	i, unit := s.some()
	n := min(1+s.r.IntN(3), len(s.bytes[i])/past.UnitSize-unit)
	for _, l := range s.layers {
		for at := unit; at < unit+n; at++ {
			l.lacks[i][at] = true
		}
	}
	s.of[i].Born(s.of[i].Address(unit), n*past.UnitSize)
	for at := unit; at < unit+n; at++ {
		s.know(i, at, 0, past.UnitSize)
		s.bytes[i][at*past.UnitSize] = byte(s.r.Uint32())
	}
}

// resize moves a memory and gives it another size.
func (s *slow) resize() {
	i, _ := s.some()
	have, want := len(s.bytes[i])/past.UnitSize, 1+s.r.IntN(units)
	for unit := want; unit < have; unit++ {
		s.beforeWrite(i, unit, 0, past.UnitSize)
	}
	s.resizeTo(i, want*past.UnitSize)
	s.resized++
}

func (s *slow) resizeTo(i, size int) {
	have, want := len(s.bytes[i])/past.UnitSize, size/past.UnitSize
	for unit := have; unit < want; unit++ {
		for _, l := range s.layers {
			if len(l.copies[i]) <= unit*past.UnitSize {
				l.lacks[i][unit] = true
			}
		}
	}
	s.of[i].Resize(func() (unsafe.Pointer, int) {
		next := make([]byte, size)
		copy(next, s.bytes[i])
		s.bytes[i] = next
		return unsafe.Pointer(&next[0]), size
	})
	require.Equal(s.t, want, s.of[i].Units())
}

func (s *slow) begin() {
	l := &slowLayer{l: s.p.Begin()}
	for i := range s.bytes {
		if s.of[i] != nil {
			l.copies[i] = bytes.Clone(s.bytes[i])
		}
	}
	s.layers = append(s.layers, l)
}

// has reports whether a layer has a unit, and returns it.
func (l *slowLayer) has(i, unit int) ([]byte, bool) {
	at := unit * past.UnitSize
	if at >= len(l.copies[i]) || l.lacks[i][unit] {
		return nil, false
	}
	return l.copies[i][at : at+past.UnitSize], true
}

// look compares all units of a layer with its copies.
func (s *slow) look(l *slowLayer) {
	require.Equal(s.t, l.lost, l.l.Err() != nil, "layer %d: %v", l.l.Number(), l.l.Err())
	got := make([]byte, past.UnitSize)
	for i, m := range s.of {
		for unit := range units {
			want, has := l.has(i, unit)
			switch {
			case !has:
				continue
			case l.lost: // which units are right nobody knows
				require.ErrorIs(s.t, l.l.Read(m, unit, got), sentinel.ErrFull)
				if _, written, err := l.l.Old(m, unit); written {
					require.ErrorIs(s.t, err, sentinel.ErrFull)
				}
				continue
			}
			require.NoError(s.t, l.l.Read(m, unit, got))
			require.True(s.t, bytes.Equal(want, got), "layer %d, memory %d, unit %d", l.l.Number(), i, unit)
			old, written, err := l.l.Old(m, unit)
			require.NoError(s.t, err)
			if !written {
				old = s.bytes[i][unit*past.UnitSize:][:past.UnitSize]
			}
			require.True(s.t, bytes.Equal(want, old), "layer %d, memory %d, unit %d", l.l.Number(), i, unit)
		}
	}
}

// save keeps all units that restore will write, and reports whether there was memory for them.
func (s *slow) save(l *slowLayer) bool {
	for i, m := range s.of {
		for unit := range len(s.bytes[i]) / past.UnitSize {
			_, written, err := l.l.Old(m, unit)
			require.NoError(s.t, err)
			if !written {
				continue
			}
			had := s.known[i][unit]
			full := s.full() && !s.p.Newest().Has(m, unit) && s.newest() > s.know(i, unit, 0, past.UnitSize)
			if err := m.Save(unit); full {
				require.ErrorIs(s.t, err, sentinel.ErrFull)
				s.known[i][unit] = had
				return false
			}
			require.NoError(s.t, err)
			s.know(i, unit, 0, past.UnitSize)
		}
	}
	return true
}

// restore puts the memories back to a layer's moment, and checks the differences that were
// reported.
func (s *slow) restore(l *slowLayer) {
	for i := range s.of {
		if have, want := len(s.bytes[i]), len(l.copies[i]); have < want {
			s.resizeTo(i, want)
		}
	}
	if l.lost || !s.save(l) {
		return
	}
	for i, m := range s.of {
		for unit := range len(l.copies[i]) / past.UnitSize {
			now := s.bytes[i][unit*past.UnitSize:][:past.UnitSize]
			before := bytes.Clone(now)
			differed := l.l.Put(m, unit)
			require.Equal(s.t, !bytes.Equal(before, now), differed)
			if want, has := l.has(i, unit); has {
				require.True(s.t, bytes.Equal(want, now), "memory %d, unit %d", i, unit)
			}
		}
	}
	s.restored++
}

// close closes any of the layers.
func (s *slow) close() {
	at := s.r.IntN(len(s.layers))
	s.layers[at].l.Close()
	s.layers = slices.Delete(s.layers, at, at+1)
}

// fill takes all memory from the universe but some chunks, or gives all back.
func (s *slow) fill(leave int) {
	for _, c := range s.hog {
		s.u.Free(c, 1)
	}
	s.hog = s.hog[:0]
	for leave >= 0 {
		c, err := s.u.AllocExact(1)
		if err != nil {
			break
		}
		s.hog = append(s.hog, c)
	}
	for ; leave > 0 && len(s.hog) > 0; leave-- {
		s.u.Free(s.hog[len(s.hog)-1], 1)
		s.hog = s.hog[:len(s.hog)-1]
	}
}

// TestAgainstCopies does all that a past does at random, beside whole copies: with memory for all
// copies, and where memory runs out.
func TestAgainstCopies(t *testing.T) {
	for seed := range uint64(8) {
		s := newSlow(t, seed, 16<<20)
		scarce := seed%2 == 1
		for step := range 700 {
			switch op := s.r.IntN(20); {
			case op < 9:
				s.write()
			case op == 9:
				s.replace()
			case op == 10:
				s.resize()
			case op < 13 && len(s.layers) < 6:
				s.begin()
			case op == 13 && len(s.layers) > 0:
				s.close()
			case op == 14 && len(s.layers) > 0:
				s.restore(s.layers[s.r.IntN(len(s.layers))])
			case op == 15 && scarce:
				s.fill(s.r.IntN(60) - 20)
			case len(s.layers) > 0:
				s.look(s.layers[s.r.IntN(len(s.layers))])
			}
			if step == 100 {
				s.addLast()
			}
			require.NoError(t, s.p.Verify())
			require.Equal(t, len(s.layers), s.p.Layers())
		}
		require.Greater(t, s.restored, 5)
		require.Greater(t, s.resized, 5)
		require.Equal(t, scarce, s.lost > 0)
		s.fill(-1)
		for len(s.layers) > 0 {
			s.close()
			require.NoError(t, s.p.Verify())
		}
		require.Zero(t, s.p.Units())
		require.Nil(t, s.p.Newest())
		require.Zero(t, s.u.Stats().LiveChunks, "all copies are freed")
	}
}

// TestBeginCopiesNothing: between two moments each unit is copied at most once, however often it is
// written, and not at all without layers.
func TestBeginCopiesNothing(t *testing.T) {
	u := newUniverse(t, 4<<20)
	memory := make([]byte, 5*past.UnitSize)
	var p past.Past
	p.Open(u)
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory))
	m.BeforeWrite(unsafe.Pointer(&memory[0]), len(memory))
	require.NoError(t, m.Save(0))
	m.Born(unsafe.Pointer(&memory[0]), len(memory))
	require.Zero(t, u.Stats().LiveChunks)
	first := p.Begin()
	require.Zero(t, u.Stats().LiveChunks)
	for range 3 {
		m.BeforeWrite(unsafe.Pointer(&memory[past.UnitSize-1]), 2) // of two units
		m.BeforeWrite(unsafe.Pointer(&memory[0]), 0)
	}
	require.Equal(t, []int{2, 2}, []int{first.Units(), u.Stats().LiveChunks})
	second := p.Begin()
	require.NoError(t, m.Save(0))
	require.NoError(t, m.Save(0))
	require.Equal(t, []int{2, 1, 3}, []int{first.Units(), second.Units(), p.Units()})
	require.Equal(t, second.Number(), p.Number())
	second.Close()
	require.Equal(t, []int{2, 2}, []int{first.Units(), p.Units()}, "the older layer has unit 0")
	third := p.Begin()
	second.Close() // twice is no error, and closes no other
	require.Equal(t, third, p.Newest())
	first.Close()
	third.Close()
	require.Zero(t, u.Stats().LiveChunks)
}

// Example prints the drawing of the package comment.
func Example() {
	u, err := universe.New(universe.Size(4 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = u.Close() }()
	memory := make([]byte, 5*past.UnitSize)
	var p past.Past
	p.Open(u)
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory))
	write := func(unit int) {
		m.BeforeWrite(unsafe.Pointer(&memory[unit*past.UnitSize]), 1)
		memory[unit*past.UnitSize]++
	}
	show := func(l *past.Layer) {
		fmt.Printf("layer %d has %d of %d bytes and reads", l.Number(), l.Units()*past.UnitSize, len(memory))
		for unit := range m.Units() {
			got := make([]byte, past.UnitSize)
			if err := l.Read(m, unit, got); err != nil {
				fmt.Println(err)
			}
			fmt.Printf(" %d", got[0])
		}
		fmt.Println()
	}
	one := p.Begin()
	write(1)
	two := p.Begin()
	write(2)
	write(3)
	show(one)
	show(two)
	two.Close()
	one.Close()
	// Output:
	// layer 1 has 16384 of 81920 bytes and reads 0 0 0 0 0
	// layer 2 has 32768 of 81920 bytes and reads 0 1 0 0 0
}

// TestVerify: Verify names what is wrong.
func TestVerify(t *testing.T) {
	u := newUniverse(t, 4<<20)
	memory := make([]byte, 5*past.UnitSize)
	var p past.Past
	p.Open(u)
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory))
	older := p.Begin()
	m.BeforeWrite(m.Address(0), 1)
	newer := p.Begin()
	m.BeforeWrite(m.Address(1), 1)
	for _, c := range []struct{ invariant, want string }{
		{"P1 order", "past: P1: layer 2 lies above layer 6"},
		{"P1 above", "past: P1: layer 1 lies above layer 0"},
		{"P1 newest", "past: P1: layer 2 lies above layer 1"},
		{"P1 closed", "past: P1: layer 1 lies above layer 0, or is closed"},
		{"P1 number", "past: P1: layer 2 lies above layer 1, or is closed; the last to begin was 1"},
		{"P1 only", "past: P1: layer 3 lies above layer 0, or is closed; the last to begin was 2"},
		{"P1 state", "past: P1: unit 2 of memory 0 has state 0x60000, the last layer is 2"},
		{"P1 busy", "past: P1: unit 2 of memory 0 has state 0x1, the last layer is 2"},
		{"P2", "past: P2: layer 2 has unit 1 of memory 0, which nobody has written since"},
		{"P3 shared", "past: P3: layer 1 has unit 0 of memory 0 in chunk"},
		{"P3 free", "past: P3: layer 2 has unit 1 of memory 0 in chunk"},
	} {
		require.NoError(t, p.Verify())
		restore := p.Corrupt(c.invariant)
		require.ErrorContains(t, p.Verify(), c.want)
		restore()
	}
	require.NoError(t, p.Verify())
	newer.Close()
	older.Close()
}

// TestEveryFailure: a write whose copy is refused loses the layers that lack the unit, and no
// others; a Save that is refused has changed nothing.
func TestEveryFailure(t *testing.T) {
	lost, refused := 0, 0
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := universe.New(universe.Size(4<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		defer func() { require.NoError(t, u.Close()) }()
		memory := make([]byte, 4*past.UnitSize)
		var p past.Past
		p.Open(u)
		m := p.Add(unsafe.Pointer(&memory[0]), len(memory))
		layers := []*past.Layer{p.Begin()}
		first := error(nil)
		for unit := range m.Units() {
			before, was := u.Stats().LiveChunks, layers[len(layers)-1].Err()
			err := m.Save(unit)
			if err != nil {
				refused++
				require.Equal(t, before, u.Stats().LiveChunks)
				_, written, _ := layers[len(layers)-1].Old(m, unit)
				require.False(t, written)
				require.Equal(t, was, layers[len(layers)-1].Err())
				if first == nil {
					first = err
				}
			}
			layers = append(layers, p.Begin())
			asked := f.Refused()
			m.BeforeWrite(m.Address(unit), past.UnitSize)
			memory[unit*past.UnitSize] = 1
			gone := f.Refused() > asked
			for i, l := range layers {
				switch newest := i == len(layers)-1; {
				case gone && (newest || err != nil):
					require.ErrorIs(t, l.Err(), alloc.ErrInjected)
					require.ErrorContains(t, l.Err(), "old bytes could not be kept: ")
					lost++
				case !gone && newest:
					require.NoError(t, l.Err())
				}
			}
			if gone && first == nil {
				first = layers[len(layers)-1].Err()
			}
			require.NoError(t, p.Verify())
		}
		for _, l := range layers {
			l.Close()
		}
		return first
	}))
	require.Greater(t, lost, 4)
	require.Greater(t, refused, 4)
}

// TestWritten: the set between two layers has the pieces whose bytes were written in between, and
// Next finds them, as a walk over all pieces does.
func TestWritten(t *testing.T) {
	const size = 13 * past.UnitSize
	r := rand.New(rand.NewPCG(5, 6))
	memory := make([]byte, size)
	var p past.Past
	p.Open(newUniverse(t, 8<<20))
	m := p.Add(unsafe.Pointer(&memory[0]), size)
	var set past.Written
	for range 40 {
		older := p.Begin()
		var want [size / past.PieceSize]bool
		for range 1 + r.IntN(12) {
			at := r.IntN(size)
			n := min(1+r.IntN(3*past.PieceSize), size-at)
			m.BeforeWrite(unsafe.Pointer(&memory[at]), n)
			for piece := at / past.PieceSize; piece <= (at+n-1)/past.PieceSize; piece++ {
				want[piece] = true
			}
		}
		newer := p.Begin()
		m.BeforeWrite(m.Address(r.IntN(13)), past.UnitSize) // later
		set = older.Written(m, newer, set)
		for unit := range 13 {
			any := slices.Contains(want[unit*pieces:(unit+1)*pieces], true)
			require.Equal(t, any, set.Units(unit, 1) != 0)
		}
		for range 20 {
			at := r.IntN(size)
			end := at + r.IntN(size-at)
			var got [size]bool
			for next := at; ; {
				from, n := set.Next(next, end)
				if n == 0 {
					break
				}
				require.LessOrEqual(t, next, from)
				require.Equal(t, from/past.UnitSize, (from+n-1)/past.UnitSize, "of one unit")
				for i := from; i < from+n; i++ {
					got[i] = true
				}
				next = from + n
			}
			for i := range got {
				if want := i >= at && i < end && want[i/past.PieceSize]; want != got[i] {
					t.Fatalf("byte %d of [%d, %d) is in the set: %v, want %v", i, at, end, got[i], want)
				}
			}
		}
		var buffer [past.UnitSize]byte
		for range 10 { // Bytes are those of the moment
			at := r.IntN(size)
			n := 1 + r.IntN(past.UnitSize-at%past.UnitSize)
			before, l := bytes.Clone(memory[at:at+n]), p.Begin()
			m.BeforeWrite(unsafe.Pointer(&memory[at]), n)
			memory[at+r.IntN(n)]++
			got, err := l.Bytes(m, at, n, &buffer)
			require.Equal(t, before, got, err)
			l.Close()
		}
		newer.Close()
		older.Close()
	}
}
