package bitmask

// What tests see of the inside.

// Levels returns how many levels each summary has.
func (h *Hierarchy) Levels() int { return len(h.summaries[0].levels) }

// Level returns the words of level k of the summary of a class, the lowest level
// being 0.
func (h *Hierarchy) Level(class, k int) []Word { return h.summaries[class].levels[k] }

// ClassOf returns the class of a word.
var ClassOf = classOf
