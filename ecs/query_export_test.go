package ecs

import (
	"fmt"

	"quarry/asm"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/world"
)

// SharesMatching reports whether two queries use one matching.
func SharesMatching(a, b *Query) bool {
	return a.core.Matching == b.core.Matching && a.core.Matching != nil
}

// Matchings returns the number of matchings that the world shows new archetypes.
func (w *World) Matchings() int { return w.core.Index.Len() }

// Matcher holds what the ways to match archetypes need, which are compared.
type Matcher struct {
	m        *match.Matching
	all      []*Archetype
	hashes   []uint64                 // by archetype, made once
	sets     []map[uint64]struct{}    // by archetype: the hashes of its types
	has      []uint64                 // hashes of the types that must be there
	lacks    []uint64                 // and of those that must not
	bySig    map[world.Signature]bool // sets that the query accepts
	byHash   map[uint64]bool          // their hashes
	table    []uint64                 // the signatures, one behind the other
	bits     []uint64
	Accepted int
}

// NewMatcher prepares them for a query.
func NewMatcher(q *Query) *Matcher {
	t := &Matcher{m: q.core.Matching, all: coresOf[*Archetype](q.core.World.Archetypes.List), bySig: map[world.Signature]bool{}, byHash: map[uint64]bool{}}
	for id := range q.core.World.Types.List {
		if t.m.Has.Has(world.TypeID(id)) {
			t.has = append(t.has, hashOfType(world.TypeID(id)))
		}
		if t.m.Lacks.Has(world.TypeID(id)) {
			t.lacks = append(t.lacks, hashOfType(world.TypeID(id)))
		}
	}
	for _, a := range t.all {
		set := map[uint64]struct{}{}
		for _, id := range a.core.Table.Types {
			set[hashOfType(id)] = struct{}{}
		}
		t.sets = append(t.sets, set)
		h := hashOf(&a.core.Table.Sig)
		t.hashes = append(t.hashes, h)
		t.table = append(t.table, a.core.Table.Sig[:]...)
		if t.m.Wants(&a.core.Table) {
			t.bySig[a.core.Table.Sig], t.byHash[h] = true, true
			t.Accepted++
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

// Compare counts the archetypes that match by comparing signatures.
func (t *Matcher) Compare() (n int) {
	for _, a := range t.all {
		if t.m.Wants(&a.core.Table) {
			n++
		}
	}
	return n
}

// HashSets does so by looking each type of the query up among the hashes that an archetype has.
func (t *Matcher) HashSets() (n int) {
	for _, set := range t.sets {
		if t.inSet(set) {
			n++
		}
	}
	return n
}

func (t *Matcher) inSet(set map[uint64]struct{}) bool {
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

// LookUp does so by looking each set up among those that the query accepts.
func (t *Matcher) LookUp() (n int) {
	for _, a := range t.all {
		if t.bySig[a.core.Table.Sig] {
			n++
		}
	}
	return n
}

// LookUpHash is LookUp with hashes that archetypes keep. It is right but for collisions.
func (t *Matcher) LookUpHash() (n int) {
	for _, h := range t.hashes {
		if t.byHash[h] {
			n++
		}
	}
	return n
}

// Hash is what an archetype's hash costs.
func (t *Matcher) Hash() (sum uint64) {
	for _, a := range t.all {
		sum += hashOf(&a.core.Table.Sig)
	}
	return sum
}

// Kernel compares all signatures in one call of asm.Match; it knows no Any terms.
func (t *Matcher) Kernel() int {
	return asm.Match(t.bits, t.table, t.m.Has[:], t.m.Lacks[:], len(world.Signature{}))
}

// ForgetAfter takes the archetypes that f makes out of the world again, as a call that fails does.
func (w *World) ForgetAfter(f func()) {
	before := len(w.core.Archetypes.List)
	f()
	w.inner().Forget(before)
}

// Candidates counts the matchings that an archetype would look at if it came now, those of them
// that want it, and all.
func (w *World) Candidates(a *Archetype) (looked, wanting, all int) {
	for m := range w.core.Index.CandidateMatchings(&a.core.Table) {
		looked++
		if m.Wants(&a.core.Table) {
			wanting++
		}
	}
	slow := 0
	for m := range w.core.Index.Matchings() {
		if m.Wants(&a.core.Table) {
			slow++
		}
	}
	if slow != wanting {
		panic(fmt.Sprintf("%d matchings want %v, it finds %d", slow, a, wanting))
	}
	return looked, wanting, w.core.Index.Len()
}
