package ecs

import "quarry/internal/seam/under"

// The seam: functions that sibling packages need and programs do not. Each method is a single call;
// package quarry/internal/seam documents their contracts, in functions of the same names.

type inside struct{}

// Inside gives packages of this repository access to functions that ecs does not export and that
// may change in any release. Programs cannot use it: no package of another module can name its
// argument's type.
func Inside(under.Key) inside { return inside{} }

func (inside) ArchetypesOf(w *World, dst []*Archetype, list []Entity) { w.archetypesOf(dst, list) }
func (inside) CheckChange(w *World, op string)                        { w.checkChange(op) }
func (inside) Conflicts(a, b *Access) bool                            { return a.conflicts(b) }
func (inside) FactsOf(t Type) under.Facts                             { return factsOf(t) }
func (inside) Filters(q *Query) bool                                  { return q.asks() }
func (inside) RecordingsOf(w *World) *under.Recordings                { return w.recordingsOf() }
func (inside) Hold(w *World, chunks int)                              { w.recorded.Add(int64(chunks)) }
func (inside) Keep(w *World, by *string)                              { w.keeper.Store(by) }
func (inside) Join(a, b *Access)                                      { a.join(b) }
func (inside) Locked(w *World) bool                                   { return w.locked() }
func (inside) Looks(q *Query) Access                                  { return q.accesses("seam.Looks", true) }
func (inside) Number(e Entity) (number int, buffer uint32)            { return e.number() }
func (inside) PinSince(q *Query, version uint32)                      { q.setSince("seam.PinSince", version, true) }
func (inside) Placeholder(number int, buffer uint32) Entity           { return placeholder(number, buffer) }
func (inside) EndBorrows(w *World, op string)                         { w.endBorrows(op) }
func (inside) TypeIndex(w *World, t Type) int                         { return w.indexOf(t) }
func (inside) Writes(t Term) bool                                     { return t.writes() }
func (inside) Destruction(w *World) *Change                           { return w.destruction() }
func (inside) OutcomeOf(a *Archetype) Outcome                         { return outcomeOf(a) }
func (inside) OutcomeOfCopies(a *Archetype) (Outcome, error)          { return outcomeOfCopies(a) }
func (inside) After(o Outcome, c *Change) (Outcome, error)            { return o.after(c) }
func (inside) At(o *Outcome) *Archetype                               { return o.archetype() }
func (inside) Stays(o *Outcome) bool                                  { return o.stays() }
func (inside) ChangesEntries(c *Change) bool                          { return c.changesEntries() }
func (inside) ExpectChange(t *Transaction, c *Change, n int)          { t.expectChange(c, n) }
func (inside) Enter(c *Change, list []Entity)                         { c.enterList(list) }
func (inside) Begin(t *Transaction, w *World, op string)              { t.begin(w, op) }
func (inside) Create(t *Transaction, o *Outcome, n int)               { t.create(o, n) }
func (inside) Copy(t *Transaction, e Entity, o *Outcome, n int)       { t.copy(e, o, n) }
func (inside) MoveQuery(w *World, q *Query, m *MoveResult) error      { return w.moveQuery(q, m) }
func (inside) Move(t *Transaction, list []Entity, o *Outcome)         { t.move(list, o) }
func (inside) Reserve(t *Transaction) error                           { return t.reserve() }
func (inside) Run(t *Transaction, group int) Batch                    { return t.run(group) }
func (inside) Finish(t *Transaction)                                  { t.finish() }
func (inside) NewBorrow(q *Query, name string, wait func(op string), uses []Term) *Borrow {
	return newBorrow(q, name, wait, uses...)
}
func (inside) MatchesArchetype(q *Query, a *Archetype) (matches, bits bool) {
	return q.matchesArchetype(a)
}

func (inside) SetValue(w *World, e Entity, t Type, v any) (bool, error) {
	return w.setAny("seam.SetValue", e, t, v)
}
func (inside) SharedOf(w *World, t Type, v any) SharedValue {
	return w.sharedOf("seam.SharedOf", infoOf("seam.SharedOf", t), v)
}
func (inside) VisitLinks(w *World, e Entity, t Type, visit func(*Entity)) bool {
	return w.visitLinks("seam.VisitLinks", e, t, visit)
}
func (inside) SetEnabled(w *World, e Entity, t Type, on bool) bool {
	return w.setEnabled("seam.SetEnabled", e, t, on)
}
func (inside) Enabled(w *World, e Entity, t Type) bool { return w.enabledOf("seam.Enabled", e, t) }
func (inside) SetTag(w *World, number uint32)          { w.setTag("seam.SetTag", number) }

func (inside) ImageOf(s *Snapshot) (*under.Image, error)   { return imageOf(s, false) }
func (inside) ImageOfWorld(w *World) (*under.Image, error) { return imageOfWorld(w) }
func (inside) OpenImage(f *under.ImageFile, register func(*World), options []Option) (*World, error) {
	return openImage(f, register, options)
}
func (inside) PlanImage(f *under.ImageFile, register func(*World)) ([]under.ImagePlan, error) {
	return planImage(f, register)
}
func (inside) PlanBetween(f, newer *under.ImageFile) ([]under.ImagePlan, error) {
	return planBetween(f, newer)
}
func (inside) AppendDelta(dst []byte, older, newer *Snapshot, spare *under.DeltaSpare) ([]byte, error) {
	return appendDelta(dst, older, newer, spare)
}
func (inside) DescribeImage(f *under.ImageFile) (*under.ImageInfo, error) { return describeImage(f) }
