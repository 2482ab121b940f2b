package command

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// What a server records in a frame: units of eight components are born and die. BenchmarkUnits
// plays it, makes the same changes by calls, and does the same to a slice of structs.

type (
	stun  struct{ Left float32 }
	slot  struct{ N int32 }
	foe   struct{ Of ecs.Entity }
	item  struct{ Kind, Count int32 }
	squad struct{ N int }
)

// unitValues is what a unit has beside its items.
type unitValues struct {
	Pos  position
	Vel  velocity
	HP   health
	Slot slot
	Foe  foe
}

const (
	units     = 1 << 20 // about a million
	unitBatch = 1000    // commands of so many units are played at once
	unitTeams = 8
)

// army is a world of units.
type army struct {
	w     *ecs.World
	pos   ecs.Component[position]
	vel   ecs.Component[velocity]
	hp    ecs.Component[health]
	stun  ecs.Component[stun]
	slot  ecs.Component[slot]
	foe   ecs.Component[foe]
	items ecs.Buffer[item]
	teams [unitTeams]*ecs.Archetype
	spawn *Bundle[unitValues]

	list []ecs.Entity
	r    *rand.Rand
}

func newArmy(b *testing.B) *army {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	a := &army{w: w, pos: ecs.Register[position](w), vel: ecs.Register[velocity](w, ecs.Enableable),
		hp: ecs.Register[health](w), stun: ecs.Register[stun](w, ecs.Enableable), slot: ecs.Register[slot](w),
		foe: ecs.Register[foe](w), items: ecs.RegisterBuffer[item](w, ecs.Inline(4)), r: rand.New(rand.NewPCG(1, 2))}
	shared := ecs.RegisterShared[squad](w)
	for i := range a.teams {
		a.teams[i] = ecs.NewArchetype(w, a.pos, a.vel, a.hp, a.stun, a.slot, a.foe, a.items, shared.Of(squad{i}))
	}
	a.spawn = NewBundle[unitValues](w)
	return a
}

// bundle records a unit by a bundle.
func (a *army) bundle(cb *Buffer, i int) {
	f, of := float64(i), ecs.Null
	if len(a.list) > 0 {
		of = a.list[i%len(a.list)]
	}
	e := a.spawn.Create(cb, a.teams[i%unitTeams],
		unitValues{position{f, f}, velocity{1, f}, health{f}, slot{int32(i)}, foe{of}})
	Append(cb, e, a.items, item{1, int32(i)}, item{2, 2}, item{3, 3}, item{4, 4})
}

// record records a unit.
func (a *army) record(cb *Buffer, i int) {
	e := cb.Create(a.teams[i%unitTeams])
	f := float64(i)
	Set(cb, e, a.pos, position{f, f})
	Set(cb, e, a.vel, velocity{1, f})
	Set(cb, e, a.hp, health{f})
	Set(cb, e, a.slot, slot{int32(i)})
	if len(a.list) > 0 {
		Set(cb, e, a.foe, foe{a.list[i%len(a.list)]})
	} else {
		Set(cb, e, a.foe, foe{})
	}
	Append(cb, e, a.items, item{1, int32(i)}, item{2, 2}, item{3, 3}, item{4, 4})
}

// call makes a unit by calls.
func (a *army) call(i int) ecs.Entity {
	e := a.teams[i%unitTeams].Create()
	f := float64(i)
	a.pos.Set(e, position{f, f})
	a.vel.Set(e, velocity{1, f})
	a.hp.Set(e, health{f})
	a.slot.Set(e, slot{int32(i)})
	if len(a.list) > 0 {
		a.foe.Set(e, foe{a.list[i%len(a.list)]})
	} else {
		a.foe.Set(e, foe{})
	}
	a.items.Append(e, item{1, int32(i)}, item{2, 2}, item{3, 3}, item{4, 4})
	return e
}

// plainUnit is what a slice of structs holds.
type plainUnit struct {
	id    uint64
	pos   position
	vel   velocity
	hp    health
	_     stun
	slot  slot
	foe   uint64
	items [4]item
	n     int32
	team  int32
}

// plainArmy is the twin: units in a slice, found by a table of slots.
type plainArmy struct {
	units []plainUnit
	slots []struct{ at, generation uint32 }
	free  []uint32
}

func (a *plainArmy) create(i int) uint64 {
	var slotAt uint32
	if n := len(a.free); n > 0 {
		slotAt = a.free[n-1]
		a.free = a.free[:n-1]
	} else {
		slotAt = uint32(len(a.slots))
		a.slots = append(a.slots, struct{ at, generation uint32 }{})
	}
	s := &a.slots[slotAt]
	s.at, s.generation = uint32(len(a.units)), s.generation+1
	id, f := uint64(s.generation)<<32|uint64(slotAt), float64(i)
	foe := uint64(0)
	if len(a.units) > 0 {
		foe = a.units[i%len(a.units)].id
	}
	a.units = append(a.units, plainUnit{id: id, pos: position{f, f}, vel: velocity{1, f}, hp: health{f},
		slot: slot{int32(i)}, foe: foe, items: [4]item{{1, int32(i)}, {2, 2}, {3, 3}, {4, 4}}, n: 4,
		team: int32(i % unitTeams)})
	return id
}

func (a *plainArmy) destroy(id uint64) {
	s := &a.slots[uint32(id)]
	if s.generation != uint32(id>>32) {
		return
	}
	s.generation++
	at, last := s.at, len(a.units)-1
	a.units[at] = a.units[last]
	a.slots[uint32(a.units[at].id)].at = at
	a.units = a.units[:last]
	a.free = append(a.free, uint32(id))
}

// BenchmarkUnits makes a million units, in batches, and ends and makes again a batch of a million
// at random: ns a unit.
func BenchmarkUnits(b *testing.B) {
	b.Run("spawn/commands", func(b *testing.B) { benchSpawns(b, (*army).record) })
	b.Run("spawn/bundle", func(b *testing.B) { benchSpawns(b, (*army).bundle) })
	b.Run("spawn/calls", func(b *testing.B) { benchSpawns(b, nil) })
	b.Run("spawn/plain", func(b *testing.B) {
		for b.Loop() {
			a := &plainArmy{}
			for i := range units {
				a.create(i)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/units, "ns/unit")
	})
	b.Run("death/commands", func(b *testing.B) { benchDeaths(b, true) })
	b.Run("death/calls", func(b *testing.B) { benchDeaths(b, false) })
	b.Run("death/plain", func(b *testing.B) {
		a, r := &plainArmy{}, rand.New(rand.NewPCG(1, 2))
		list := make([]uint64, 0, units)
		for i := range units {
			list = append(list, a.create(i))
		}
		for b.Loop() {
			for i := range unitBatch {
				j := r.IntN(len(list))
				a.destroy(list[j])
				list[j] = list[len(list)-1-i]
			}
			b.StopTimer()
			for i := range unitBatch {
				list[len(list)-1-i] = a.create(i)
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/unitBatch, "ns/unit")
	})
}

// benchSpawns makes units by commands that record writes, or by calls if it is nil.
func benchSpawns(b *testing.B, record func(*army, *Buffer, int)) {
	a := newArmy(b)
	defer a.w.Close()
	cb := NewBuffer(a.w)
	defer cb.Close()
	var recorded int64
	for b.Loop() {
		b.StopTimer()
		a.w.Clear()
		b.StartTimer()
		for from := 0; from < units; from += unitBatch {
			if record == nil {
				for i := from; i < from+unitBatch; i++ {
					a.call(i)
				}
				continue
			}
			before := b.Elapsed()
			for i := from; i < from+unitBatch; i++ {
				record(a, cb, i)
			}
			recorded += int64(b.Elapsed() - before)
			if err := cb.Play(); err != nil {
				b.Fatal(err)
			}
		}
	}
	if record != nil {
		b.ReportMetric(float64(recorded)/float64(b.N)/units, "ns/record")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/units, "ns/unit")
}

func benchDeaths(b *testing.B, commands bool) {
	a := newArmy(b)
	defer a.w.Close()
	cb := NewBuffer(a.w)
	defer cb.Close()
	for i := range units {
		a.list = append(a.list, a.call(i))
	}
	for b.Loop() {
		for i := range unitBatch {
			j := a.r.IntN(len(a.list) - i)
			if e := a.list[j]; commands {
				cb.Destroy(e)
			} else {
				a.w.Destroy(e)
			}
			a.list[j] = a.list[len(a.list)-1-i]
		}
		if err := cb.Play(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		a.list = a.list[:len(a.list)-unitBatch]
		for i := range unitBatch {
			a.list = append(a.list, a.call(i))
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/unitBatch, "ns/unit")
}

// values2 and values3 are two values of an entity, and three, for bundles.
type values2 struct {
	Pos position
	HP  health
}
type values3 struct {
	Pos  position
	HP   health
	Slot slot
}

// BenchmarkTwoValues records and plays an entity with two values or three, and makes it by calls.
func BenchmarkTwoValues(b *testing.B) {
	a := newArmy(b)
	defer a.w.Close()
	two, three := ecs.NewArchetype(a.w, a.pos, a.hp), ecs.NewArchetype(a.w, a.pos, a.hp, a.slot)
	cb := NewBuffer(a.w)
	defer cb.Close()
	pair, triple := NewBundle[values2](a.w), NewBundle[values3](a.w)
	const n = 1000
	for _, c := range []struct {
		name string
		make func()
	}{
		{"two/commands", func() {
			for i := range n {
				e := cb.Create(two)
				Set(cb, e, a.pos, position{float64(i), 1})
				Set(cb, e, a.hp, health{float64(i)})
			}
			_ = cb.Play()
		}},
		{"two/calls", func() {
			for i := range n {
				e := two.Create()
				a.pos.Set(e, position{float64(i), 1})
				a.hp.Set(e, health{float64(i)})
			}
		}},
		{"two/bundle", func() {
			for i := range n {
				pair.Create(cb, two, values2{position{float64(i), 1}, health{float64(i)}})
			}
			_ = cb.Play()
		}},
		{"two/put", func() {
			plain := ecs.NewArchetype(a.w)
			for i := range n {
				e := cb.Create(plain)
				Put(cb, e, a.pos, position{float64(i), 1})
				Put(cb, e, a.hp, health{float64(i)})
			}
			_ = cb.Play()
		}},
		{"three/commands", func() {
			for i := range n {
				e := cb.Create(three)
				Set(cb, e, a.pos, position{float64(i), 1})
				Set(cb, e, a.hp, health{float64(i)})
				Set(cb, e, a.slot, slot{int32(i)})
			}
			_ = cb.Play()
		}},
		{"three/bundle", func() {
			for i := range n {
				triple.Create(cb, three, values3{position{float64(i), 1}, health{float64(i)}, slot{int32(i)}})
			}
			_ = cb.Play()
		}},
		{"three/calls", func() {
			for i := range n {
				e := three.Create()
				a.pos.Set(e, position{float64(i), 1})
				a.hp.Set(e, health{float64(i)})
				a.slot.Set(e, slot{int32(i)})
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				a.w.Clear()
				b.StartTimer()
				c.make()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/unit")
		})
	}
}
