package main

import (
	"math/bits"
	"slices"
)

// The workloads of ecs_benchmark (A. Beimler): entities with up to seven components of 1 to 48
// bytes, and seven systems that go over them one after the other, 60 updates per second. All
// entrants call the same formulas, and their state after all updates of a round is compared with a
// twin, value by value.
//
// These differ from the original: the seed of a player is made from the entity's number, not from
// its address, so that every entrant has the same; an entity gets its components when it is
// created, not one after the other; unpack3 reads the entities without Data too. As in the
// original, all Data begin with the same seed, so that all entities steer in the same update, and
// mixed worlds destroy nothing. Faster entrants do more updates in a round, so that some entities
// leave the picture.

var systemsWorkloads = []workload{
	{name: "systems-create", what: "an entity with Position and Velocity made in a fresh world", sizes: systemsSizes},
	{name: "systems-create-empty", what: "an entity without components made in a fresh world", sizes: systemsSizes},
	{name: "systems-destroy", what: "an entity with Position and Velocity taken away", sizes: systemsSizes},
	{name: "systems-unpack1", what: "Position of an entity, in the order of creation", sizes: systemsSizes},
	{name: "systems-unpack2", what: "Position and Velocity", sizes: systemsSizes},
	{name: "systems-unpack3", what: "Position, Velocity and Data, which half of the entities have",
		sizes: systemsSizes},
	{name: "systems-remove-add", what: "Position removed from an entity and added again", sizes: systemsSizes},
	{name: "systems-update", what: "an update of two systems: Movement and Data", sizes: systemsSizes},
	{name: "systems-update-mixed", what: "the same, entities spread over archetypes", sizes: systemsSizes},
	{name: "systems-complex", what: "an update of all seven systems", sizes: systemsSizes},
	{name: "systems-complex-mixed", what: "the same, entities spread over archetypes", sizes: systemsSizes},
}

var systemsSizes = []int{small, usual, large, million}

// systemsWays has all entrants on these workloads.
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

// PlayerType is an entity's role in the game, Status its condition.
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

// The characters of sprites.
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

// The systems, for one entity each. Products are rounded before they are added: without the
// conversion a compiler may fuse both operations in one place and not in another.

// move is the system Movement.
func (p *Position32) move(v *Velocity32) {
	p.X += float32(v.X * timeStep)
	p.Y += float32(v.Y * timeStep)
}

// count is the system Data without d.Numgy = d.RNG.next(), which its callers write out: with that
// line the method would be too large for the compiler to inline, and a call would cost every
// entrant half as much as the work.
func (d *ActorData) count() {
	d.Thingy = (d.Thingy + 1) % 1_000_000
	d.Dingy += 0.0001 * float64(timeStep)
	d.Mingy = !d.Mingy
}

// steer is the system MoreComplex: at every tenth step of its data an entity gets a new velocity,
// which depends on its side of the diagonal.
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

// live is the system Health: an entity without health dies, and is reborn with full health one
// update later.
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

// frame is the picture that sprites are drawn into, row by row; 0 is a place that was never drawn.
// As in the original, it is never cleared.
type frame []byte

func newFrame() frame { return make(frame, frameWidth*frameHeight) }

// draw is the system Render: sprites outside the picture are not drawn.
func (f frame) draw(p *Position32, s *Sprite) {
	if k, inside := place(p); inside {
		f[k] = s.Character
	}
}

// place is the index in a frame for a position. Coordinates are truncated toward zero.
func place(p *Position32) (k int, inside bool) {
	x, y := int(p.X), int(p.Y)
	return y*frameWidth + x, uint(x) < frameWidth && uint(y) < frameHeight
}
