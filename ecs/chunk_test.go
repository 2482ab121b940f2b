package ecs_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Tally is a value per chunk whose Merge adds, so a test sees what was merged. Label is one
// without.
type (
	Tally struct{ N int64 }
	Label struct {
		N  int64
		Of ecs.Entity
	}
)

// Pinned is a tag.
type Pinned struct{}

// chunky is a world with two archetypes of one layout, which differ by a tag, with chunks of one
// unit.
type chunky struct {
	t             *testing.T
	w             *ecs.World
	position      ecs.Component[ecstest.Position]
	tag           ecs.Component[Pinned]
	tally         ecs.Chunk[Tally]
	label         ecs.Chunk[Label]
	plain, tagged *ecs.Archetype
	bind, unbind  *ecs.Change
	all, free     *ecs.Query // of all, and of those without the tag
	bound         *ecs.Query // with the tag
}

func addTallies(into, from *Tally) { into.N += from.N }

func newChunky(t *testing.T, options ...ecs.Option) *chunky {
	w := ecstest.NewWorld(t, options...)
	c := &chunky{t: t, w: w, position: ecs.Register[ecstest.Position](w), tag: ecs.Register[Pinned](w),
		tally: ecs.RegisterChunk[Tally](w, ecs.Merge(addTallies)), label: ecs.RegisterChunk[Label](w)}
	c.plain, c.tagged = ecs.NewArchetype(w, c.position, c.tally, c.label),
		ecs.NewArchetype(w, c.position, c.tally, c.label, c.tag)
	c.bind, c.unbind = ecs.NewChange(w, ecs.Add(c.tag)), ecs.NewChange(w, ecs.Remove(c.tag))
	c.all = ecs.NewQuery(w, ecs.Write(c.tally), ecs.Write(c.label))
	c.free = ecs.NewQuery(w, ecs.With(c.tally), ecs.Without(c.tag))
	c.bound = ecs.NewQuery(w, ecs.With(c.tally, c.tag))
	return c
}

// create makes entities and returns them.
func (c *chunky) create(a *ecs.Archetype, n int) []ecs.Entity {
	b, err := a.CreateN(n)
	require.NoError(c.t, err)
	return b.Entities(nil)
}

// values returns the values of an archetype's chunks: tally and label of each.
func (c *chunky) values(a *ecs.Archetype) (tallies, labels []int64) {
	for rows := range c.all.Rows() {
		if rows.Archetype() == a {
			tallies = append(tallies, c.tally.ReadOnly(rows).N)
			labels = append(labels, c.label.ReadOnly(rows).N)
		}
	}
	return tallies, labels
}

// chunkModel knows the values of each chunk of both archetypes of a chunky, by the rules of
// docs/semantics.md.
type chunkModel struct {
	*chunky
	per             int // rows of a chunk
	sides           [2]*ecs.Archetype
	tallies, labels [2][]int64
	ids             []ecs.Entity
	merged, along   int // part-full chunks that joined another, and that went to a new one
}

// fit follows the number of chunks: those that come begin with zeros, those that go take theirs
// along.
func (m *chunkModel) fit(side int) {
	n := (m.sides[side].Len() + m.per - 1) / m.per
	for _, list := range []*[]int64{&m.tallies[side], &m.labels[side]} {
		for len(*list) < n {
			*list = append(*list, 0)
		}
		*list = (*list)[:n]
	}
}

// whole moves all entities of one archetype to the other.
func (m *chunkModel) whole(from int) {
	to := 1 - from
	have, rest, full := m.sides[to].Len(), m.sides[from].Len()%m.per, m.sides[from].Len()/m.per
	at := have / m.per // before the part-full chunk, if there is one
	q, change := m.free, m.bind
	if from == 1 {
		q, change = m.bound, m.unbind
	}
	_, err := change.ApplyQuery(q)
	require.NoError(m.t, err)
	if have == 0 && rest > 0 { // all chunks, the part-full one too
		full, rest = full+1, 0
	}
	tallies, labels := m.tallies[from], m.labels[from]
	m.tallies[to] = slices.Insert(m.tallies[to], at, tallies[:full]...)
	m.labels[to] = slices.Insert(m.labels[to], at, labels[:full]...)
	if part := have % m.per; rest > 0 && part > 0 {
		last := len(m.tallies[to]) - 1
		m.tallies[to][last] += tallies[full]
		m.labels[to][last] = 0
		rest = max(0, rest-(m.per-part))
		m.merged++
	}
	if rest > 0 {
		m.tallies[to], m.labels[to] = append(m.tallies[to], tallies[full]), append(m.labels[to], labels[full])
		m.along++
	}
	m.tallies[from], m.labels[from] = nil, nil
}

// write sets both values of the chunk of an entity.
func (m *chunkModel) write(e ecs.Entity, n int64) {
	at, ok := m.w.Locate(e)
	require.True(m.t, ok)
	side := slices.Index(m.sides[:], at.Archetype)
	m.tallies[side][at.Chunk], m.labels[side][at.Chunk] = n, n
	require.True(m.t, m.tally.Set(e, Tally{n}))
	m.label.Mut(e).N = n
	require.Equal(m.t, n, m.label.Get(e).N)
}

// step makes one change.
func (m *chunkModel) step(random *rand.Rand, n int64) {
	switch op := random.IntN(12); {
	case op < 3:
		m.ids = append(m.ids, m.create(m.sides[random.IntN(2)], random.IntN(m.per*2/3))...)
	case op == 3:
		m.ids = append(m.ids, m.sides[random.IntN(2)].Create())
	case op < 6 && len(m.ids) > 0:
		for range random.IntN(min(len(m.ids), m.per/2)) {
			i := random.IntN(len(m.ids))
			require.True(m.t, m.w.Destroy(m.ids[i]))
			m.ids[i] = m.ids[len(m.ids)-1]
			m.ids = m.ids[:len(m.ids)-1]
		}
	case op < 8 && len(m.ids) > 0: // rows that move take none along
		if e := m.ids[random.IntN(len(m.ids))]; !m.tag.Add(e, Pinned{}) {
			m.tag.Remove(e)
		}
	case op == 8:
		if side := random.IntN(2); m.sides[side].Len() > 0 {
			m.whole(side)
		}
	case op == 9 && random.IntN(8) == 0:
		m.w.Clear()
		m.ids = nil
	case len(m.ids) > 0:
		m.write(m.ids[random.IntN(len(m.ids))], n)
	}
}

// TestChunkValuesFollowAModel creates, ends and moves entities one by one and by whole archetypes,
// beside a model.
func TestChunkValuesFollowAModel(t *testing.T) {
	c := newChunky(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	m := &chunkModel{chunky: c, per: c.plain.Plan().Rows, sides: [2]*ecs.Archetype{c.plain, c.tagged}}
	require.Equal(t, m.per, c.tagged.Plan().Rows)
	random := rand.New(rand.NewPCG(31, 4))
	for step := range int64(3000) {
		m.step(random, step)
		for side, a := range m.sides {
			m.fit(side)
			tallies, labels := c.values(a)
			require.True(t, slices.Equal(m.tallies[side], tallies), "step %d: %v, want %v",
				step, tallies, m.tallies[side])
			require.True(t, slices.Equal(m.labels[side], labels), "step %d: %v, want %v", step, labels, m.labels[side])
		}
		if step%100 == 0 {
			require.NoError(t, c.w.Verify())
		}
	}
	require.Greater(t, m.merged, 50)
	require.Greater(t, m.along, 5)
}

// TestChunkValueGrowsAndShrinks: rows that outgrow their only chunk, or that Shrink moves to a
// smaller one, keep value and version; so do chunks when rows change places.
func TestChunkValueGrowsAndShrinks(t *testing.T) {
	c := newChunky(t)
	ids := c.create(c.plain, 10)
	c.tally.Set(ids[0], Tally{7})
	changed := ecs.NewQuery(c.w, ecs.With(c.tally), ecs.Changed(c.tally))
	since := c.w.Advance() - 1
	sizes := map[int]bool{}
	for c.plain.Chunks() == 1 {
		_, bytes, _ := c.plain.Chunk(0)
		sizes[bytes] = true
		changed.SetSince(since)
		require.True(t, changed.Empty(), "rows that come do not change the value")
		require.Equal(t, Tally{7}, *c.tally.Get(ids[0]))
		ids = append(ids, c.plain.Create())
	}
	require.Len(t, sizes, 4, "2, 16, 32 and 64 KiB")
	require.Equal(t, 1, changed.Count(), "the chunk that was born, with one row")
	require.Equal(t, Tally{}, *c.tally.Get(ids[len(ids)-1]))
	require.True(t, c.w.SwapComponents(ids[0], ids[len(ids)-1]))
	require.Equal(t, Tally{}, *c.tally.Get(ids[0]), "it is elsewhere, the values are not")
	require.True(t, c.w.SwapComponents(ids[0], ids[len(ids)-1]))
	require.Equal(t, len(ids)-3, c.w.DestroyList(ids[3:]))
	require.True(t, c.w.Shrink(0))
	_, bytes, _ := c.plain.Chunk(0)
	require.Equal(t, 2048, bytes)
	require.Equal(t, Tally{7}, *c.tally.Get(ids[0]))
	changed.SetSince(since)
	require.True(t, changed.Empty())
	require.NoError(t, c.w.Verify())
}

// TestSmallChunksGoAsChunks: a chunk of 2 KiB does not change hands, but its value goes along where
// a larger chunk would: to a chunk of its own, or merged into one that has rows.
func TestSmallChunksGoAsChunks(t *testing.T) {
	c := newChunky(t)
	e := c.create(c.plain, 5)[0]
	c.tally.Set(e, Tally{3})
	c.label.Set(e, Label{N: 3})
	since := c.w.Advance() - 1
	_, err := c.bind.ApplyQuery(c.free)
	require.NoError(t, err)
	require.Equal(t, Tally{3}, *c.tally.Get(e))
	require.Equal(t, Label{N: 3}, *c.label.Get(e))
	changed := ecs.NewQuery(c.w, ecs.Changed(c.label))
	changed.SetSince(since)
	require.Equal(t, 5, changed.Count(), "the chunk came to the archetype")
	f := c.create(c.plain, 5)[0]
	c.tally.Set(f, Tally{4})
	c.label.Set(f, Label{N: 4})
	since = c.w.Advance() - 1
	_, err = c.bind.ApplyQuery(c.free)
	require.NoError(t, err)
	require.Equal(t, Tally{7}, *c.tally.Get(e))
	require.Equal(t, Label{}, *c.label.Get(f))
	changed.SetSince(since)
	require.Equal(t, 10, changed.Count(), "merged without a function, it says so")

	g := c.create(c.plain, 5)
	c.tally.Set(g[0], Tally{9})
	c.label.Set(e, Label{N: 1})
	since = c.w.Advance() - 1
	_, err = c.bind.ApplyList(g[:4])
	require.NoError(t, err)
	require.Equal(t, Tally{7}, *c.tally.Get(e), "rows that are not all of an archetype take none along")
	require.Equal(t, Label{N: 1}, *c.label.Get(g[0]))
	require.Equal(t, Tally{9}, *c.tally.Get(g[4]))
	changed.SetSince(since)
	require.True(t, changed.Empty())
}

// TestChunkTypeComesAndGoes: a chunk type that is added to whole chunks is zero, others stay, and
// the value ends with the type; by one entity, list and query.
func TestChunkTypeComesAndGoes(t *testing.T) {
	for _, n := range []int{3, 5000} {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
		position := ecs.Register[ecstest.Position](w)
		tally := ecs.RegisterChunk[Tally](w)
		label := ecs.RegisterChunk[Label](w)
		b, err := ecs.NewArchetype(w, position, tally).CreateN(n)
		require.NoError(t, err)
		ids := b.Entities(nil)
		q := ecs.NewQuery(w, ecs.Write(tally), ecs.Optional(ecs.Write(label)))
		chunk := int64(1)
		for rows := range q.Rows() {
			tally.At(rows).N = chunk
			require.Nil(t, label.At(rows))
			require.False(t, label.In(rows))
			chunk++
		}
		_, err = ecs.NewChange(w, ecs.Add(label)).ApplyQuery(q)
		require.NoError(t, err)
		at := int64(1)
		for rows := range q.Rows() {
			require.Equal(t, Tally{at}, *tally.At(rows))
			require.Equal(t, Label{}, *label.At(rows))
			label.At(rows).N = at
			at++
		}
		require.Equal(t, chunk, at)
		_, err = ecs.NewChange(w, ecs.Remove(tally)).ApplyQuery(q)
		require.NoError(t, err)
		require.Nil(t, tally.Get(ids[0]))
		require.Equal(t, Label{N: 1}, *label.Get(ids[0]))
		require.True(t, tally.Add(ids[0]))
		require.False(t, tally.Add(ids[0]))
		require.True(t, tally.Has(ids[0]))
		require.Equal(t, Tally{}, *tally.Get(ids[0]), "a chunk of its own")
		require.Equal(t, Label{}, *label.Get(ids[0]))
		require.True(t, tally.Remove(ids[0]))
		require.True(t, w.Destroy(ids[0]))
		require.Nil(t, label.Get(ids[0]))
		require.False(t, label.Set(ids[0], Label{N: 1}))
		require.NoError(t, w.Verify())
	}
}

// TestChunkValuesAreWrittenByRows: what marks a value and what does not.
func TestChunkValuesAreWrittenByRows(t *testing.T) {
	c := newChunky(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	ids := c.create(c.plain, 2000)
	read := ecs.NewQuery(c.w, ecs.Read(c.tally))
	write := ecs.NewQuery(c.w, ecs.Write(c.tally))
	marked := func(does func()) (n int) {
		since := c.w.Advance() - 1
		does()
		for rows := range read.Rows() {
			if c.tally.Changed(rows, since) {
				n++
			}
		}
		return n
	}
	chunks := c.plain.Chunks()
	require.Greater(t, chunks, 2)
	loop := func(q *ecs.Query, visit func(ecs.Rows)) func() {
		return func() {
			for rows := range q.Rows() {
				visit(rows)
			}
		}
	}
	require.Zero(t, marked(loop(read, func(rows ecs.Rows) { c.tally.At(rows) })))
	require.Zero(t, marked(loop(write, func(rows ecs.Rows) { c.tally.ReadOnly(rows) })))
	require.Equal(t, chunks, marked(loop(write, func(rows ecs.Rows) { c.tally.At(rows).N++ })))
	require.Equal(t, chunks, marked(loop(write, func(rows ecs.Rows) { c.tally.Mark(rows) })))
	require.Equal(t, 1, marked(func() { c.tally.Mut(ids[0]) }))
	require.Equal(t, 1, marked(func() { c.tally.Set(ids[1999], Tally{5}) }))
	require.Zero(t, marked(func() { c.tally.Get(ids[0]) }))
	require.Zero(t, marked(func() { c.position.Mut(ids[0]); c.w.Destroy(ids[0]); c.plain.Create() }))
	require.Equal(t, 1, marked(func() {
		b, err := c.tagged.CreateN(3)
		require.NoError(t, err)
		for rows := range b.Rows() {
			c.tally.At(rows).N = 11
		}
	}))
	require.Equal(t, any(Tally{5}), c.w.Value(ids[1998], c.tally))
	all := ecs.NewQueryOfAll(c.w)
	for rows := range all.Rows() {
		require.Equal(t, any(*c.tally.ReadOnly(rows)), rows.Value(c.tally, rows.Len()-1))
	}
	require.Equal(t, ecs.KindChunk, ecs.InfoOf(c.tally).Kind)
	require.Equal(t, "chunk", ecs.KindChunk.String())
	require.Equal(t, "chunk Tally", c.tally.String())
	require.Equal(t, c.tally, ecs.RegisterChunk[Tally](c.w, ecs.Merge(addTallies)))
	require.Equal(t, "Tally", ecs.Register[Tally](c.w).String(), "a component of the same Go type is another type")
}

// TestChunkValuesInTerms: chunk types decide as other types do.
func TestChunkValuesInTerms(t *testing.T) {
	c := newChunky(t)
	with, without := c.create(c.plain, 3), c.create(ecs.NewArchetype(c.w, c.position), 4)
	count := func(terms ...ecs.Term) int { return ecs.NewQuery(c.w, terms...).Count() }
	require.Equal(t, len(with), count(ecs.With(c.tally)))
	require.Equal(t, len(without), count(ecs.Without(c.tally)))
	require.Equal(t, len(without), count(ecs.Absent(c.label)))
	require.Equal(t, len(with), count(ecs.Present(c.label)))
	require.Equal(t, len(with), count(ecs.Any(c.label, c.tag)))
	require.Equal(t, 7, count(ecs.Optional(ecs.Read(c.label)), ecs.Read(c.position)))
	q := ecs.NewQuery(c.w, ecs.Write(c.label), ecs.Read(c.tally))
	access := q.Access()
	require.Equal(t, []string{"chunk Tally", "chunk Label"},
		c.w.Conflicts(access, ecs.NewQuery(c.w, ecs.Write(c.tally), ecs.Write(c.label)).Access()))
	changed := ecs.NewQuery(c.w, ecs.Read(c.label), ecs.Changed(c.label))
	for range changed.Rows() {
	}
	require.True(t, changed.Empty())
	c.label.Set(with[0], Label{N: 1})
	require.Equal(t, 3, changed.Count())
}

// TestChunkValuesInOtherWorlds: a move of all entities brings chunks with their values, handed over
// or copied; a move of some brings none. A clone has the values too, and those of chunks that its
// own cut joins merge. Entities in values are those of the other world.
func TestChunkValuesInOtherWorlds(t *testing.T) {
	for _, together := range []bool{true, false} {
		u, v := ecstest.NewUniverse(t, 64<<20), ecstest.NewUniverse(t, 64<<20)
		if together {
			v = u
		}
		from := newChunky(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
		to := ecstest.NewWorld(t, ecs.WithUniverse(v), ecs.ChunkGrowth(alloc.Fixed(1)))
		ecs.Register[ecstest.Velocity](to) // so that types have other numbers
		ids := from.create(from.plain, 2000)
		n := int64(0)
		for rows := range from.all.Rows() {
			n++
			from.tally.At(rows).N = n
			*from.label.At(rows) = Label{n, rows.Entities()[0]}
		}
		var firsts []ecs.Entity
		for rows := range from.all.Rows() {
			firsts = append(firsts, rows.Entities()[0])
		}
		clone, err := from.w.Clone(ecs.WithUniverse(v))
		require.NoError(t, err)
		check := func(w *ecs.World, old func(e ecs.Entity) ecs.Entity) {
			tally, label := ecs.RegisterChunk[Tally](w, ecs.Merge(addTallies)), ecs.RegisterChunk[Label](w)
			at := int64(0)
			for rows := range ecs.NewQuery(w, ecs.Read(tally), ecs.Read(label)).Rows() {
				at++
				require.Equal(t, Tally{at}, *tally.At(rows))
				require.Equal(t, Label{at, old(firsts[at-1])}, *label.At(rows))
				require.Equal(t, rows.Entities()[0], label.At(rows).Of)
				require.True(t, label.Changed(rows, w.Version()-1))
			}
			require.Equal(t, n, at)
			require.NoError(t, w.Verify())
		}
		check(clone, func(e ecs.Entity) ecs.Entity {
			twin, ok := clone.Entity(e.Index(), e.Version())
			require.True(t, ok)
			return twin
		})
		require.NoError(t, clone.Close())
		wide, err := from.w.Clone(ecs.WithUniverse(v), ecs.ChunkGrowth(alloc.Fixed(64)))
		require.NoError(t, err)
		tally, label := ecs.RegisterChunk[Tally](wide, ecs.Merge(addTallies)), ecs.RegisterChunk[Label](wide)
		sum := int64(0)
		for rows := range ecs.NewQuery(wide, ecs.Read(tally), ecs.Read(label)).Rows() {
			sum += tally.At(rows).N
			require.Equal(t, Label{}, *label.At(rows))
		}
		require.Equal(t, n*(n+1)/2, sum, "all chunks in one")
		require.NoError(t, wide.Close())

		moved, err := to.MoveAll(from.w)
		require.NoError(t, err)
		check(to, moved.Of)
		require.Equal(t, len(ids), moved.Len())
		require.NoError(t, from.w.Verify())

		some := from.create(from.plain, 10)
		from.create(from.tagged, 5)
		from.tally.Set(some[0], Tally{99})
		require.True(t, from.position.Remove(some[9]))
		moved, err = to.MoveQuery(ecs.NewQuery(from.w, ecs.With(from.tally), ecs.Absent(from.tag, from.position)))
		require.NoError(t, err)
		require.Equal(t, Tally{}, *ecs.RegisterChunk[Tally](to, ecs.Merge(addTallies)).Get(moved.Of(some[9])))
	}
}

// TestChunkValuesAreNotCopiedWithEntities: copies of an entity come to a chunk of its archetype,
// and have that chunk's value.
func TestChunkValuesAreNotCopiedWithEntities(t *testing.T) {
	c := newChunky(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	e := c.plain.Create()
	c.tally.Set(e, Tally{4})
	copies, err := c.w.InstantiateN(e, 2*c.plain.Plan().Rows)
	require.NoError(t, err)
	last := copies.Entities(nil)[copies.Len()-1]
	tallies, _ := c.values(c.plain)
	require.Equal(t, []int64{4, 0, 0}, tallies)
	require.Equal(t, Tally{}, *c.tally.Get(last))
	before := c.w.Hash()
	c.tally.Set(last, Tally{5})
	require.Equal(t, before, c.w.Hash(), "values of chunks are not hashed: how rows are cut is not the world's content")
}

// TestChunkMisuse: what makes no sense is refused by name.
func TestChunkMisuse(t *testing.T) {
	c := newChunky(t)
	e := c.plain.Create()
	other := newChunky(t)
	read := ecs.NewQuery(c.w, ecs.With(c.tally), ecs.Read(c.label))
	inLoop := func(does func(ecs.Rows)) func() {
		return func() {
			for rows := range read.Rows() {
				does(rows)
			}
		}
	}
	for want, does := range map[string]func(){
		"ecs: RegisterChunk[Tally]: the only option of chunk types is Merge": func() { ecs.RegisterChunk[Tally](other.w, ecs.Enableable) },
		"ecs: RegisterChunk[Label]: the only option of chunk types is Merge": func() { ecs.RegisterChunk[Label](other.w, ecs.Cleanup) },
		"ecs: RegisterChunk[Hit]: the only option of chunk types is Merge":   func() { ecs.RegisterChunk[ecstest.Hit](c.w, ecs.Inline(3)) },
		"ecs: Register[chunk Hit]: Growth is an option of RegisterBuffer":    func() { ecs.RegisterChunk[ecstest.Hit](c.w, ecs.Growth(alloc.Doubling())) },
		"ecs: Register[Hit]: Merge is an option of RegisterChunk":            func() { ecs.Register[ecstest.Hit](c.w, ecs.Merge(addTallies)) },
		"ecs: RegisterChunk[Hit]: Merge is of Tally":                         func() { ecs.RegisterChunk[ecstest.Hit](c.w, ecs.Merge(addTallies)) },
		"ecs: RegisterChunk[Tally]: registered before with other options":    func() { ecs.RegisterChunk[Tally](c.w) },
		"ecs: NewQuery: Disabled chunk Tally: it was not registered with ecs.Enableable": func() {
			ecs.NewQuery(c.w, ecs.Disabled(c.tally))
		},
		"ecs: Chunk.Get: the handle is the zero value; handles come from RegisterChunk": func() { ecs.Chunk[Tally]{}.Get(e) },
		"ecs: Chunk.At: the handle is the zero value; handles come from RegisterChunk":  inLoop(func(rows ecs.Rows) { ecs.Chunk[Tally]{}.At(rows) }),
		"ecs: Chunk.At: query(With chunk Tally, Read chunk Label) does not declare chunk Tally: add ecs.Read or ecs.Write": inLoop(func(rows ecs.Rows) {
			c.tally.At(rows)
		}),
		"ecs: Chunk.ReadOnly: query(With chunk Tally, Read chunk Label) does not declare chunk Tally: add ecs.Read or ecs.Write": inLoop(func(rows ecs.Rows) {
			c.tally.ReadOnly(rows)
		}),
		"ecs: Rows.Bytes: chunk Label is a chunk type, whose values are not in the column; use Rows.Value": inLoop(
			func(rows ecs.Rows) {
				rows.Bytes(c.label)
			}),
		"ecs: Chunk.At: chunk Label and the rows belong to different worlds": inLoop(func(rows ecs.Rows) { other.label.At(rows) }),
	} {
		require.PanicsWithValue(t, want, does)
	}
	require.PanicsWithError(t, "ecs: RegisterChunk[[16385]uint8]: the limit is 16384 bytes of a chunk component",
		func() { ecs.RegisterChunk[[16385]byte](c.w) })
	ecs.RegisterChunk[[16384]byte](c.w)
	require.Panics(t, func() { ecs.RegisterChunk[string](c.w) })
	share := c.w.Lend()
	require.Equal(t, Tally{}, *c.tally.Get(e))
	require.PanicsWithValue(t, "ecs: Chunk.Mut: the world is lent: until Borrow.End components are only read",
		func() { c.tally.Set(e, Tally{1}) })
	share.End()
}
