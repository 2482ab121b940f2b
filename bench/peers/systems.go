package main

import (
	"math/bits"
	"slices"
)

// The workloads of ecs_benchmark (A. Beimler): entities with up to seven
// components of 1 to 48 bytes, and seven systems that go over them one after the
// other, 60 updates a second. All entrants call the same formulas, and what they
// hold after all updates of a round is compared with a twin, value by value.
//
// What is not as there: the seed of a player is made of the entity's number, not
// of its address, so that every entrant has the same; an entity gets its
// components when it is made, not one after the other; in unpack3 the entities
// without Data are read too. As there, all Data begin with the same seed, so that
// all entities steer in the same update, and mixed worlds destroy nothing. Faster
// entrants do more updates in a round, in which some entities leave the picture.

var systemsWorkloads = []workload{
	{name: "systems-create", what: "an entity with Position and Velocity made in a fresh world", sizes: systemsSizes},
	{name: "systems-create-empty", what: "an entity without components made in a fresh world", sizes: systemsSizes},
	{name: "systems-destroy", what: "an entity with Position and Velocity taken away", sizes: systemsSizes},
	{name: "systems-unpack1", what: "Position of an entity, in the order of creation", sizes: systemsSizes},
	{name: "systems-unpack2", what: "Position and Velocity", sizes: systemsSizes},
	{name: "systems-unpack3", what: "Position, Velocity and Data, which half of the entities have", sizes: systemsSizes},
	{name: "systems-remove-add", what: "Position removed from an entity and added again", sizes: systemsSizes},
	{name: "systems-update", what: "an update of two systems: Movement and Data", sizes: systemsSizes},
	{name: "systems-update-mixed", what: "the same, entities spread over archetypes", sizes: systemsSizes},
	{name: "systems-complex", what: "an update of all seven systems", sizes: systemsSizes},
	{name: "systems-complex-mixed", what: "the same, entities spread over archetypes", sizes: systemsSizes},
}

var systemsSizes = []int{small, usual, large, million}

// systemsWays are all entrants on these workloads.
var systemsWays = slices.Concat(systemsSliceWays,
	systemsQuarryWays, systemsQuarryLifeWays, systemsQuarryUnpackWays,
	systemsArkWays, systemsArkLifeWays, systemsArcheWays, systemsArcheLifeWays)

// The components of the systems.
type (
	Position32 struct{ X, Y float32 }
	Velocity32 struct{ X, Y float32 }

	// ActorData is the component Data: numbers of several sizes.
	ActorData struct {
		Thingy int32
		Dingy  float64
		Mingy  bool
		Seed   uint32
		RNG    xoshiro
		Numgy  uint32
	}

	Player struct {
		RNG  xoshiro
		Type PlayerType
	}
	Health struct {
		HP, Max int32
		Status  Status
	}
	Damage struct{ Attack, Defence int32 }
	Sprite struct{ Character byte }
)

// PlayerType is what an entity is in the game, Status what became of it.
type (
	PlayerType int32
	Status     int32
)

const (
	NPC PlayerType = iota
	Monster
	Hero
)

const (
	Spawned Status = iota
	Dead
	Alive
)

// What sprites show.
const (
	heroSprite    = '@'
	monsterSprite = 'k'
	npcSprite     = 'h'
	graveSprite   = '|'
	spawnSprite   = '_'
	noSprite      = ' '
)

// timeStep is the time between two updates, in seconds.
const timeStep float32 = 1.0 / 60

// xoshiro is the state of xoshiro128** 1.1 (D. Blackman and S. Vigna,
// prng.di.unimi.it), which must not be all zero.
type xoshiro [4]uint32

// seeded adds the first odd primes to a seed, as the original does.
func seeded(seed uint32) xoshiro { return xoshiro{seed + 3, seed + 5, seed + 7, seed + 11} }

func (x *xoshiro) next() uint32 {
	a, b, c, d := x[0], x[1], x[2]^x[0], x[3]^x[1]
	x[0], x[1], x[2], x[3] = a^d, b^c, c^b<<9, bits.RotateLeft32(d, 11)
	return bits.RotateLeft32(b*5, 7) * 9
}

// between returns a number in [low, high].
func (x *xoshiro) between(low, high uint32) uint32 { return x.next()%(high-low+1) + low }

// The systems, for one entity each. Products are rounded before they are added:
// without the conversion a compiler may fuse both in one place and not in another.

// move is the system Movement.
func (p *Position32) move(v *Velocity32) {
	p.X += float32(v.X * timeStep)
	p.Y += float32(v.Y * timeStep)
}

// count is the system Data but for d.Numgy = d.RNG.next(), which its callers write
// out: with it the method would be too large for the compiler to inline, and a
// call would cost every entrant half as much as the work.
func (d *ActorData) count() {
	d.Thingy = (d.Thingy + 1) % 1_000_000
	d.Dingy += 0.0001 * float64(timeStep)
	d.Mingy = !d.Mingy
}

// steer is the system MoreComplex: at every tenth step of its data an entity
// gets another velocity, which depends on the side of the diagonal that it is on.
func (v *Velocity32) steer(p *Position32, d *ActorData) {
	if d.Thingy%10 == 0 {
		v.turn(p, d)
	}
}

func (v *Velocity32) turn(p *Position32, d *ActorData) {
	if p.X > p.Y {
		v.X = float32(d.RNG.between(3, 19)) - 10
		v.Y = float32(d.RNG.between(0, 5))
	} else {
		v.X = float32(d.RNG.between(0, 5))
		v.Y = float32(d.RNG.between(3, 19)) - 10
	}
}

// live is the system Health: who has no health left dies, and is born again with
// all of it one update later.
func (h *Health) live() {
	switch {
	case h.HP <= 0 && h.Status != Dead:
		h.HP, h.Status = 0, Dead
	case h.HP == 0 && h.Status == Dead:
		h.HP, h.Status = h.Max, Spawned
	case h.HP >= h.Max && h.Status != Alive:
		h.HP, h.Status = h.Max, Alive
	default:
		h.Status = Alive
	}
}

// suffer is the system Damage.
func (h *Health) suffer(d *Damage) {
	if total := d.Attack - d.Defence; h.HP > 0 && total > 0 {
		h.HP = max(h.HP-total, 0)
	}
}

// show is the system Sprite.
func (s *Sprite) show(p *Player, h *Health) {
	c := byte(noSprite)
	switch h.Status {
	case Spawned:
		c = spawnSprite
	case Dead:
		c = graveSprite
	case Alive:
		switch p.Type {
		case Hero:
			c = heroSprite
		case Monster:
			c = monsterSprite
		case NPC:
			c = npcSprite
		}
	}
	s.Character = c
}

// Size of the picture.
const (
	frameWidth  = 320
	frameHeight = 240
)

// frame is the picture that sprites are drawn into, row by row; 0 is a place
// that was never drawn. It is never cleared, as in the original.
type frame []byte

func newFrame() frame { return make(frame, frameWidth*frameHeight) }

// draw is the system Render: what is outside is not drawn.
func (f frame) draw(p *Position32, s *Sprite) {
	if k, inside := place(p); inside {
		f[k] = s.Character
	}
}

// place is where in a frame a position is. Coordinates are cut toward zero.
func place(p *Position32) (k int, inside bool) {
	x, y := int(p.X), int(p.Y)
	return y*frameWidth + x, uint(x) < frameWidth && uint(y) < frameHeight
}
