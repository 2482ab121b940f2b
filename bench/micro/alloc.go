package micro

import (
	"errors"
	"math/rand/v2"
	"unsafe"

	"quarry/alloc"
)

var allocTables = []table{chunks, heap, rows, rowGet}

var chunks = table{
	name: "Chunks", pkg: "alloc", what: "n chunks of 16 KiB allocated, then all freed, untouched",
	x: "chunks", unit: "pair", sizes: powers[:5],
	ways: []way{
		{name: "Universe", build: buildChunks},
		{name: "free list", roof: true, build: buildFreeList},
	},
}

func buildChunks(n int) (*run, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, err
	}
	list, refused := make([]alloc.ChunkIndex, n), error(nil)
	return &run{
		pass: func(times int) {
			for range times {
				for i := range list {
					c, _, err := u.Alloc(1)
					if err != nil {
						refused = err
						return
					}
					list[i] = c
				}
				for _, c := range list {
					u.Free(c, 1)
				}
			}
		},
		check: func(int) error { return errors.Join(refused, wantDifferent(list)) },
		close: u.Close, // refuses while a chunk is in use
	}, nil
}

// buildFreeList hands out slot numbers of one big block, as plain Go code does without a library;
// it finds no double free and gives nothing back.
func buildFreeList(n int) (*run, error) {
	free, list := make([]alloc.ChunkIndex, n), make([]alloc.ChunkIndex, n)
	for i := range free {
		free[i] = alloc.ChunkIndex(i)
	}
	return &run{
		pass: func(times int) {
			for range times {
				for i := range list {
					list[i] = free[len(free)-1]
					free = free[:len(free)-1]
				}
				for i := range list {
					free = append(free, list[n-1-i])
				}
			}
		},
		check: func(int) error { return errors.Join(want("free slots", len(free), n), wantDifferent(list)) },
	}, nil
}

// wantDifferent refuses a list that has something twice.
func wantDifferent[T comparable](list []T) error {
	seen := make(map[T]bool, len(list))
	for _, v := range list {
		seen[v] = true
	}
	return want("different ones", len(seen), len(list))
}

var heap = table{
	name: "Heap", pkg: "alloc", what: "n blocks of 64 bytes allocated and written, then all freed",
	x: "blocks", unit: "pair", sizes: powers,
	ways: []way{
		{name: "Heap", build: func(n int) (*run, error) { return buildHeap(n, heapPairs) }},
		{name: "Local", build: func(n int) (*run, error) { return buildHeap(n, localPairs) }},
		{name: "Pool", build: func(n int) (*run, error) { return buildHeap(n, poolPairs) }},
		{name: "Arena", build: func(n int) (*run, error) { return buildHeap(n, arenaPairs) }},
		{name: "new", roof: true, build: func(n int) (*run, error) {
			blocks, last := make([]*block, n), make([]*block, n)
			return &run{
				pass: func(times int) {
					for range times {
						for i := range blocks {
							blocks[i] = new(block)
							blocks[i][0] = byte(i)
						}
						blocks, last = last, blocks // freed by the collector when they are overwritten
					}
				},
				check: func(int) error { return wantDifferent(last) },
			}, nil
		}},
	},
}

// block is what heap allocates.
type block [64]byte

// memory is what the pairs functions allocate from.
type memory struct {
	heap  *alloc.Heap
	local *alloc.Local
	pool  *alloc.Pool[block]
	arena *alloc.Arena
}

// buildHeap opens a heap, a Local, a pool and an arena on it; pairs allocates and frees all blocks
// times times.
func buildHeap(n int, pairs func(m memory, blocks []*block, times int) error) (*run, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, err
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		return nil, err
	}
	pool, err := alloc.NewPool[block](h)
	if err != nil {
		return nil, err
	}
	m := memory{heap: h, local: h.NewLocal(), pool: pool, arena: alloc.NewArena(h)}
	blocks, refused := make([]*block, n), error(nil)
	return &run{
		pass:  func(times int) { refused = errors.Join(refused, pairs(m, blocks, times)) },
		check: func(int) error { return errors.Join(refused, wantDifferent(blocks)) },
		close: func() error {
			m.local.Close()
			m.arena.Close()
			return errors.Join(pool.Close(), h.Close(), u.Close()) // refuse while a block is live
		},
	}, nil
}

func heapPairs(m memory, blocks []*block, times int) error {
	for range times {
		for i := range blocks {
			p, err := m.heap.Alloc(len(block{}), 0)
			if err != nil {
				return err
			}
			blocks[i] = (*block)(p) // Safe because the block has room for it.
			blocks[i][0] = byte(i)
		}
		for _, p := range blocks {
			m.heap.Free(unsafe.Pointer(p)) // Safe because it is what Alloc gave.
		}
	}
	return nil
}

func localPairs(m memory, blocks []*block, times int) error {
	for range times {
		for i := range blocks {
			p, err := m.local.Alloc(len(block{}), 0)
			if err != nil {
				return err
			}
			blocks[i] = (*block)(p) // Safe because the block has room for it.
			blocks[i][0] = byte(i)
		}
		for _, p := range blocks {
			m.local.Free(unsafe.Pointer(p)) // Safe because it is what Alloc gave.
		}
	}
	return nil
}

// poolPairs gets cleared blocks, as new does.
func poolPairs(m memory, blocks []*block, times int) (err error) {
	for range times {
		for i := range blocks {
			if blocks[i], err = m.pool.New(); err != nil {
				return err
			}
			blocks[i][0] = byte(i)
		}
		for _, p := range blocks {
			m.pool.Free(p)
		}
	}
	return nil
}

// arenaPairs frees all blocks at once.
func arenaPairs(m memory, blocks []*block, times int) error {
	for range times {
		m.arena.Reset(alloc.KeepAll)
		for i := range blocks {
			p, err := m.arena.Alloc(len(block{}), 0)
			if err != nil {
				return err
			}
			blocks[i] = (*block)(p) // Safe because the block has room for it.
			blocks[i][0] = byte(i)
		}
	}
	return nil
}

var rows = table{
	name: "Rows", pkg: "alloc", what: "n records of two columns made one by one, then all cleared",
	x: "records", unit: "record", sizes: powers,
	ways: []way{
		{name: "Table", build: buildRows},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			var p []Position
			var v []Velocity
			made := 0
			return &run{
				pass: func(times int) {
					for range times {
						p, v = p[:0], v[:0]
						for i := range n {
							p, v = append(p, Position{X: float64(i)}), append(v, Velocity{})
						}
						made += len(p)
					}
				},
				check: func(steps int) error {
					return errors.Join(want("records", made, steps*n), want("last", p[n-1].X, float64(n-1)))
				},
			}, nil
		}},
	},
}

func buildRows(n int) (*run, error) {
	u, t, err := openTable()
	if err != nil {
		return nil, err
	}
	made, last, refused := 0, 0.0, error(nil)
	return &run{
		pass: func(times int) {
			for range times {
				t.Clear()
				for i := range n {
					h, err := t.Allocate()
					if err != nil {
						refused = err
						return
					}
					alloc.Get[Position](t, h).X = float64(i)
				}
				made += t.Len()
				last = alloc.Get[Position](t, t.Handle(n-1)).X
			}
		},
		check: func(steps int) error {
			return errors.Join(refused, want("records", made, steps*n), want("last", last, float64(n-1)))
		},
		close: func() error {
			t.Close()
			return u.Close()
		},
	}, nil
}

func openTable() (*alloc.Universe, *alloc.Table, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, nil, err
	}
	t, err := alloc.NewTable(u, alloc.Col[Position](), alloc.Col[Velocity]())
	return u, t, err
}

var rowGet = table{
	name: "RowGet", pkg: "alloc", what: "a value of each of n records read in shuffled order",
	x: "records", unit: "record", sizes: powers,
	ways: []way{
		{name: "Table", build: buildRowGet},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			p, order := make([]Position, n), rand.New(rand.NewPCG(1, 2)).Perm(n)
			for i := range p {
				p[i].X = float64(i)
			}
			return fold(sumTo(n), func(times int) (last float64) {
				for range times {
					last = 0
					for _, i := range order {
						last += p[i].X
					}
				}
				return last
			}), nil
		}},
	},
}

func buildRowGet(n int) (*run, error) {
	u, t, err := openTable()
	if err != nil {
		return nil, err
	}
	if _, err := t.AllocateN(n); err != nil {
		return nil, err
	}
	list := make([]alloc.Handle, n)
	for i := range list {
		list[i] = t.Handle(i)
		alloc.Get[Position](t, list[i]).X = float64(i)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	r := fold(sumTo(n), func(times int) (last float64) {
		for range times {
			last = 0
			for _, h := range list {
				last += alloc.Get[Position](t, h).X
			}
		}
		return last
	})
	r.close = func() error {
		t.Close()
		return u.Close()
	}
	return r, nil
}

// sumTo is 0 + 1 + ... + n-1.
func sumTo(n int) float64 { return float64(n) * float64(n-1) / 2 }
