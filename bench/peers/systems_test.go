package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestXoshiro compares with numbers from the authors' generator.
func TestXoshiro(t *testing.T) {
	for _, c := range []struct {
		from xoshiro
		want []uint32
	}{
		{xoshiro{1, 2, 3, 4}, []uint32{11520, 0, 5927040, 70819200, 2031721883, 1637235492}},
		{seeded(dataSeed), []uint32{1960634880, 1960611840, 3117724897, 4146437857}},
	} {
		for i, want := range c.want {
			require.Equal(t, want, c.from.next(), "number %d", i)
		}
	}
	x := seeded(1)
	seen := map[uint32]int{}
	for range 6000 {
		seen[x.between(3, 8)]++
	}
	require.Len(t, seen, 6)
	for v := uint32(3); v <= 8; v++ {
		require.InDelta(t, 1000, seen[v], 150, "%d", v)
	}
}

// TestSteps compares a thousand updates of one entity with the results of ecs_benchmark's own
// formulas, compiled by gcc.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		from, place Position32
		speed       Velocity32
	}{
		{Position32{10, 20}, Position32{48.6665649, 49.1666298}, Velocity32{0, 5}},
		{Position32{50, 20}, Position32{69.3332367, 57.1663055}, Velocity32{-4, 3}},
	} {
		a := actorAt(0, 1, false)
		a.position = c.from
		for range 1000 {
			a.update(newFrame(), true)
		}
		require.Equal(t, c.place, a.position)
		require.Equal(t, c.speed, a.velocity)
		require.Equal(t, int32(1000), a.data.Thingy)
		require.Equal(t, 0.0016666667535900981, a.data.Dingy)
		require.False(t, a.data.Mingy)
		require.Equal(t, uint32(192269876), a.data.Numgy)
	}
}

func TestMove(t *testing.T) {
	p := Position32{1, 2}
	p.move(&Velocity32{60, -30})
	require.Equal(t, Position32{2, 1.5}, p)
}

func TestCount(t *testing.T) {
	d := ActorData{Thingy: 999_999, Mingy: true}
	d.count()
	require.Equal(t, ActorData{Dingy: 0.0001 * float64(timeStep)}, d)
	d.count()
	require.Equal(t, ActorData{Thingy: 1, Dingy: 2 * 0.0001 * float64(timeStep), Mingy: true}, d)
}

// TestSteer: only every tenth step turns, and the side of the diagonal decides which axis has the
// wider range. The generator's first numbers are 11520 and 0.
func TestSteer(t *testing.T) {
	for name, c := range map[string]struct {
		thingy int32
		at     Position32
		want   Velocity32
	}{
		"right of the diagonal": {10, Position32{2, 1}, Velocity32{11520%17 + 3 - 10, 0}},
		"left of it":            {20, Position32{1, 2}, Velocity32{11520 % 6, 0%17 + 3 - 10}},
		"on it":                 {0, Position32{1, 1}, Velocity32{11520 % 6, 0%17 + 3 - 10}},
		"another step":          {11, Position32{2, 1}, Velocity32{1, 1}},
	} {
		d, v := ActorData{Thingy: c.thingy, RNG: xoshiro{1, 2, 3, 4}}, Velocity32{1, 1}
		v.steer(&c.at, &d)
		require.Equal(t, c.want, v, name)
		require.Equal(t, c.thingy%10 == 0, d.RNG != xoshiro{1, 2, 3, 4}, name)
	}
	d := ActorData{RNG: seeded(7)}
	least, most := Velocity32{100, 100}, Velocity32{-100, -100}
	for range 10_000 {
		var v Velocity32
		v.steer(&Position32{1, 0}, &d)
		least = Velocity32{min(least.X, v.X), min(least.Y, v.Y)}
		most = Velocity32{max(most.X, v.X), max(most.Y, v.Y)}
	}
	require.Equal(t, Velocity32{-7, 0}, least)
	require.Equal(t, Velocity32{9, 5}, most)
}

func TestLive(t *testing.T) {
	for name, c := range map[string]struct{ from, want Health }{
		"born without health dies": {Health{0, 9, Spawned}, Health{0, 9, Dead}},
		"killed":                   {Health{0, 9, Alive}, Health{0, 9, Dead}},
		"less than none is none":   {Health{-3, 9, Alive}, Health{0, 9, Dead}},
		"dead comes again":         {Health{0, 9, Dead}, Health{9, 9, Spawned}},
		"dead with less than none": {Health{-3, 9, Dead}, Health{-3, 9, Alive}},
		"spawned with all lives":   {Health{9, 9, Spawned}, Health{9, 9, Alive}},
		"more than all is cut":     {Health{12, 9, Spawned}, Health{9, 9, Alive}},
		"spawned and hurt lives":   {Health{5, 9, Spawned}, Health{5, 9, Alive}},
		"alive with all stays":     {Health{9, 9, Alive}, Health{9, 9, Alive}},
		"alive with more stays":    {Health{12, 9, Alive}, Health{12, 9, Alive}},
		"alive and hurt stays":     {Health{5, 9, Alive}, Health{5, 9, Alive}},
		"dead with health lives":   {Health{5, 9, Dead}, Health{5, 9, Alive}},
	} {
		h := c.from
		h.live()
		require.Equal(t, c.want, h, name)
	}
}

func TestSuffer(t *testing.T) {
	for _, c := range []struct {
		hp   int32
		d    Damage
		want int32
	}{
		{9, Damage{5, 3}, 7}, {9, Damage{3, 3}, 9}, {9, Damage{3, 5}, 9}, {2, Damage{9, 3}, 0}, {0, Damage{9, 3}, 0},
		{-1, Damage{9, 3}, -1},
	} {
		h := Health{c.hp, 10, Alive}
		h.suffer(&c.d)
		require.Equal(t, Health{c.want, 10, Alive}, h, "%+v", c)
	}
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		status Status
		kind   PlayerType
		want   byte
	}{
		{Spawned, Hero, '_'}, {Spawned, NPC, '_'}, {Dead, Hero, '|'}, {Dead, Monster, '|'}, {Alive, Hero, '@'},
		{Alive, Monster, 'k'}, {Alive, NPC, 'h'}, {Alive, 7, ' '}, {7, Hero, ' '},
	} {
		s := Sprite{'?'}
		s.show(&Player{Type: c.kind}, &Health{Status: c.status})
		require.Equal(t, string(c.want), string(s.Character), "%+v", c)
	}
}

func TestDraw(t *testing.T) {
	for _, c := range []struct {
		at   Position32
		want int // -1: nowhere
	}{
		{Position32{0, 0}, 0}, {Position32{-0.9, 0.9}, 0}, {Position32{319.9, 239.9}, frameWidth*frameHeight - 1},
		{Position32{5.5, 2.5}, 2*frameWidth + 5}, {Position32{320, 0}, -1}, {Position32{0, 240}, -1},
		{Position32{-1, 0}, -1}, {Position32{0, -1}, -1},
	} {
		f := newFrame()
		f.draw(&c.at, &Sprite{heroSprite})
		drawn := -1
		for k := range f {
			if f[k] != 0 {
				drawn = k
			}
		}
		require.Equal(t, c.want, drawn, "%v", c.at)
	}
}

// mixedByCounting returns which entity has which components, in the way in which ecs_benchmark
// builds its mixed worlds: with running counters.
func mixedByCounting(n int) []parts {
	list := make([]parts, n)
	for i, j := 0, 0; i < n; i++ {
		list[i] = hasPosition | hasVelocity | hasData
		if n < 100 || i >= n/2 && i <= 3*n/4 {
			if n < 100 || j%10 == 0 {
				for every, part := range map[int]parts{7: hasPosition, 11: hasVelocity, 13: hasData} {
					if i%every == 0 {
						list[i] &^= part
					}
				}
			}
			j++
		}
	}
	for i, j := 0, 0; i < n; i++ {
		if n >= 100 || i == 0 || i >= n/8 {
			if (n >= 100 || i == 0 || j%2 == 0) && i%2 == 0 {
				list[i] |= playingParts
			}
			j++
		}
	}
	return list
}

func TestMixed(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 31, 77, 99, 100, 101, 102, 103, 1000, 16_000} {
		want := mixedByCounting(n)
		for i := range n {
			require.Equal(t, want[i], actorAt(i, n, true).has, "%d of %d", i, n)
		}
	}
	kinds := map[parts]int{}
	for i := range 16_000 {
		kinds[actorAt(i, 16_000, true).has]++
	}
	require.Len(t, kinds, 5)
	require.Equal(t, 8000, kinds[hasPosition|hasVelocity|hasData])
}

// TestPlayers: the types are as frequent as they should be, each with its own ranges.
func TestPlayers(t *testing.T) {
	const n = 20_000
	count := map[PlayerType]int{}
	for i := range n {
		a := actorAt(i, n, false)
		count[a.player.Type]++
		low := map[PlayerType]int32{NPC: 6, Hero: 5, Monster: 4}
		high := map[PlayerType]int32{NPC: 12, Hero: 15, Monster: 12}
		require.GreaterOrEqual(t, a.health.Max, low[a.player.Type])
		require.LessOrEqual(t, a.health.Max, high[a.player.Type])
		require.Equal(t, a.player.Type == NPC, a.damage.Attack == 0)
		require.True(t, a.position.X >= -100 && a.position.X <= 320 && a.position.Y >= -100 && a.position.Y <= 240)
	}
	require.InDelta(t, 0.03, float64(count[NPC])/n, 0.005)
	require.InDelta(t, 0.27, float64(count[Hero])/n, 0.02)
	require.Equal(t, Hero, func() PlayerType { a := actorAt(0, 100, true); return a.player.Type }())
	require.Equal(t, Monster, func() PlayerType { a := actorAt(2, 100, true); return a.player.Type }())
	require.Equal(t, Hero, func() PlayerType { a := actorAt(4, 100, true); return a.player.Type }())
}

// TestDigest: every field of every component counts, and so does which components are there.
func TestDigest(t *testing.T) {
	base := actorAt(3, 10, false)
	seen := map[uint64]string{base.row().digest(): "base"}
	for name, change := range map[string]func(a *actor){
		"x": func(a *actor) { a.position.X++ }, "y": func(a *actor) { a.position.Y++ },
		"vx": func(a *actor) { a.velocity.X++ }, "vy": func(a *actor) { a.velocity.Y++ },
		"swapped": func(a *actor) { a.position.X, a.position.Y = a.position.Y, a.position.X },
		"thingy":  func(a *actor) { a.data.Thingy++ }, "dingy": func(a *actor) { a.data.Dingy++ },
		"mingy": func(a *actor) { a.data.Mingy = true }, "seed": func(a *actor) { a.data.Seed++ },
		"numgy": func(a *actor) { a.data.Numgy++ }, "rng": func(a *actor) { a.data.RNG.next() },
		"type": func(a *actor) { a.player.Type++ }, "own rng": func(a *actor) { a.player.RNG.next() },
		"hp": func(a *actor) { a.health.HP++ }, "max": func(a *actor) { a.health.Max++ },
		"status": func(a *actor) { a.health.Status++ }, "attack": func(a *actor) { a.damage.Attack++ },
		"defence": func(a *actor) { a.damage.Defence++ }, "sprite": func(a *actor) { a.sprite.Character++ },
		"no position": func(a *actor) { a.has &^= hasPosition }, "no data": func(a *actor) { a.has &^= hasData },
		"no sprite": func(a *actor) { a.has &^= hasSprite }, "nothing": func(a *actor) { a.has = 0 },
	} {
		a := base
		change(&a)
		d := a.row().digest()
		require.NotContains(t, seen, d, name)
		seen[d] = name
	}
}

// TestSystemsAgree: every entrant has the twin's state, at sizes where the mixed worlds differ,
// before the first update and after many, and the twin moves.
func TestSystemsAgree(t *testing.T) {
	for _, w := range systemsWorkloads {
		for _, n := range []int{1, 2, 99, 100, 1000} {
			for _, way := range waysOf(w.name) {
				at, err := way.build(n)
				require.NoError(t, err)
				switch trial := at.(type) {
				case repeated:
					done := 0
					for _, times := range []int{1, 1, 1, 20} {
						trial.pass(times)
						done += times
						require.NoError(t, trial.check(done), "%s on %s, n=%d, %d updates",
							way.entrant, w.name, n, done)
					}
					// Remove and add end in the initial state, and the only entity of a mixed world
					// lacks the components to do anything.
					if w.name != "systems-remove-add" && n > 1 {
						require.ErrorIs(t, trial.check(done+1), errWrong, "%s on %s, n=%d", way.entrant, w.name, n)
					}
				case restored:
					trial.once()
					require.NoError(t, trial.check(1), "%s on %s, n=%d", way.entrant, w.name, n)
					require.NoError(t, trial.restore())
					require.ErrorIs(t, trial.check(1), errWrong, "%s on %s, n=%d", way.entrant, w.name, n)
					trial.once()
					require.NoError(t, trial.check(2), "%s on %s, n=%d", way.entrant, w.name, n)
				}
				require.NoError(t, at.close())
			}
		}
	}
}

// TestFrame: a picture is compared place by place.
func TestFrame(t *testing.T) {
	st := &stage{n: 200, complex: true}
	w := newTwin(st)
	w.update(3, true)
	require.NoError(t, w.wantFrame(w.frame))
	drawn := slices.IndexFunc(w.frame, func(c byte) bool { return c != 0 })
	empty := slices.Index(w.frame, 0)
	for k, c := range map[int]byte{drawn: '?', empty: heroSprite} {
		f := slices.Clone(w.frame)
		f[k] = c
		require.ErrorIs(t, w.wantFrame(f), errWrong, "%q at %d", c, k)
	}
	f := slices.Clone(w.frame)
	f[drawn] = 0
	require.ErrorIs(t, w.wantFrame(f), errWrong)
}

// TestWrongSystems: a component swapped with another entity's is noticed, although each column by
// itself holds the same values.
func TestWrongSystems(t *testing.T) {
	at, err := buildSliceStage(stage{n: 100, frame: newFrame()})
	require.NoError(t, err)
	s := at.(*sliceStage)
	require.NoError(t, s.check(0))
	p := s.kinds[0].position
	p[3], p[4] = p[4], p[3]
	require.ErrorIs(t, s.check(0), errWrong)
}
