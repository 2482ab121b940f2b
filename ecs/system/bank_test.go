package system_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// soak is how long a stress test runs: QUARRY_SOAK, or not long.
func soak(t *testing.T) time.Duration {
	d, err := time.ParseDuration(os.Getenv("QUARRY_SOAK"))
	if err != nil {
		d = 300 * time.Millisecond
	}
	t.Logf("%v; QUARRY_SOAK=60s for longer", d)
	return d
}

// bank is a world with types of all kinds that snapshots have, whose frames change everything and
// note in the tally of one entity, the totals, how many there are of what. The sum of the coins is
// 0 at the end of each frame, and each row has its number, twice.
type bank struct {
	t       *testing.T
	w       *ecs.World
	r       *rand.Rand
	systems *system.Systems
	counts

	coin   ecs.Component[coin]
	echo   ecs.Component[echo] // written by a job that the end of the frame completes
	tag    ecs.Component[tag]
	awake  ecs.Component[awake]
	trail  ecs.Buffer[int64] // consecutive numbers
	team   ecs.Shared[team]
	debt   ecs.Sparse[debt]
	tally  ecs.Component[tally]
	totals ecs.Entity

	coins, changed, upright *ecs.Query
	frame                   int64 // never goes back, so that no two states are the same
	living                  []ecs.Entity
	held                    []*ecs.Snapshot // of the owner
	asked                   chan forkRequest
	stop                    chan struct{}
}

type (
	coin  struct{ Amount, Frame, Not int64 } // Not is ^Amount
	echo  struct{ Frame int64 }
	tag   struct{}
	awake struct{ N int32 }
	team  struct{ N int }
	debt  struct{ Plus, Minus int64 }
)

const teams = 3

// tally is what a frame leaves behind.
type tally struct {
	Frame                                          int64
	Rows, Tagged, Upright, Elements, Marked, Named int
	Teams                                          [teams]int
}

func openBank(t *testing.T, w *ecs.World) *bank {
	b := &bank{t: t, w: w, r: rand.New(rand.NewPCG(11, 13)), systems: system.New(w), asked: make(chan forkRequest, 4),
		stop: make(chan struct{})}
	b.coin, b.echo, b.tag = ecs.Register[coin](w), ecs.Register[echo](w), ecs.Register[tag](w)
	b.awake = ecs.Register[awake](w, ecs.Enableable)
	b.trail, b.team, b.debt = ecs.RegisterBuffer[int64](w), ecs.RegisterShared[team](w), ecs.RegisterSparse[debt](w)
	b.tally = ecs.Register[tally](w)
	b.totals = ecs.NewArchetype(w, b.tally).Create()
	w.SetName(b.totals, "totals")
	b.coins = ecs.NewQuery(w, ecs.Read(b.coin), ecs.Read(b.echo), ecs.Optional(ecs.Read(b.tag)),
		ecs.Optional(ecs.Read(b.team)), ecs.Optional(ecs.Read(b.trail)))
	b.changed = ecs.NewQuery(w, ecs.Changed(b.coin))
	b.upright = ecs.NewQuery(w, ecs.Read(b.coin), ecs.Read(b.awake))
	b.create(1500)
	b.collect()
	b.addSystems()
	return b
}

// addSystems adds the systems of a frame.
func (b *bank) addSystems() {
	b.systems.Add("change", system.Make(func(*system.State) func() {
		return func() {
			for range 30 {
				b.change(b.living[b.r.IntN(len(b.living))])
			}
		}
	}))
	b.systems.Add("give", system.Make(func(s *system.State) func() {
		give := s.For(s.Query(ecs.Write(b.coin)))
		body := func(_ *job.Ctx, rows ecs.Rows) { giveCoins(b.coin.Slice(rows), b.frame) }
		return func() {
			var ballast []alloc.ChunkIndex
			if b.r.IntN(10) == 0 { // no memory is left to keep old bytes in: snapshots are lost
				ballast = b.takeAll()
			}
			err := give.Parallel(body).Complete()
			for _, c := range ballast {
				b.w.Universe().Free(c, 1)
			}
			require.NoError(b.t, err)
		}
	}), system.After("change"))
	b.systems.Add("count", system.Make(func(*system.State) func() {
		return func() { *b.tally.Mut(b.totals) = b.count() }
	}), system.After("give"))
	b.systems.Add("echo", system.Make(func(s *system.State) func() {
		repeat := s.For(s.Query(ecs.Write(b.echo), ecs.Read(b.coin)))
		body := func(_ *job.Ctx, rows ecs.Rows) {
			coins, echoes := b.coin.Slice(rows), b.echo.Slice(rows)
			for i := range coins {
				echoes[i].Frame = coins[i].Frame
			}
		}
		return func() { repeat.Parallel(body) } // the end of the frame completes it
	}), system.After("count"))
}

// giveCoins moves an amount between neighbors and numbers the rows.
func giveCoins(coins []coin, frame int64) {
	for i := range coins {
		c := &coins[i]
		if by := frame%97 + int64(i/2); i%2 == 0 && i+1 < len(coins) {
			c.Amount += by
		} else if i%2 == 1 {
			c.Amount -= by
		}
		c.Frame, c.Not = frame, ^c.Amount
	}
}

// takeAll takes all memory of the universe that is free.
func (b *bank) takeAll() (list []alloc.ChunkIndex) {
	for {
		first, n, err := b.w.Universe().Alloc(64)
		if err != nil {
			require.ErrorIs(b.t, err, alloc.ErrFull)
			return list
		}
		for i := range n {
			list = append(list, first+alloc.ChunkIndex(i))
		}
	}
}

// step runs a frame, and what the owner does between two.
func (b *bank) step() {
	b.frame++
	require.NoError(b.t, b.systems.Step(time.Millisecond))
	b.serve()
	switch op := b.r.IntN(12); {
	case op == 0 && len(b.held) < 3:
		b.held = append(b.held, b.w.Snapshot())
	case op == 1 && len(b.held) > 0:
		i := b.r.IntN(len(b.held))
		b.held[i].Close()
		b.held = append(b.held[:i], b.held[i+1:]...)
	case op == 2 && len(b.held) > 0:
		s := b.held[b.r.IntN(len(b.held))]
		if err := b.w.Restore(s); err != nil {
			require.True(b.t, allowed(err, s), err)
			return
		}
		b.restores++
		b.collect()
		require.Equal(b.t, *b.tally.Get(b.totals), b.count(), "restored")
	case op == 3:
		require.NoError(b.t, b.w.Verify())
	}
}

// create makes n rows without an amount.
func (b *bank) create(n int) {
	types := []ecs.Type{b.coin, b.echo}
	for _, t := range []ecs.Type{b.tag, b.awake, b.trail, b.team.Of(team{b.r.IntN(teams)})} {
		if b.r.IntN(2) == 0 {
			types = append(types, t)
		}
	}
	batch, err := ecs.NewArchetype(b.w, types...).CreateN(n)
	require.NoError(b.t, err)
	for rows := range batch.Rows() {
		for i := range b.coin.Slice(rows) {
			b.coin.Slice(rows)[i].Not = ^0
		}
		b.living = append(b.living, rows.Entities()...)
	}
}

// change changes the structure by a row that may be dead.
func (b *bank) change(e ecs.Entity) {
	r := b.r
	if !b.w.Alive(e) {
		return
	}
	switch op := r.IntN(11); {
	case op == 0 && len(b.living) < 2500:
		b.create(1 + r.IntN(60))
	case op == 1 || op == 2:
		b.destroy(e)
	case op == 3 && !b.tag.Remove(e):
		b.tag.Add(e, tag{})
	case op == 4 && !b.awake.Remove(e):
		b.awake.Add(e, awake{})
	case op == 5 && !b.awake.Disable(e):
		b.awake.Enable(e)
	case op == 6:
		if d, ok := b.trail.Mut(e); !ok {
			b.trail.Add(e)
		} else if d.Len() > 300 {
			d.Resize(d.Len() / 3)
			d.Trim()
		} else {
			b.extend(d)
		}
	case op == 7 && !b.trail.Remove(e):
		b.trail.Add(e)
	case op == 8:
		b.team.Add(e, team{0})
		b.team.Set(e, team{r.IntN(teams)})
	case op == 9 && !b.debt.Remove(e):
		b.debt.Add(e, debt{b.frame, -b.frame})
	case op == 10:
		b.w.SetName(e, nameOf(e))
		for _, d := range b.debt.Slice() {
			d.Plus, d.Minus = d.Minus, d.Plus
		}
	}
}

func nameOf(e ecs.Entity) string { return fmt.Sprint("row ", e) }

// extend appends consecutive numbers to a buffer, or counts all of them up.
func (b *bank) extend(d ecs.DynamicBuffer[int64]) {
	if d.Len() == 0 {
		d.Append(b.frame)
	}
	for i := range d.Slice() {
		d.Slice()[i]++
	}
	for range b.r.IntN(40) {
		d.Append(d.Slice()[d.Len()-1] + 1)
	}
}

// destroy destroys a row, whose amount another one gets.
func (b *bank) destroy(e ecs.Entity) {
	heir := b.living[b.r.IntN(len(b.living))]
	if heir == e || !b.w.Alive(heir) || len(b.living) < 500 {
		return
	}
	left, to := *b.coin.Get(e), b.coin.Mut(heir)
	to.Amount += left.Amount
	to.Not = ^to.Amount
	b.w.Destroy(e)
	if len(b.living) > 2000 {
		b.collect()
	}
}

// collect lists the rows that are alive.
func (b *bank) collect() {
	b.living = b.living[:0]
	for rows := range b.coins.Rows() {
		b.living = append(b.living, rows.Entities()...)
	}
}

// count counts what there is in the world.
func (b *bank) count() (c tally) {
	c.Frame = b.coinFrame()
	for rows := range b.coins.Rows() {
		c.add(b, rows, b.w.Name)
	}
	c.Upright, c.Marked = b.upright.Count(), b.debt.Len()
	return c
}

func (b *bank) coinFrame() int64 {
	for rows := range b.coins.Rows() {
		return b.coin.Slice(rows)[0].Frame
	}
	return 0
}

// add counts rows, of the world or of a snapshot.
func (c *tally) add(b *bank, rows ecs.Rows, name func(ecs.Entity) string) {
	c.Rows += rows.Len()
	if b.tag.In(rows) {
		c.Tagged += rows.Len()
	}
	if v, ok := b.team.At(rows); ok {
		c.Teams[v.N] += rows.Len()
	}
	for i, e := range rows.Entities() {
		if b.trail.In(rows) {
			c.Elements += b.trail.At(rows, i).Len()
		}
		if name(e) != "" {
			c.Named++
		}
	}
}

// sums are what a reader finds.
type sums struct{ tally }

// read reads all rows of a snapshot and compares them with its tally.
func (c *sums) read(b *bank, s *ecs.Snapshot) error {
	want := *b.tally.Lookup(s).Get(b.totals)
	sum := int64(0)
	for rows := range s.Rows(b.coins) {
		c.add(b, rows, s.Name)
		coins, echoes := b.coin.Slice(rows), b.echo.ReadOnly(rows)
		for i, e := range rows.Entities() {
			sum += coins[i].Amount
			if coins[i].Not != ^coins[i].Amount || coins[i].Frame != want.Frame || echoes[i].Frame != want.Frame {
				return fmt.Errorf("torn: %v, %v in frame %d", coins[i], echoes[i], want.Frame)
			}
			if name := s.Name(e); name != "" && name != nameOf(e) {
				return fmt.Errorf("%v is named %q", e, name)
			}
			if !b.trail.In(rows) {
				continue
			}
			for k, x := range b.trail.At(rows, i).Slice() {
				if x != b.trail.At(rows, i).Slice()[0]+int64(k) {
					return fmt.Errorf("torn: %v", b.trail.At(rows, i).Slice())
				}
			}
		}
	}
	c.Frame, c.Upright, c.Marked = want.Frame, s.Count(b.upright), want.Marked // lookUp compares the last
	if sum != 0 || c.tally != want || s.Len() != c.Rows+1 {
		return fmt.Errorf("a sum of %d and %+v of %d entities, want 0 and %+v", sum, c.tally, s.Len(), want)
	}
	return nil
}
