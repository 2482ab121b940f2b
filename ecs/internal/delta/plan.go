package delta

import (
	"quarry/bitmask"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// The check before a delta is applied. A delta may belong to another state or another program, or
// be hostile, so all of its content is compared with the world and every number is bounded. After
// check, commit breaks no invariant.

// deltaPlan is a delta resolved against a world.
type deltaPlan struct {
	*Delta
	op          string
	w           *world.World
	alive       int // entities afterwards
	types       []*world.Type
	tables      []plannedTable
	values      []plannedValues
	size        int                      // bytes of the delta that are in values
	at          map[*world.Archetype]int // in tables
	sets        []sparseChange
	cleanupOnly bitmask.Bits // indices of entities that are in a table with CleanupEntity afterwards; nil without one
	odd         int          // entities that end
	roster      plannedRoster
	tx          *change.Tx            // of commit: the blocks that were taken
	room        entity.DifferenceRoom // of commit: for ids

	described []world.Description // the world's types, by TypeID
}

// plannedTable is a deltaTable resolved against a world.
type plannedTable struct {
	*deltaTable
	sig   world.Signature
	given []*value.Shared
	a     *world.Archetype // nil until it is made
	still bool             // its rows neither come, go nor move; then used, ends and runs are not needed
	used  bitmask.Bits
	ends  []change.Source
	runs  []change.RowRun
}

func (p *deltaPlan) refuse(format string, values ...any) error {
	return refuseDelta(p.op, format, values...)
}

// check returns an error unless the delta may be applied to the world.
func (p *deltaPlan) check() error {
	for _, part := range checkOrder {
		if err := checks[part].do(p); err != nil {
			return err
		}
	}
	return p.checkRoster()
}

// living reports whether an entity will be alive.
func (p *deltaPlan) living(e entity.ID) bool {
	return e.Is(p.tag) && e.Version()&1 != 0 && int(e.Index()) < p.Delta.IDs.To.Records*8192 &&
		p.Delta.IDs.VersionIn(&p.w.IDs, e.Index()) == e.Version()
}

// isCleanupOnly reports whether an entity that will be alive is then kept by Cleanup types alone.
func (p *deltaPlan) isCleanupOnly(e entity.ID) bool {
	if p.cleanupOnly != nil && p.cleanupOnly.Has(int(e.Index())) {
		return true
	}
	r := p.w.IDs.Find(e)
	if r == nil {
		return false
	}
	a := p.w.ArchetypeAt(p.w.Tables.OwnerOf(r.Location))
	_, differs := p.at[a]
	return a.CleanupOnly && !differs
}

// checkTables finds the archetypes and compares their rows with the older ones.
func (p *deltaPlan) checkTables() error {
	p.tables = append(p.tables, make([]plannedTable, len(p.Delta.Tables))...)
	if p.at == nil {
		p.at = map[*world.Archetype]int{}
	}
	with, skipped := 0, 0
	for i := range p.Delta.Tables {
		t := &p.tables[i]
		t.deltaTable = &p.Delta.Tables[i]
		if err := p.findTable(t); err != nil {
			return err
		}
		have := 0
		if t.a != nil {
			if _, twice := p.at[t.a]; twice {
				return p.refuse("%v comes twice", t.a)
			}
			p.at[t.a], have = i, t.a.Table.Len()
		}
		if have != t.older || have > 0 && knownIDSum(t.a) != t.idSum {
			return p.refuse("%d rows of an archetype, %v, are not the %d of its base", have, t.a, t.older)
		}
		if have > 0 {
			with++
		}
		t.still = have > 0 && t.newer == have && len(t.ids) == 0 && len(t.rows) == 1 &&
			t.rows[0] == rowsFrom{i, 0, have}
		if !t.still {
			t.used = make(bitmask.Bits, (t.older+63)/64)
		}
		skipped += min(t.skip, entity.MaxIDs)
	}
	for _, a := range p.w.Archetypes.List {
		if a.Table.Len() > 0 {
			with--
		}
	}
	if -with != p.untouched || skipped > p.untouched {
		return p.refuse("%d archetypes with rows are not in it, in its base %d, %d of them in order",
			-with, p.untouched, skipped)
	}
	return nil
}

// findTable finds the archetype of a table, if it exists.
func (p *deltaPlan) findTable(t *plannedTable) (err error) {
	t.sig, t.given, err = p.archetypeOf(p.types, t.types, t.deltaTable.values, t.older+t.newer)
	if err != nil {
		return err
	}
	if t.sig.Has(world.CleanupEntityID) && t.newer > 0 && !t.sig.Meets(&p.w.Types.Cleanup) {
		return p.refuse("an archetype has CleanupEntity and no Cleanup type")
	}
	t.given = p.w.ValuesFor(nil, &t.sig, t.given, nil, nil)
	t.a = p.w.Archetypes.Find(&t.sig, t.given)
	return nil
}

// archetypeOf returns the types and shared values of an archetype. of are indices in the delta's
// types; managed types are allowed only if there are no rows.
func (p *deltaPlan) archetypeOf(types []*world.Type, of []int, values [][]byte,
	rows int) (sig world.Signature, given []*value.Shared, err error) {
	for _, at := range of {
		if at >= len(types) {
			return sig, nil, p.refuse("type %d of %d", at, len(types))
		}
		info := types[at]
		if sig.Has(info.ID) || info.Place() == world.PerEntity || info.Kind == world.KindManaged && rows > 0 {
			return sig, nil, p.refuse("an archetype has %s, which is sparse, managed, or there twice", info.Name)
		}
		sig.Add(info.ID)
		if info.Kind != world.KindShared {
			continue
		}
		if len(values) == 0 {
			return sig, nil, p.refuse("an archetype has no value of %s", info.Name)
		}
		x, err := info.DecodeShared(values[0], info.Codec != nil)
		if err != nil {
			return sig, nil, p.refuse("%w", err)
		}
		given, values = append(given, info.Shared.OfAny(x)), values[1:]
	}
	if len(values) > 0 {
		return sig, nil, p.refuse("an archetype has too many values")
	}
	return sig, given, nil
}

// checkRows checks that each entity that will be alive has exactly one row.
func (p *deltaPlan) checkRows() error {
	var come bitmask.Bits
	total := p.w.Living()
	for i := range p.tables {
		t := &p.tables[i]
		if t.still {
			continue
		}
		rows, fresh := 0, 0
		for _, r := range t.rows {
			switch {
			case r.n == 0 || r.n > entity.MaxIDs || r.from >= len(p.tables):
				return p.refuse("%d rows of table %d of %d", r.n, r.from, len(p.tables))
			case r.from == newRows:
				fresh += r.n
			default:
				from := &p.tables[r.from]
				if r.row > from.older || r.n > from.older-r.row || from.still || from.used.CountRange(r.row, r.n) > 0 {
					return p.refuse("%d rows from %d on of the %d of a table, or the same twice",
						r.n, r.row, from.older)
				}
				from.used.SetRange(r.row, r.n)
			}
			if rows += r.n; rows > entity.MaxIDs {
				return p.refuse("an archetype has %d rows", rows)
			}
		}
		if rows != t.newer || fresh != len(t.ids) {
			return p.refuse("an archetype has %d rows, not %d, and %d new ones, not %d",
				rows, t.newer, fresh, len(t.ids))
		}
		total += t.newer - t.older
		if come == nil && len(t.ids) > 0 {
			come = make(bitmask.Bits, p.Delta.IDs.To.Records*(8192/64))
		}
		for _, e := range t.ids {
			if !p.living(e) || p.w.IDs.Version(e.Index()) == e.Version() || come.Has(int(e.Index())) {
				return p.refuse("%v is not born, or twice", e)
			}
			come.SetBit(int(e.Index()))
		}
	}
	if total != p.alive {
		return p.refuse("there are %d rows for %d entities", total, p.alive)
	}
	return p.checkEnds(come.Count())
}

// checkEnds checks that exactly the rows of ending entities go, and that born entities have new
// versions.
func (p *deltaPlan) checkEnds(born int) error {
	for _, s := range p.Delta.IDs.Steps {
		if s.New&1 != 0 {
			born -= int(s.N)
		}
		if s.Old&1 == 0 {
			continue
		}
		for index := s.First; index < s.First+s.N; index++ {
			e := entity.Make(index, p.tag, s.Old)
			r := p.w.IDs.Find(e)
			if r == nil {
				return p.refuse("%v is not alive", e)
			}
			o := p.w.Tables.OwnerOf(r.Location)
			a := p.w.ArchetypeAt(o)
			i, ok := p.at[a]
			if !ok || p.tables[i].still ||
				p.tables[i].used.Has(a.Table.Store.Chunks()[o.Pos()].Start+o.Row(r.Location)) {
				return p.refuse("%v ends and keeps its row", e)
			}
			p.odd++
		}
	}
	gone := 0
	for i := range p.tables {
		t := &p.tables[i]
		if t.still {
			continue
		}
		for row, n := range t.used.FreeRuns() {
			if n = min(n, t.older-row); n > 0 {
				t.ends = append(t.ends, change.Source{From: &t.a.Table.Table, Row: row, N: n})
				gone += n
			}
		}
	}
	if gone != p.odd || born != 0 {
		return p.refuse("%d rows go, %d entities end, and %d come less than versions say", gone, p.odd, -born)
	}
	p.noteDying()
	return nil
}

// noteDying records the entities of tables with CleanupEntity.
func (p *deltaPlan) noteDying() {
	for i := range p.tables {
		t := &p.tables[i]
		dying := t.sig.Has(world.CleanupEntityID) && t.newer > 0
		if !t.still || dying {
			t.runs = change.RowRuns(p.sourcesOf(t))
		}
		if !dying {
			continue
		}
		if p.cleanupOnly == nil {
			p.cleanupOnly = make(bitmask.Bits, p.Delta.IDs.To.Records*(8192/64))
		}
		for _, e := range t.ids {
			p.cleanupOnly.SetBit(int(e.Index()))
		}
		for _, run := range t.runs {
			if run.From == nil {
				continue
			}
			for _, e := range table.IDs(run.From.Store.Row(run.Pos, 0).Base, run.Row+run.N)[run.Row:] {
				p.cleanupOnly.SetBit(int(e.Index()))
			}
		}
	}
}

// sourcesOf returns where the rows of a table are now.
func (p *deltaPlan) sourcesOf(t *plannedTable) []change.Source {
	list := make([]change.Source, len(t.rows))
	for i, r := range t.rows {
		list[i] = change.Source{Row: r.row, N: r.n}
		if r.from >= 0 {
			list[i].From = &p.tables[r.from].a.Table.Table
		}
	}
	return list
}
