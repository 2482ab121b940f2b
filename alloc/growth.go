package alloc

import "quarry/internal/growth"

// Growth is a growth policy: it computes the new size of something that must grow, such as the
// capacity of a buffer, the chunks of a table, or the chunks that a heap takes at a time. The zero
// value grows to exactly the needed size. A Growth may be copied and compared.
type Growth struct{ core growth.Policy }

// Fixed returns a policy that adds step each time. It panics when step is less than 1.
func Fixed(step int) Growth { return Growth{growth.Fixed(step)} }

// Doubling returns a policy that doubles the size.
func Doubling() Growth { return Growth{growth.Doubling()} }

// Geometric returns a policy that multiplies the size by factor and adds at least 1. It panics
// unless factor is above 1 and finite.
func Geometric(factor float64) Growth { return Growth{growth.Geometric(factor)} }

// Capped returns g limited to adding at most most at a time, or to an earlier lower cap; growth is
// linear once the cap is reached. It panics when most is less than 1.
func (g Growth) Capped(most int) Growth { return Growth{g.core.Capped(most)} }

// Plus returns g with n more added each time. Doubling().Plus(1) goes 1, 3, 7, 15, so each part
// added is twice the previous one. It panics when n is less than 1.
func (g Growth) Plus(n int) Growth { return Growth{g.core.Plus(n)} }

// Next returns the new size for growth from have to at least need. It returns have when need is at
// most have. The result is never below need, even above the cap; when the policy's size would
// overflow an int, Next returns need.
func (g Growth) Next(have, need int) int { return g.core.Next(have, need) }

// String describes the policy.
func (g Growth) String() string { return g.core.String() }
