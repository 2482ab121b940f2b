package layout

import (
	"slices"
	"sync"
	"sync/atomic"
)

// known remembers questions about types that were answered with yes. A question is a
// type without a value: whether a value is of it is a comparison of two words, where
// comparing two reflect.Types is two calls. The first few are in a list, which is
// searched faster than the map that has them all.
type known struct {
	few atomic.Pointer[[]any]
	all sync.Map   // question -> nothing
	mu  sync.Mutex // of changes of few
}

const mostFew = 16 // questions of few

// isKnown reports whether Q is among the first few.
func isKnown[Q any](k *known) bool {
	if few := k.few.Load(); few != nil {
		for _, q := range *few {
			if _, found := q.(Q); found {
				return true
			}
		}
	}
	return false
}

// has reports whether the answer to a question is remembered.
func (k *known) has(question any) bool {
	_, found := k.all.Load(question)
	return found
}

// add remembers that the answer to a question is yes.
func (k *known) add(question any) {
	k.all.Store(question, struct{}{})
	k.mu.Lock()
	defer k.mu.Unlock()
	var few []any
	if old := k.few.Load(); old != nil {
		few = *old
	}
	if len(few) < mostFew && !slices.Contains(few, question) {
		few = append(slices.Clone(few), question)
		k.few.Store(&few)
	}
}
