package command

import "quarry/ecs"

// Orders about queries: recorded, and done at once.

// recordQuery gives an order about a query to a buffer.
func (o order) recordQuery(y *yard, cb Recorder, e ecs.Entity) {
	w, p := cb.writer(), position{float64(o.n), 2}
	switch o.what {
	case doAddHitsQuery:
		AddBuffer(cb, y.q, y.hits, hit{N: int32(o.n)})
	case doPutHitsQuery:
		PutBuffer(cb, y.q, y.hits, hit{N: int32(o.n)})
	case doAppendQuery:
		Append(cb, y.q, y.hits, hit{N: int32(o.n)}, hit{N: 1})
	case doSetTeamQuery:
		SetShared(cb, y.q, y.team, teams[o.n%3])
	case doDestroyQuery:
		w.DestroyQuery(y.q)
	case doAddQuery:
		w.AddQuery(y.q, y.slow)
	case doPutQuery:
		Put(cb, y.q, y.ptr, pointer{e, uint32(o.n)})
	case doSetQuery:
		Set(cb, y.q, y.pos, p)
	case doRemoveQuery:
		w.RemoveQuery(y.qwalk, y.ptr)
	case doDisableQuery:
		w.DisableQuery(y.q, y.walk)
	case doTeamQuery:
		PutShared(cb, y.q, y.team, teams[o.n%3])
	case doAddWalkQuery:
		Add(cb, y.q, y.walk, health{float64(o.n)})
	}
}

// doQuery does an order about a query.
func (y *yard) doQuery(o order, e ecs.Entity, p position) {
	switch o.what {
	case doDestroyQuery:
		y.w.DestroyQuery(y.q)
	case doAddQuery:
		for _, e := range y.q.Entities(nil) {
			y.slow.Add(e, slow{})
		}
	case doPutQuery:
		for _, f := range y.q.Entities(nil) {
			y.ptr.Set(f, pointer{e, uint32(o.n)})
		}
	case doSetQuery:
		for _, e := range y.q.Entities(nil) {
			y.pos.Set(e, p)
		}
	case doRemoveQuery:
		for _, e := range y.qwalk.Entities(nil) {
			y.ptr.Remove(e)
		}
	case doDisableQuery:
		for _, e := range y.q.Entities(nil) {
			y.walk.Disable(e)
		}
	case doTeamQuery:
		for _, e := range y.q.Entities(nil) {
			if !y.team.Add(e, teams[o.n%3]) {
				y.team.Set(e, teams[o.n%3])
			}
		}
	case doAddWalkQuery:
		for _, e := range y.q.Entities(nil) {
			y.walk.Add(e, health{float64(o.n)})
		}
	case doAddHitsQuery:
		for _, e := range y.q.Entities(nil) {
			if !y.hits.Has(e) {
				give(y.hits, e, hit{N: int32(o.n)})
			}
		}
	case doPutHitsQuery:
		for _, e := range y.q.Entities(nil) {
			give(y.hits, e, hit{N: int32(o.n)})
		}
	case doAppendQuery:
		for _, e := range y.q.Entities(nil) {
			y.hits.Append(e, hit{N: int32(o.n)}, hit{N: 1})
		}
	case doSetTeamQuery:
		for _, e := range y.q.Entities(nil) {
			y.team.Set(e, teams[o.n%3])
		}
	}
}
