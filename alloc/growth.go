package alloc

import (
	"fmt"
	"math"
)

// Growth says how large something becomes when it must grow: the room of a
// buffer, the chunks of a table, the chunks that a heap takes at a time. The zero
// value grows to exactly what is needed. It is a value: copy and compare it.
type Growth struct {
	factor float64 // size after growing / size before; 0 or 1: no factor
	step   int     // least that is added
	plus   int     // added to what factor and step say
	most   int     // most that is added; 0: no bound
}

// Fixed adds step each time. It panics when step is less than 1.
func Fixed(step int) Growth {
	if step < 1 {
		panic(fmt.Sprintf("alloc: Fixed: step=%d is less than 1", step))
	}
	return Growth{step: step}
}

// Doubling doubles.
func Doubling() Growth { return Growth{factor: 2} }

// Geometric multiplies by factor, and adds 1 at least. It panics unless factor
// is above 1 and finite.
func Geometric(factor float64) Growth {
	if !(factor > 1) || math.IsInf(factor, 1) {
		panic(fmt.Sprintf("alloc: Geometric: factor=%g is not above 1 and finite", factor))
	}
	return Growth{factor: factor, step: 1}
}

// Capped is g, but adds at most most at a time, or as little as an earlier cap says:
// growth becomes linear from there on. It panics when most is less than 1.
func (g Growth) Capped(most int) Growth {
	if most < 1 {
		panic(fmt.Sprintf("alloc: Growth.Capped: most=%d is less than 1", most))
	}
	if g.most == 0 || most < g.most {
		g.most = most
	}
	return g
}

// Plus is g that adds n more each time: Doubling().Plus(1) goes 1, 3, 7, 15, so that
// each part that is added is twice the one before. It panics when n is less than 1.
func (g Growth) Plus(n int) Growth {
	if n < 1 {
		panic(fmt.Sprintf("alloc: Growth.Plus: n=%d is less than 1", n))
	}
	g.plus += n
	return g
}

// Next returns the size to grow to from have, at least need. It returns have
// when need is not above it. What is needed is always met, above the cap too; a
// size that would not fit an int becomes need.
func (g Growth) Next(have, need int) int {
	if need <= have {
		return have
	}
	more := g.step
	if g.factor > 1 {
		grown := float64(have) * (g.factor - 1)
		if g.most > 0 {
			grown = min(grown, float64(g.most))
		}
		if grown >= math.MaxInt/2 {
			return need
		}
		more = max(more, int(grown))
	}
	more += min(g.plus, math.MaxInt/4)
	if g.most > 0 {
		more = min(more, g.most)
	}
	if next := have + more; next > need {
		return next
	}
	return need
}

// atOnce returns the most that the policy adds of itself; 0: no bound.
func (g Growth) atOnce() int {
	if g.factor <= 1 && (g.most == 0 || g.step+g.plus < g.most) {
		return g.step + g.plus
	}
	return g.most
}

// String describes the policy.
func (g Growth) String() string {
	s := "exact"
	switch {
	case g.factor == 2:
		s = "doubling"
	case g.factor > 1:
		s = fmt.Sprintf("times %g", g.factor)
	case g.step > 0:
		s = fmt.Sprintf("by %d", g.step)
	}
	if g.plus > 0 {
		s += fmt.Sprintf(" plus %d", g.plus)
	}
	if g.most > 0 {
		s += fmt.Sprintf(", at most %d at a time", g.most)
	}
	return s
}
