package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Queries and their terms.

type termKind uint8

const (
	noTerm termKind = iota
	readTerm
	writeTerm
	withTerm
	withoutTerm
	optionalTerm
	presentTerm
	absentTerm
	disabledTerm
	anyTerm // of group 0, and anyTerm+1 of group 1
	_
	whereTerm // a shared kind has one of query.where
)

const (
	mayRead  = 1
	mayWrite = 2
)

// query is a query and the model's record of it.
type query struct {
	q                *ecs.Query
	list             []kind // of the world
	terms            [maxKinds]termKind
	access           [maxKinds]uint8 // 0, mayRead or mayWrite
	where            [sharedKinds][]any
	sparseLink       termKind // of the sparse type
	sparseLinkAccess uint8
	newSparseLinks   bool // Changed of the sparse type
	changed          kinds
	ordered          bool
	inDisabled       bool   // IncludeDisabled
	inPrefabs        bool   // IncludePrefabs
	since            uint32 // version that changed and ordered compare with
}

// filters reports whether chunks pass by their versions.
func (q *query) filters() bool { return q.ordered || q.changed != 0 || q.newSparseLinks }

// ran records that a loop over a query is over, and whether it ran to its end.
func (d *world) ran(q *query, ended bool) {
	if ended && q.filters() {
		q.since = d.m.version
		d.m.version++
	}
}

// matches reports whether an entity matches, from the terms.
func (q *query) matches(x *entity) bool {
	either := [2]int8{-1, -1} // no such term, none of its types, one of them
	for k, t := range q.terms {
		has := x.values[k] != nil
		on := has && !x.off.has(k)
		ok := true
		switch t {
		default:
			ok = t.passes(has, on, &either)
		case whereTerm:
			ok = has && hasValue(q.list[k].shared(), q.where[k-firstShared], x.values[k])
		case noTerm:
			ok = !has || !hiding.has(k) || k == offKind && q.inDisabled || k == prefabKind && q.inPrefabs
		}
		if !ok {
			return false
		}
	}
	return q.sparseLink.passes(x.entry != nil, x.entry.on(), &either) && either[0] != 0 && either[1] != 0
}

// passes reports whether a term lets an entity pass that has its type or not, enabled or not. Any
// lets all pass, and notes which of its groups has a type.
func (t termKind) passes(has, on bool, either *[2]int8) bool {
	switch t {
	case readTerm, writeTerm, withTerm:
		return on
	case withoutTerm:
		return !on
	case presentTerm:
		return has
	case absentTerm:
		return !has
	case disabledTerm:
		return has && !on
	case anyTerm, anyTerm + 1:
		group := &either[t-anyTerm]
		*group = max(*group, 0)
		if on {
			*group = 1
		}
	}
	return true
}

// newQuery makes a query with random terms of the simple kinds over the kinds in use.
func (d *world) newQuery(r record) error {
	if len(d.queries) == maxQueries {
		return nil
	}
	q := &query{list: d.list}
	var terms []ecs.Term
	seed := mix(uint64(r.n))
	for i := range d.list {
		k := (int(r.kind) + i) % len(d.list)
		if !d.shown().has(k) {
			continue
		}
		t := d.list[k].Type()
		if d.list[k].shared() != nil {
			terms = append(terms, d.shareTerm(q, k, mix(seed+uint64(k)))...)
			continue
		}
		switch draw(seed, k) {
		case 0, 1:
			q.terms[k], q.access[k], terms = readTerm, mayRead, append(terms, ecs.Read(t))
		case 2, 3:
			q.terms[k], q.access[k], terms = writeTerm, mayWrite, append(terms, ecs.Write(t))
		case 4:
			q.terms[k], terms = withTerm, append(terms, ecs.With(t))
		case 5:
			q.terms[k], terms = withoutTerm, append(terms, ecs.Without(t))
		}
	}
	q.q = ecs.NewQuery(d.w, terms...)
	d.queries = append(d.queries, q)
	return nil
}

// newTerms makes a query with terms of all kinds.
func (d *world) newTerms(r record) error {
	if len(d.queries) == maxQueries {
		return d.closeQuery(r)
	}
	q := &query{list: d.list}
	var terms []ecs.Term
	var either [2][]ecs.Operand
	few := mix(uint64(r.n)+1) & mix(uint64(r.n)+2)
	for i := range d.list {
		k := (int(r.kind) + i) % len(d.list)
		if !d.shown().has(k) || few>>k&1 == 0 {
			continue
		}
		if d.list[k].shared() != nil {
			terms = append(terms, d.shareTerm(q, k, mix(uint64(r.n)+uint64(k)))...)
			continue
		}
		kind, may := termKind(1+draw(mix(uint64(r.n)+3), k)), uint8(r.n>>(k%8))%3
		if group := kind - anyTerm; kind == anyTerm || kind == anyTerm+1 {
			q.terms[k], q.access[k] = kind, may
			either[group] = append(either[group], operandOf(d.list[k].Type(), may))
			continue
		}
		terms = append(terms, q.add(d.list[k], k, kind, may)...)
	}
	more, operand, group := d.sparseLinkTerm(q, mix(uint64(r.n)+5))
	terms = append(terms, more...)
	if operand != nil {
		either[group] = append(either[group], operand)
	}
	for _, of := range either {
		if len(of) > 0 {
			terms = append(terms, ecs.Any(of...))
		}
	}
	terms = append(terms, d.filterTerms(q, mix(uint64(r.n)+4))...)
	q.q = ecs.NewQuery(d.w, terms...)
	d.queries = append(d.queries, q)
	if q.filters() && r.who&1 != 0 && len(d.sinces) > 0 {
		q.since = d.sinces[int(r.who)%len(d.sinces)]
		q.q.SetSince(q.since)
	}
	return nil
}

// shown returns the kinds that entities may have.
func (d *world) shown() kinds {
	if d.active&cleanupKinds != 0 {
		return d.active | 1<<cleanupEntityKind
	}
	return d.active
}

// draw returns four bits of n for kind k.
func draw(n uint64, k int) uint64 {
	if k < 16 {
		return n >> (4 * k) & 15
	}
	return mix(n+uint64(k)) & 15
}

// shareTerm gives a query one term over kind k, which is shared, or none.
func (d *world) shareTerm(q *query, k int, n uint64) []ecs.Term {
	t := d.list[k].Type()
	switch n & 7 {
	case 0:
		q.terms[k] = withTerm
		return []ecs.Term{ecs.With(t)}
	case 1:
		q.terms[k] = withoutTerm
		return []ecs.Term{ecs.Without(t)}
	case 2:
		q.terms[k] = presentTerm
		return []ecs.Term{ecs.Present(t.(ecs.Operand))}
	case 3, 4:
		q.terms[k] = whereTerm
		list := make([]any, 0, 8)
		for i := range 1 + n>>8%8 {
			list = append(list, d.someValue(k, n+i))
		}
		q.where[k-firstShared] = list
		return []ecs.Term{d.list[k].shared().where(list)}
	}
	return nil
}

// add gives a query one term over kind k.
func (q *query) add(c kind, k int, kind termKind, may uint8) []ecs.Term {
	t := c.Type()
	q.terms[k], q.access[k] = kind, may
	switch kind {
	case readTerm:
		q.access[k] = mayRead
		return []ecs.Term{ecs.Read(t)}
	case writeTerm:
		q.access[k] = mayWrite
		return []ecs.Term{ecs.Write(t)}
	case optionalTerm:
		return []ecs.Term{ecs.Optional(operandOf(t, may))}
	case presentTerm:
		return []ecs.Term{ecs.Present(operandOf(t, may))}
	case disabledTerm:
		if c.toggles() != nil {
			return []ecs.Term{ecs.Disabled(operandOf(t, may))}
		}
	}
	q.access[k] = 0
	switch kind {
	case withTerm:
		return []ecs.Term{ecs.With(t)}
	case withoutTerm:
		return []ecs.Term{ecs.Without(t)}
	case absentTerm:
		return []ecs.Term{ecs.Absent(t)}
	}
	q.terms[k] = noTerm
	return nil
}

func operandOf(t ecs.Type, may uint8) ecs.Operand {
	switch may {
	case mayRead:
		return ecs.Read(t)
	case mayWrite:
		return ecs.Write(t)
	}
	return t.(ecs.Operand)
}

// filterTerms gives a query terms over versions and hidden entities, or none.
func (d *world) filterTerms(q *query, n uint64) (terms []ecs.Term) {
	if n&3 == 0 {
		q.changed = d.shown() & kinds(n>>8) & kinds(n>>24) &^ sharing
		for _, t := range d.types(q.changed, 0) {
			terms = append(terms, ecs.Changed(t))
		}
	}
	if d.m.set.known && n>>48&3 == 0 {
		q.newSparseLinks, terms = true, append(terms, ecs.Changed(d.sparseLink))
	}
	if n>>2&7 == 0 {
		q.ordered, terms = true, append(terms, ecs.Ordered())
	}
	if n>>5&1 == 0 {
		q.inDisabled, terms = true, append(terms, ecs.IncludeDisabled())
	}
	if n>>6&1 == 0 {
		q.inPrefabs, terms = true, append(terms, ecs.IncludePrefabs())
	}
	return terms
}

// pickQuery returns one of the queries, or the query for all entities.
func (d *world) pickQuery(r record) *query {
	if len(d.queries) == 0 || r.who>>12 == 0 {
		return d.all
	}
	return d.queries[int(r.who)%len(d.queries)]
}

// closeQuery closes a query: it cannot be used any more.
func (d *world) closeQuery(r record) error {
	if len(d.queries) < maxQueries/2 {
		return d.newTerms(r)
	}
	i := int(r.who) % len(d.queries)
	closing := d.queries[i]
	q := closing.q
	d.queries = slices.Delete(d.queries, i, i+1)
	ended := true
	for range q.Rows() {
		if err := panics("ecs: ", q.Close); err != nil {
			return err
		}
		ended = false
		break
	}
	d.ran(closing, ended)
	q.Close()
	q.Close()
	for _, f := range []func(){
		func() { q.Count() },
		func() { d.w.DestroyQuery(q) },
		func() {
			for range q.Rows() {
				panic("a closed query gives rows")
			}
		},
	} {
		if err := panics("ecs: ", f); err != nil {
			return fmt.Errorf("a closed query: %w", err)
		}
	}
	return nil
}

// written reports whether a row of the chunk was written after since.
func (w chunk) written(m *model, k int, since uint32) bool {
	return slices.ContainsFunc(w.rows, func(e ecs.Entity) bool { return m.entities[e].wrote[k] > since })
}

// arrived reports whether a row came to its place in the chunk after since.
func (w chunk) arrived(m *model, since uint32) bool {
	return slices.ContainsFunc(w.rows, func(e ecs.Entity) bool { return m.entities[e].arrived > since })
}

// skip returns an error if a loop must not skip the chunk.
func (c *cursor) skip(w chunk) error {
	if !c.q.filters() || c.since == 0 || c.mustPass(w) {
		return fmt.Errorf("%v: %d rows of %v were left out; Since is %d", c.q.q, len(w.rows), w.g.a, c.since)
	}
	return nil
}

// mustPass reports whether a row of the chunk is newer than the query's since.
func (c *cursor) mustPass(w chunk) bool {
	if c.q.ordered && w.arrived(c.d.m, c.since) {
		return true
	}
	if c.q.newSparseLinks &&
		slices.ContainsFunc(w.rows, func(e ecs.Entity) bool { return c.d.m.set.newer(c.d.m.entities[e], c.since) }) {
		return true
	}
	for k := range maxKinds {
		if c.q.changed.has(k) && w.g.set.has(k) && c.written(w, k) {
			return true
		}
	}
	return false
}

// mayPass reports whether there is a reason to show a chunk.
func (c *cursor) mayPass(w chunk) bool {
	if !c.q.filters() || c.since == 0 || c.q.ordered && c.d.m.reordered > c.since ||
		c.q.newSparseLinks && c.d.m.set.touched > c.since {
		return true
	}
	for k := range maxKinds {
		switch {
		case !c.q.changed.has(k) || !w.g.set.has(k):
		case k == chunkMarksKind && c.written(w, k), k != chunkMarksKind && c.d.m.touched[k] > c.since:
			return true
		}
	}
	return false
}

// written reports whether a row of the chunk, or the chunk's own value, is newer than the query's
// since.
func (c *cursor) written(w chunk, k int) bool {
	if k == chunkMarksKind {
		return c.d.lotOf(w.rows).version > c.since
	}
	return w.written(c.d.m, k, c.since)
}
