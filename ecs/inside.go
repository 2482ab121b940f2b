package ecs

import (
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/seam/under"
)

// The seam: functions that sibling packages need and programs do not. Each method is a single call;
// package quarry/internal/seam documents their contracts, in functions of the same names.

type inside struct{}

// Inside gives packages of this repository access to functions that ecs does not export and that
// may change in any release. Programs cannot use it: no package of another module can name its
// argument's type.
func Inside(under.Key) inside { return inside{} }

func (inside) ArchetypesOf(w *World, dst []*Archetype, list []Entity) {
	w.inner().ArchetypesOf(coresOf[*world.Archetype](dst), idsOf(list))
}
func (inside) CheckChange(w *World, op string)                   { w.inner().CheckChange(op) }
func (inside) Conflicts(a, b *Access) bool                       { return a.inner().Conflicts(b.inner()) }
func (inside) FactsOf(t Type) under.Facts                        { return infoOf("seam.FactsOf", t).Facts() }
func (inside) Filters(q *Query) bool                             { return q.inner().Asks() }
func (inside) RecordingsOf(w *World) *under.Recordings           { return w.inner().RecordingsOf() }
func (inside) Hold(w *World, chunks int)                         { w.core.Recorded.Add(int64(chunks)) }
func (inside) Keep(w *World, by *string)                         { w.core.Keeper.Store(by) }
func (inside) Join(a, b *Access)                                 { a.inner().Join(b.inner()) }
func (inside) Locked(w *World) bool                              { return w.inner().Locked() }
func (inside) Looks(q *Query) Access                             { return Access{q.inner().Accesses("seam.Looks", true)} }
func (inside) Number(e Entity) (number int, buffer uint32)       { return e.number() }
func (inside) PinSince(q *Query, version uint32)                 { q.inner().SetSince("seam.PinSince", version, true) }
func (inside) Placeholder(number int, buffer uint32) Entity      { return placeholder(number, buffer) }
func (inside) EndBorrows(w *World, op string)                    { w.inner().EndBorrows(op) }
func (inside) TypeIndex(w *World, t Type) int                    { return w.indexOf(t) }
func (inside) Writes(t Term) bool                                { return t.core.Writes() }
func (inside) Destruction(w *World) *Change                      { return changeFrom(edit.Destruction(w.inner())) }
func (inside) OutcomeOf(a *Archetype) Outcome                    { return edit.OutcomeOf(a.inner()) }
func (inside) OutcomeOfCopies(a *Archetype) (Outcome, error)     { return edit.OutcomeOfCopies(a.inner()) }
func (inside) After(o Outcome, c *Change) (Outcome, error)       { return o.After(c.inner()) }
func (inside) At(o *Outcome) *Archetype                          { return archetypeFrom(o.Archetype()) }
func (inside) Stays(o *Outcome) bool                             { return o.Stays() }
func (inside) ChangesEntries(c *Change) bool                     { return c.inner().ChangesEntries() }
func (inside) ExpectChange(t *Transaction, c *Change, n int)     { t.ExpectChange(c.inner(), n) }
func (inside) Enter(c *Change, list []Entity)                    { c.inner().EnterList(idsOf(list)) }
func (inside) Begin(t *Transaction, w *World, op string)         { t.Begin(w.inner(), op) }
func (inside) Create(t *Transaction, o *Outcome, n int)          { t.Create(o, n) }
func (inside) Copy(t *Transaction, e Entity, o *Outcome, n int)  { t.Copy(entity.ID(e), o, n) }
func (inside) MoveQuery(w *World, q *Query, m *MoveResult) error { return w.moveQuery(q, m) }
func (inside) Move(t *Transaction, list []Entity, o *Outcome)    { t.Move(idsOf(list), o) }
func (inside) Reserve(t *Transaction) error                      { return t.Reserve() }
func (inside) Run(t *Transaction, group int) Batch               { return Batch{t.Run(group)} }
func (inside) Finish(t *Transaction)                             { t.Finish() }
func (inside) NewBorrow(q *Query, name string, wait func(op string), uses []Term) *Borrow {
	return borrowFrom(query.NewBorrow(q.inner(), name, wait, coresOf[query.Term](uses)...))
}
func (inside) MatchesArchetype(q *Query, a *Archetype) (matches, bits bool) {
	return q.inner().MatchesArchetype(a.inner())
}

func (inside) SetValue(w *World, e Entity, t Type, v any) (bool, error) {
	return edit.SetAny(w.inner(), "seam.SetValue", entity.ID(e), infoOf("seam.SetValue", t), v)
}
func (inside) SharedOf(w *World, t Type, v any) SharedValue {
	return SharedValue{w.inner().SharedOf("seam.SharedOf", infoOf("seam.SharedOf", t), v)}
}
func (inside) VisitLinks(w *World, e Entity, t Type, visit func(*Entity)) bool {
	return w.inner().VisitLinks("seam.VisitLinks", entity.ID(e), infoOf("seam.VisitLinks", t), idVisit(visit))
}
func (inside) SetEnabled(w *World, e Entity, t Type, on bool) bool {
	return w.inner().SetEnabled("seam.SetEnabled", entity.ID(e), infoOf("seam.SetEnabled", t), on)
}
func (inside) Enabled(w *World, e Entity, t Type) bool {
	return w.inner().EnabledOf("seam.Enabled", entity.ID(e), infoOf("seam.Enabled", t))
}
func (inside) SetTag(w *World, number uint32) { w.inner().SetTag("seam.SetTag", number) }

func (inside) ImageOf(s *Snapshot) (*under.Image, error)   { return worldfile.ImageOf(s.inner(), false) }
func (inside) ImageOfWorld(w *World) (*under.Image, error) { return worldfile.ImageOfWorld(w.inner()) }
func (inside) OpenImage(f *under.ImageFile, register func(*World), options []Option) (*World, error) {
	return openImage(f, register, options)
}
func (inside) PlanImage(f *under.ImageFile, register func(*World)) ([]under.ImagePlan, error) {
	return worldfile.PlanImage(f, onCore(register))
}
func (inside) PlanBetween(f, newer *under.ImageFile) ([]under.ImagePlan, error) {
	return worldfile.PlanBetween(f, newer)
}
func (inside) AppendDelta(dst []byte, older, newer *Snapshot, spare *under.DeltaSpare) ([]byte, error) {
	return delta.AppendDelta(dst, older.inner(), newer.inner(), spare)
}
func (inside) DescribeImage(f *under.ImageFile) (*under.ImageInfo, error) {
	return worldfile.DescribeImage(f)
}
