package growth

import (
	"fmt"
	"math"
)

// Policy computes the new size of something that must grow. The zero value grows to exactly the
// needed size. A Policy may be copied and compared.
type Policy struct {
	Factor float64 // new size / old size; 0 or 1: no factor
	Step   int     // minimum added
	Extra  int     // added to the result of Factor and Step
	Most   int     // maximum added; 0: unbounded
}

// Fixed is Fixed of package alloc.
func Fixed(step int) Policy {
	if step < 1 {
		panic(fmt.Sprintf("alloc: Fixed: step=%d is less than 1", step))
	}
	return Policy{Step: step}
}

// Doubling is Doubling of package alloc.
func Doubling() Policy { return Policy{Factor: 2} }

// Geometric is Geometric of package alloc.
func Geometric(factor float64) Policy {
	if !(factor > 1) || math.IsInf(factor, 1) {
		panic(fmt.Sprintf("alloc: Geometric: factor=%g is not above 1 and finite", factor))
	}
	return Policy{Factor: factor, Step: 1}
}

// Capped is Growth.Capped of package alloc.
func (p Policy) Capped(most int) Policy {
	if most < 1 {
		panic(fmt.Sprintf("alloc: Growth.Capped: most=%d is less than 1", most))
	}
	if p.Most == 0 || most < p.Most {
		p.Most = most
	}
	return p
}

// Plus is Growth.Plus of package alloc.
func (p Policy) Plus(n int) Policy {
	if n < 1 {
		panic(fmt.Sprintf("alloc: Growth.Plus: n=%d is less than 1", n))
	}
	p.Extra += n
	return p
}

// Next is Growth.Next of package alloc.
func (p Policy) Next(have, need int) int {
	if need <= have {
		return have
	}
	more := p.Step
	if p.Factor > 1 {
		grown := float64(have) * (p.Factor - 1)
		if p.Most > 0 {
			grown = min(grown, float64(p.Most))
		}
		if grown >= math.MaxInt/2 {
			return need
		}
		more = max(more, int(grown))
	}
	more += min(p.Extra, math.MaxInt/4)
	if p.Most > 0 {
		more = min(more, p.Most)
	}
	if next := have + more; next > need {
		return next
	}
	return need
}

// AtOnce returns the largest step that the policy adds beyond need; 0: unbounded.
func (p Policy) AtOnce() int {
	if p.Factor <= 1 && (p.Most == 0 || p.Step+p.Extra < p.Most) {
		return p.Step + p.Extra
	}
	return p.Most
}

// String is Growth.String of package alloc.
func (p Policy) String() string {
	s := "exact"
	switch {
	case p.Factor == 2:
		s = "doubling"
	case p.Factor > 1:
		s = fmt.Sprintf("times %g", p.Factor)
	case p.Step > 0:
		s = fmt.Sprintf("by %d", p.Step)
	}
	if p.Extra > 0 {
		s += fmt.Sprintf(" plus %d", p.Extra)
	}
	if p.Most > 0 {
		s += fmt.Sprintf(", at most %d at a time", p.Most)
	}
	return s
}
