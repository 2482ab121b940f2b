package main

import "math"

// row points to the components of an entity; nil for those that it lacks.
type row struct {
	position *Position32
	velocity *Velocity32
	data     *ActorData
	player   *Player
	health   *Health
	damage   *Damage
	sprite   *Sprite
}

// put writes the values of a to the components that r points to.
func (r row) put(a *actor) {
	put(r.position, &a.position)
	put(r.velocity, &a.velocity)
	put(r.data, &a.data)
	put(r.player, &a.player)
	put(r.health, &a.health)
	put(r.damage, &a.damage)
	put(r.sprite, &a.sprite)
}

func put[T any](to, from *T) {
	if to != nil {
		*to = *from
	}
}

// row points to the components that the actor has.
func (a *actor) row() row {
	return row{
		pick(a.has, hasPosition, &a.position), pick(a.has, hasVelocity, &a.velocity), pick(a.has, hasData, &a.data),
		pick(a.has, hasPlayer, &a.player), pick(a.has, hasHealth, &a.health), pick(a.has, hasDamage, &a.damage),
		pick(a.has, hasSprite, &a.sprite),
	}
}

func pick[T any](has, part parts, p *T) *T {
	if has&part == 0 {
		return nil
	}
	return p
}

// census counts entities and sums up a digest of each one's values: the order of entities does not
// matter, but which values belong together does.
type census struct {
	count int
	sum   uint64
}

func (c *census) add(r row) {
	c.count++
	c.sum += r.digest()
}

func (c census) want(w census) error {
	if c != w {
		return wrong("got %d entities with digest %#x, want %d with %#x", c.count, c.sum, w.count, w.sum)
	}
	return nil
}

// alike is the census of n entities with the same values.
func alike(n int, r row) census { return census{n, uint64(n) * r.digest()} }

// digest is a hash of all values, and of which components are there.
func (r row) digest() uint64 {
	h := digest(0)
	if p := r.position; p != nil {
		h.add(hasPosition, pair(math.Float32bits(p.X), math.Float32bits(p.Y)))
	}
	if v := r.velocity; v != nil {
		h.add(hasVelocity, pair(math.Float32bits(v.X), math.Float32bits(v.Y)))
	}
	if d := r.data; d != nil {
		odd := uint32(0)
		if d.Mingy {
			odd = 1
		}
		h.add(hasData, pair(uint32(d.Thingy), odd), math.Float64bits(d.Dingy), pair(d.Seed, d.Numgy),
			pair(d.RNG[0], d.RNG[1]), pair(d.RNG[2], d.RNG[3]))
	}
	if p := r.player; p != nil {
		h.add(hasPlayer, uint64(p.Type), pair(p.RNG[0], p.RNG[1]), pair(p.RNG[2], p.RNG[3]))
	}
	if l := r.health; l != nil {
		h.add(hasHealth, pair(uint32(l.HP), uint32(l.Max)), uint64(l.Status))
	}
	if d := r.damage; d != nil {
		h.add(hasDamage, pair(uint32(d.Attack), uint32(d.Defence)))
	}
	if s := r.sprite; s != nil {
		h.add(hasSprite, uint64(s.Character))
	}
	return uint64(h)
}

type digest uint64

// add mixes words in. Each step is one to one, so that changing a single word always changes the
// digest.
func (h *digest) add(part parts, words ...uint64) {
	x := uint64(*h) + uint64(part)
	for _, w := range words {
		x = (x ^ w) * 0x9e3779b97f4a7c15
		x ^= x >> 32
	}
	*h = digest(x)
}

func pair(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }
