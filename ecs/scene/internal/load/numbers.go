package load

import (
	"runtime"
	"sync"
	"weak"

	"quarry/ecs"
	"quarry/ecs/scene/internal/section"
)

// numbers counts the instances of a world, which may have several hosts, and may have been saved
// with sections in it: a number that two instances had would unload both.
type numbers struct{ last uint32 }

func (n *numbers) take() uint32 {
	n.last++
	return n.last
}

// worlds has the numbers of all worlds with hosts.
var worlds struct {
	sync.Mutex
	numbers map[weak.Pointer[ecs.World]]*numbers
}

// numbersOf returns the numbers of a world. Those of a world without hosts begin after the greatest
// in a Tag.
func numbersOf(w *ecs.World, own section.Types) *numbers {
	worlds.Lock()
	defer worlds.Unlock()
	key := weak.Make(w)
	if n := worlds.numbers[key]; n != nil {
		return n
	}
	n := new(numbers)
	q := ecs.NewQuery(w, ecs.With(own.Tag.Type), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	for rows := range q.Rows() {
		if instance, _, ok := own.Tag.At(rows); ok {
			n.last = max(n.last, instance)
		}
	}
	if worlds.numbers == nil {
		worlds.numbers = map[weak.Pointer[ecs.World]]*numbers{}
	}
	worlds.numbers[key] = n
	runtime.AddCleanup(w, func(key weak.Pointer[ecs.World]) {
		worlds.Lock()
		defer worlds.Unlock()
		delete(worlds.numbers, key)
	}, key)
	return n
}
