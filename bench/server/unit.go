package main

import "math"

// The components of a unit.
type (
	place  struct{ X, Y float64 }
	speed  struct{ X, Y float64 }
	health struct{ Points, Armour int32 }
	items  [4]uint32
	number uint64
	stun   struct{ Until int64 } // the frame in which it ends
)

// unit is a unit as the plain side keeps it, and as all sides are given new ones.
type unit struct {
	Place  place
	Speed  speed
	Health health
	Items  items
	Number number
	Stun   stun
}

const (
	wholeHealth = 40
	dt          = 1.0 / 64
)

// newUnit is the unit with a number.
func newUnit(n number) unit {
	return unit{
		Place:  place{float64(n % 4096), float64(n / 4096 % 4096)},
		Speed:  speed{float64(n%7 + 1), float64(n%5) - 2},
		Health: health{Points: wholeHealth - int32(n%8), Armour: int32(n % 3)},
		Items:  items{uint32(n), uint32(n >> 8), 1, 2},
		Number: n,
	}
}

// sum is what a reader makes of units, in any order.
type sum struct {
	Units int    `json:"units"`
	Mix   uint64 `json:"mix"`
}

func (s *sum) add(p place, h health, n number) {
	z := uint64(n)*0x9e3779b97f4a7c15 ^ math.Float64bits(p.X) ^ math.Float64bits(p.Y)<<7 ^ uint64(h.Points)<<40
	s.Mix += (z ^ z>>29) * 0xbf58476d1ce4e5b9
	s.Units++
}

// hit takes points from a unit's health and returns what is left.
func (h *health) hit(points int32) int32 {
	h.Points -= max(1, points-h.Armour)
	return h.Points
}

func (p *place) move(v speed) {
	p.X += v.X * dt
	p.Y += v.Y * dt
}
