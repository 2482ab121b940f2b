package units

import "math"

// The components of a unit; a link and a team are there too.
type (
	position    struct{ X, Y float64 }
	velocity    struct{ X, Y float64 }
	health      struct{ Points, Most int32 }
	stun        struct{ Until int64 } // 0: not stunned; else the frame in which it ends
	slot        struct{ Client, Number uint32 }
	link[E any] struct{ To E } // the leader, who may be gone
	item        struct{ Kind, Count uint32 }
	team        uint8
)

const (
	teams    = 8
	pack     = 4 // items of a unit
	noClient = math.MaxUint32
	dt       = 1.0 / 64
)

// unit is a unit as all sides are given new ones.
type unit struct {
	Position position
	Velocity velocity
	Health   health
	Slot     slot
	Items    [pack]item
	Leader   uint32 // a client, or noClient
	Team     team
}

// newUnit is the unit with a number.
func newUnit(number, client, leader uint32) unit {
	u := unit{
		Position: position{float64(number % 4096), float64(number / 4096 % 4096)},
		Velocity: velocity{float64(number%7 + 1), float64(number%5) - 2},
		Health:   health{Points: 100 - int32(number%8), Most: 100},
		Slot:     slot{Client: client, Number: number},
		Leader:   leader,
		Team:     team(number % teams),
	}
	for i := range u.Items {
		u.Items[i] = item{Kind: uint32(i), Count: number >> (8 * i) & 255}
	}
	return u
}

// leadersOf returns what a list by client has for the leaders of units. Clients lie anywhere, so a
// loop of its own waits for the memory of several at once. zero stands for a leader who is missing.
func leadersOf[E any](units []unit, clients []E, zero E, list []E) []E {
	list = list[:0]
	for i := range units {
		l := zero
		if c := units[i].Leader; c != noClient {
			l = clients[c]
		}
		list = append(list, l)
	}
	return list
}

// hit is what happens to a client's unit: it loses points, and is stunned.
type hit struct {
	Client uint32
	Item   uint32 // what takes a part of it
	Points int32
}

// strike does what a hit does to a unit's health and items.
func (h hit) strike(life *health, it *item) {
	it.Count++
	life.Points -= h.Points - int32(it.Kind)
}

// heal is what the frame does to each unit's health. It reports whether the unit is dead.
func (h *health) heal() bool {
	if h.Points == h.Most { // as most units have
		return false
	}
	if h.Points <= 0 {
		return true
	}
	h.Points++
	return false
}

// ended reports whether a unit is stunned up to this frame.
func (s stun) ended(frame int64) bool { return uint64(s.Until-1) < uint64(frame) }

func (p *position) move(v velocity) {
	p.X += v.X * dt
	p.Y += v.Y * dt
}

// sum is what a reader makes of units, in any order.
type sum struct {
	Units int    `json:"units"`
	Mix   uint64 `json:"mix"`
}

func (s *sum) add(p position, h health, of slot) {
	s.mix(uint64(of.Number)*0x9e3779b97f4a7c15 ^ uint64(of.Client)<<32 ^
		math.Float64bits(p.X) ^ math.Float64bits(p.Y)<<7 ^ uint64(h.Points)<<40)
	s.Units++
}

func (s *sum) mix(z uint64) { s.Mix += (z ^ z>>29) * 0xbf58476d1ce4e5b9 }

// rest is what add leaves out of a unit.
type rest struct {
	Velocity velocity
	Enabled  bool
	Stun     stun
	Leader   uint32 // its number; noClient if it is gone
	Items    []item
	Team     team
}

func (s *sum) addRest(of slot, r rest) {
	z := uint64(of.Number) ^ math.Float64bits(r.Velocity.X)<<1 ^ math.Float64bits(r.Velocity.Y)<<9 ^
		uint64(r.Stun.Until)<<20 ^ uint64(r.Leader)<<3 ^ uint64(r.Team)<<60
	if r.Enabled {
		z = ^z
	}
	for _, it := range r.Items {
		z = z*31 + uint64(it.Kind)<<32 + uint64(it.Count)
	}
	s.mix(z)
}
