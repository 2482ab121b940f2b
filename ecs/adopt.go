package ecs

// Setting an archetype: whatever an entity has, it becomes one of exactly these
// types. Those that both have keep their values.

func (a *Archetype) into() *Change {
	if a.adopt == nil {
		a.adopt = &Change{w: a.w, into: a}
	}
	return a.adopt
}

// Adopt makes e an entity of exactly the archetype's types, in one move: types that
// it lacks are added, zero and enabled, and others are removed. changed is false when
// it is one already. It panics and returns errors like Change.Apply.
func (a *Archetype) Adopt(e Entity) (changed bool, err error) {
	return a.into().applyOne("Archetype.Adopt", e)
}

// AdoptQuery is Adopt of every entity that matches q; see Change.ApplyQuery.
func (a *Archetype) AdoptQuery(q *Query) (Batch, error) {
	return a.into().applyQuery("Archetype.AdoptQuery", q)
}

// AdoptList is Adopt of the entities of a list; see Change.ApplyList.
func (a *Archetype) AdoptList(list []Entity) (Batch, error) {
	return a.into().applyList("Archetype.AdoptList", list)
}
