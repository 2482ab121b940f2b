package life

import (
	"fmt"
	"strings"
)

// Rule is what happens for each count of live neighbours, 0 to 8: bit n of Birth is set if a dead
// place with n live neighbours comes to life, bit n of Survive if a live cell with n live
// neighbours lives on. The zero Rule kills everything.
type Rule struct {
	Birth, Survive uint16
}

// Conway is the rule of the Game of Life, B3/S23.
var Conway = Rule{Birth: 1 << 3, Survive: 1<<2 | 1<<3}

// Births reports whether a dead place with n live neighbours, 0 <= n <= 8,
// comes to life.
func (r Rule) Births(n int) bool { return r.Birth>>uint(n)&1 != 0 }

// Survives reports whether a live cell with n live neighbours, 0 <= n <= 8,
// lives on.
func (r Rule) Survives(n int) bool { return r.Survive>>uint(n)&1 != 0 }

// String returns the rule as B3/S23.
func (r Rule) String() string {
	return "B" + digits(r.Birth) + "/S" + digits(r.Survive)
}

func digits(mask uint16) string {
	var b strings.Builder
	for n := range 9 {
		if mask>>uint(n)&1 != 0 {
			b.WriteByte('0' + byte(n))
		}
	}
	return b.String()
}

// ParseRule reads B3/S23 in any case, the two halves in any order, or the
// older form 23/3, survival first and without letters. A rule with B0 is
// refused: it would fill the unbounded plane in one generation.
func ParseRule(s string) (Rule, error) {
	left, right, ok := strings.Cut(strings.ToUpper(strings.TrimSpace(s)), "/")
	if !ok {
		return Rule{}, badRule(s)
	}
	switch {
	case strings.HasPrefix(left, "B") && strings.HasPrefix(right, "S"):
		left, right = left[1:], right[1:]
	case strings.HasPrefix(left, "S") && strings.HasPrefix(right, "B"):
		left, right = right[1:], left[1:]
	default:
		left, right = right, left
	}
	birth, ok1 := mask(left)
	survive, ok2 := mask(right)
	if !ok1 || !ok2 {
		return Rule{}, badRule(s)
	}
	if birth&1 != 0 {
		return Rule{}, fmt.Errorf("expected a rule without B0, which fills the plane at once, got %.60q", s)
	}
	return Rule{Birth: birth, Survive: survive}, nil
}

func badRule(s string) error {
	return fmt.Errorf("expected a rule like B3/S23, got %.60q", s)
}

// mask turns "23" into bits 2 and 3; a digit may come once, in any order.
func mask(s string) (m uint16, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '8' || m>>(c-'0')&1 != 0 {
			return 0, false
		}
		m |= 1 << (c - '0')
	}
	return m, true
}
