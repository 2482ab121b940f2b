package query_test

import (
	"fmt"

	"quarry/asm"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/world"
)

// sharesMatching reports whether two queries use one matching.
func sharesMatching(a, b *ecs.Query) bool {
	return ecstest.QueryOf(a).Matching == ecstest.QueryOf(b).Matching && ecstest.QueryOf(a).Matching != nil
}

// matchingsOf returns the number of matchings that the world shows new archetypes.
func matchingsOf(w *ecs.World) int { return door.World(w).Index.Len() }

// matcher holds what the ways to match archetypes need, which are compared.
type matcher struct {
	m        *match.Matching
	all      []*world.Archetype
	hashes   []uint64                 // by archetype, made once
	sets     []map[uint64]struct{}    // by archetype: the hashes of its types
	has      []uint64                 // hashes of the types that must be there
	lacks    []uint64                 // and of those that must not
	bySig    map[world.Signature]bool // sets that the query accepts
	byHash   map[uint64]bool          // their hashes
	table    []uint64                 // the signatures, one behind the other
	bits     []uint64
	accepted int
}

// newMatcher prepares them for a query.
func newMatcher(q *ecs.Query) *matcher {
	w := door.World(q.World())
	t := &matcher{m: ecstest.QueryOf(q).Matching, all: w.Archetypes.List, bySig: map[world.Signature]bool{},
		byHash: map[uint64]bool{}}
	for id := range w.Types.List {
		if t.m.Has.Has(world.TypeID(id)) {
			t.has = append(t.has, hashOfType(world.TypeID(id)))
		}
		if t.m.Lacks.Has(world.TypeID(id)) {
			t.lacks = append(t.lacks, hashOfType(world.TypeID(id)))
		}
	}
	for _, a := range t.all {
		set := map[uint64]struct{}{}
		for _, id := range a.Table.Types {
			set[hashOfType(id)] = struct{}{}
		}
		t.sets = append(t.sets, set)
		h := hashOf(&a.Table.Sig)
		t.hashes = append(t.hashes, h)
		t.table = append(t.table, a.Table.Sig[:]...)
		if t.m.Wants(&a.Table) {
			t.bySig[a.Table.Sig], t.byHash[h] = true, true
			t.accepted++
		}
	}
	t.bits = make([]uint64, (len(t.all)+63)/64)
	return t
}

// hashOfType stands for a hash of a type's name.
func hashOfType(id world.TypeID) uint64 {
	s := world.Signature{uint64(id)}
	return hashOf(&s)
}

// hashOf is 64-bit FNV-1a by words.
func hashOf(s *world.Signature) uint64 {
	h := uint64(14695981039346656037)
	for _, word := range s {
		h = (h ^ word) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// compare counts the archetypes that match by comparing signatures.
func (t *matcher) compare() (n int) {
	for _, a := range t.all {
		if t.m.Wants(&a.Table) {
			n++
		}
	}
	return n
}

// hashSets does so by looking each type of the query up among the hashes that an archetype has.
func (t *matcher) hashSets() (n int) {
	for _, set := range t.sets {
		if t.inSet(set) {
			n++
		}
	}
	return n
}

func (t *matcher) inSet(set map[uint64]struct{}) bool {
	for _, h := range t.has {
		if _, ok := set[h]; !ok {
			return false
		}
	}
	for _, h := range t.lacks {
		if _, ok := set[h]; ok {
			return false
		}
	}
	return true
}

// lookUp does so by looking each set up among those that the query accepts.
func (t *matcher) lookUp() (n int) {
	for _, a := range t.all {
		if t.bySig[a.Table.Sig] {
			n++
		}
	}
	return n
}

// lookUpHash is lookUp with hashes that archetypes keep. It is right but for collisions.
func (t *matcher) lookUpHash() (n int) {
	for _, h := range t.hashes {
		if t.byHash[h] {
			n++
		}
	}
	return n
}

// hash is what an archetype's hash costs.
func (t *matcher) hash() (sum uint64) {
	for _, a := range t.all {
		sum += hashOf(&a.Table.Sig)
	}
	return sum
}

// kernel compares all signatures in one call of asm.Match; it knows no Any terms.
func (t *matcher) kernel() int {
	return asm.Match(t.bits, t.table, t.m.Has[:], t.m.Lacks[:], len(world.Signature{}))
}

// forgetAfter takes the archetypes that f makes out of the world again, as a call that fails does.
func forgetAfter(w *ecs.World, f func()) {
	before := len(door.World(w).Archetypes.List)
	f()
	door.World(w).Forget(before)
}

// candidates counts the matchings that an archetype would look at if it came now, those of them
// that want it, and all.
func candidates(w *ecs.World, a *ecs.Archetype) (looked, wanting, all int) {
	index, table := &door.World(w).Index, &door.Archetype(a).Table
	for m := range index.CandidateMatchings(table) {
		looked++
		if m.Wants(table) {
			wanting++
		}
	}
	slow := 0
	for m := range index.Matchings() {
		if m.Wants(table) {
			slow++
		}
	}
	if slow != wanting {
		panic(fmt.Sprintf("%d matchings want %v, it finds %d", slow, a, wanting))
	}
	return looked, wanting, index.Len()
}
