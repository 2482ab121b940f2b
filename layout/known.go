package layout

import (
	"slices"
	"sync"
	"sync/atomic"
)

// known records questions about types whose answer is yes. A question is a type without a value:
// testing a value for this type compares two words, where comparing two reflect.Types makes two
// calls. The first few questions are also in a list, which is searched faster than the map of all
// questions.
type known struct {
	few atomic.Pointer[[]any]
	all sync.Map   // question -> nothing
	mu  sync.Mutex // guards changes of few
}

const mostFew = 16 // maximum number of questions in few

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

// has reports whether the question is recorded.
func (k *known) has(question any) bool {
	_, found := k.all.Load(question)
	return found
}

// add records that the answer to the question is yes.
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
