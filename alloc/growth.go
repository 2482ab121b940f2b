package alloc

import (
	"fmt"
	"math"
)

// Growth is a growth policy: it computes the new size of something that must grow, such as the
// capacity of a buffer, the chunks of a table, or the chunks that a heap takes at a time. The zero
// value grows to exactly the needed size. A Growth may be copied and compared.
type Growth struct {
	factor float64 // new size / old size; 0 or 1: no factor
	step   int     // minimum added
	plus   int     // added to the result of factor and step
	most   int     // maximum added; 0: unbounded
}

// Fixed returns a policy that adds step each time. It panics when step is less than 1.
func Fixed(step int) Growth {
	if step < 1 {
		panic(fmt.Sprintf("alloc: Fixed: step=%d is less than 1", step))
	}
	return Growth{step: step}
}

// Doubling returns a policy that doubles the size.
func Doubling() Growth { return Growth{factor: 2} }

// Geometric returns a policy that multiplies the size by factor and adds at least 1. It panics
// unless factor is above 1 and finite.
func Geometric(factor float64) Growth {
	if !(factor > 1) || math.IsInf(factor, 1) {
		panic(fmt.Sprintf("alloc: Geometric: factor=%g is not above 1 and finite", factor))
	}
	return Growth{factor: factor, step: 1}
}

// Capped returns g limited to adding at most most at a time, or to an earlier lower cap; growth is
// linear once the cap is reached. It panics when most is less than 1.
func (g Growth) Capped(most int) Growth {
	if most < 1 {
		panic(fmt.Sprintf("alloc: Growth.Capped: most=%d is less than 1", most))
	}
	if g.most == 0 || most < g.most {
		g.most = most
	}
	return g
}

// Plus returns g with n more added each time. Doubling().Plus(1) goes 1, 3, 7, 15, so each part
// added is twice the previous one. It panics when n is less than 1.
func (g Growth) Plus(n int) Growth {
	if n < 1 {
		panic(fmt.Sprintf("alloc: Growth.Plus: n=%d is less than 1", n))
	}
	g.plus += n
	return g
}

// Next returns the new size for growth from have to at least need. It returns have when need is at
// most have. The result is never below need, even above the cap; when the policy's size would
// overflow an int, Next returns need.
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

// atOnce returns the largest step that the policy adds beyond need; 0: unbounded.
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
