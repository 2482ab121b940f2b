package past

import "sync"

// DeferredFree are blocks that were freed while layers had them. They stay until no layer does. A
// block is named by a key, such as its address. The zero value must get its Past.
//
// Goroutines: any may call Free. Close and Take belong to the owner, and no Free may be under way.
type DeferredFree[K comparable] struct {
	past    *Past
	release func(K) // frees a block
	mu      sync.Mutex
	waiting map[K]lifetime
}

// lifetime is the life of a block that waits: the numbers of the layers that began last when it was
// born and when it was freed.
type lifetime struct{ born, ended uint64 }

// Open initializes a zero DeferredFree. release frees a block.
func (k *DeferredFree[K]) Open(p *Past, release func(K)) {
	k.past, k.release, k.waiting = p, release, map[K]lifetime{}
}

// LayerNumber returns the number of the layer that began last, as Free takes it.
func (k *DeferredFree[K]) LayerNumber() uint64 { return k.past.number }

// Has reports whether a layer began after a block was born.
func (k *DeferredFree[K]) Has(born uint64) bool {
	l := k.past.Newest()
	return l != nil && l.number > born
}

// Lose makes the layers lost that began after a block was born: it is about to be written.
func (k *DeferredFree[K]) Lose(born uint64, err error) {
	k.past.mu.RLock()
	defer k.past.mu.RUnlock()
	for l := k.past.Newest(); l != nil && l.number > born; l = l.below {
		l.lose(err)
	}
}

// Free reports whether a block waits that is to be freed now; else the caller frees it. born is the
// number of the layer that had begun last when the block was allocated.
func (k *DeferredFree[K]) Free(key K, born uint64) (waits bool) {
	if !k.past.Between(born, k.past.number) {
		return false
	}
	k.mu.Lock()
	k.waiting[key] = lifetime{born, k.past.number}
	k.mu.Unlock()
	return true
}

// Take makes a block that waits one that is in use again, and returns when it was born. ok is false
// if it does not wait.
func (k *DeferredFree[K]) Take(key K) (born uint64, ok bool) {
	s, ok := k.waiting[key]
	delete(k.waiting, key)
	return s.born, ok
}

// Sweep frees the blocks that no layer has any more, after one has ended.
func (k *DeferredFree[K]) Sweep() {
	for key, s := range k.waiting {
		if !k.past.Between(s.born, s.ended) {
			delete(k.waiting, key)
			k.release(key)
		}
	}
}

// Len returns the number of blocks that wait.
func (k *DeferredFree[K]) Len() int { return len(k.waiting) }

// Each calls visit for each block that waits.
func (k *DeferredFree[K]) Each(visit func(K)) {
	for key := range k.waiting {
		visit(key)
	}
}
