package main

// parts has a flag for each component that an entity has.
type parts uint8

const (
	hasPosition parts = 1 << iota
	hasVelocity
	hasData
	hasPlayer
	hasHealth
	hasDamage
	hasSprite

	allParts = 1<<iota - 1

	movingParts  = hasPosition | hasVelocity
	playingParts = hasPosition | hasPlayer | hasHealth | hasDamage | hasSprite
)

// actor is an entity with the values of all components, including the ones that it lacks.
type actor struct {
	has      parts
	position Position32
	velocity Velocity32
	data     ActorData
	player   Player
	health   Health
	damage   Damage
	sprite   Sprite
}

// dataSeed is the initial seed of every entity's data.
const dataSeed = 340383

// actorAt makes entity i of n as it is before the first update. All entities are players with all
// components, except in mixed worlds.
func actorAt(i, n int, mixed bool) actor {
	a := actor{has: allParts, velocity: Velocity32{1, 1}, data: ActorData{Seed: dataSeed, RNG: seeded(dataSeed)}}
	a.data.Numgy = a.data.RNG.next()
	a.player.RNG = seeded(uint32(i) * 0x9e3779b9) // far apart for neighbours
	if !mixed {
		a.play(a.anyType())
		return a
	}
	a.has = mixedParts(i, n)
	switch {
	case !plays(i, n):
	case i != 0 && i%6 == 0:
		a.play(a.anyType())
	case i%4 == 0:
		a.play(Hero)
	default:
		a.play(Monster)
	}
	if plays(i, n) {
		a.has |= playingParts // a removed Position comes back
	}
	return a
}

// mixedParts returns which of the first three components entity i of a mixed world keeps: some
// entities of the third quarter lose some, or of the whole list if n is under 100.
func mixedParts(i, n int) parts {
	has := hasPosition | hasVelocity | hasData
	if first, last := 2*n/4, 3*n/4; n >= 100 && (i < first || i > last || (i-first)%10 != 0) {
		return has
	}
	for _, loss := range []struct {
		every int
		part  parts
	}{{7, hasPosition}, {11, hasVelocity}, {13, hasData}} {
		if i%loss.every == 0 {
			has &^= loss.part
		}
	}
	return has
}

// plays reports whether entity i of a mixed world is a player. Every even entity is; if n is under
// 100, only those whose turn after the first eighth is even, and the first.
func plays(i, n int) bool {
	if i%2 != 0 {
		return false
	}
	if n >= 100 || i == 0 {
		return true
	}
	turn := i // how many had a turn before
	if first := n / 8; first > 0 {
		turn = i - first + 1
	}
	return i >= n/8 && turn%2 == 0
}

// anyType draws the type of a player: 3 % are NPCs, 27 % heroes, the rest monsters.
func (a *actor) anyType() PlayerType {
	switch rate := a.player.RNG.between(1, 100); {
	case rate <= 3:
		return NPC
	case rate <= 30:
		return Hero
	}
	return Monster
}

// play makes a player, without health, which the first updates give, and somewhere in or around the
// picture.
func (a *actor) play(t PlayerType) {
	const margin = 100
	r := &a.player.RNG
	a.player.Type = t
	switch t {
	case Hero:
		a.health.Max = int32(r.between(5, 15))
		a.damage.Defence = int32(r.between(2, 6))
		a.damage.Attack = int32(r.between(4, 10))
	case Monster:
		a.health.Max = int32(r.between(4, 12))
		a.damage.Defence = int32(r.between(2, 8))
		a.damage.Attack = int32(r.between(3, 9))
	case NPC:
		a.health.Max = int32(r.between(6, 12))
		a.damage.Defence = int32(r.between(3, 8))
	}
	a.sprite.Character = spawnSprite
	a.position.X = float32(r.between(0, frameWidth+margin)) - margin
	a.position.Y = float32(r.between(0, frameHeight+margin)) - margin
}
