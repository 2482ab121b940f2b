package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// sheet is a value that a plain copy would share.
type sheet struct {
	Lines []int
	Of    ecs.Entity
}

func copySheet(from *sheet) sheet { return sheet{slices.Clone(from.Lines), from.Of} }

func clonedSheets(m map[ecs.Entity]*sheet) map[ecs.Entity]*sheet {
	c := maps.Clone(m)
	for e, p := range c {
		if p != nil {
			v := copySheet(p)
			c[e] = &v
		}
	}
	return c
}

// sheetWorld is a world with a managed type that snapshots have, beside a plain map: nil is an
// entity that has the type and no value.
type sheetWorld struct {
	*ecs.World
	t      testing.TB
	r      *rand.Rand
	sheet  ecs.Managed[sheet]
	count  ecs.Managed[int] // a second type, with the number of lines
	place  ecs.Component[snapPlace]
	all    *ecs.Query
	write  *ecs.Query
	want   map[ecs.Entity]*sheet
	living []ecs.Entity
	made   int
}

func newSheetWorld(t testing.TB, seed uint64) *sheetWorld {
	w := ecstest.NewWorld(t)
	s := &sheetWorld{World: w, t: t, r: rand.New(rand.NewPCG(seed, 7)), want: map[ecs.Entity]*sheet{}}
	s.place = ecs.Register[snapPlace](w)
	s.sheet = ecs.RegisterManaged[sheet](w, ecs.CopyWith(copySheet), ecs.TrackRows, ecs.MaxRows(100))
	s.count = ecs.RegisterManaged[int](w, ecs.CopyWith(func(from *int) int { return *from }))
	s.all, s.write = ecs.NewQueryOfAll(w), ecs.NewQuery(w, ecs.Write(s.sheet))
	return s
}

func (s *sheetWorld) any() ecs.Entity {
	if len(s.living) == 0 {
		return ecs.Null
	}
	return s.living[s.r.IntN(len(s.living))]
}

func (s *sheetWorld) fresh() sheet {
	s.made++
	return sheet{Lines: []int{s.made, s.r.IntN(9)}, Of: s.any()}
}

// step changes the world and the map at random.
func (s *sheetWorld) step() {
	e := s.any()
	p, has := s.want[e]
	switch op := s.r.IntN(12); {
	case op < 2:
		for range 1 + s.r.IntN(60) {
			e := ecs.NewArchetype(s.World, s.sheet, s.place).Create()
			s.living, s.want[e] = append(s.living, e), nil
		}
	case op == 2:
		s.living = append(s.living, ecs.NewArchetype(s.World, s.place).Create())
	case op < 5 && len(s.living) > 0:
		s.Destroy(e)
		delete(s.want, e)
		s.living = slices.DeleteFunc(s.living, func(o ecs.Entity) bool { return o == e })
	case op < 8 && has:
		v := s.fresh()
		s.sheet.Set(e, v)
		s.count.Add(e, len(v.Lines))
		s.count.Set(e, len(v.Lines))
		c := copySheet(&v)
		s.want[e] = &c
	case op < 10 && p != nil: // behind the world's back
		s.sheet.Get(e).Lines[0]++
		p.Lines[0]++
	case op == 10 && has:
		s.sheet.Remove(e)
		delete(s.want, e)
	case op == 10 && len(s.living) > 0:
		v := s.fresh()
		s.sheet.Add(e, v)
		c := copySheet(&v)
		s.want[e] = &c
	case op == 11:
		s.Trim()
	}
}

// compareSheets compares what a world, a snapshot or a fork has with a map.
func compareSheets(t testing.TB, want map[ecs.Entity]*sheet, get func(e ecs.Entity) *sheet) {
	t.Helper()
	for e, p := range want {
		if p == nil {
			require.Nil(t, get(e))
		} else {
			require.Equal(t, *p, *get(e))
		}
	}
}

// check compares the world with its map.
func (s *sheetWorld) check() {
	s.t.Helper()
	require.NoError(s.t, s.Verify())
	compareSheets(s.t, s.want, s.sheet.Get)
	require.Equal(s.t, len(s.want), s.write.Count())
}

// sheetMoment is a snapshot beside what it should have.
type sheetMoment struct {
	s      *ecs.Snapshot
	want   map[ecs.Entity]*sheet
	living []ecs.Entity
}

// note is the moment of a snapshot that has just been taken.
func (s *sheetWorld) note(m *ecs.Snapshot) sheetMoment {
	return sheetMoment{m, clonedSheets(s.want), slices.Clone(s.living)}
}

// read compares a snapshot, by rows and by look-ups, and a fork of it.
func (s *sheetWorld) read(m sheetMoment) {
	s.t.Helper()
	require.NoError(s.t, m.s.Verify())
	compareSheets(s.t, m.want, s.sheet.Lookup(m.s).Get)
	n := 0
	for rows := range m.s.Rows(s.write) {
		for i, e := range rows.Entities() {
			p, ok := m.want[e]
			require.True(s.t, ok)
			if got := s.sheet.At(rows, i); p == nil {
				require.Nil(s.t, got)
				require.Nil(s.t, rows.Value(s.sheet, i))
			} else {
				require.Equal(s.t, *p, *got)
				require.Equal(s.t, *p, rows.Value(s.sheet, i))
			}
			n++
		}
	}
	require.Equal(s.t, len(m.want), n)
	for fork, make := range map[string]func(...ecs.Option) (*ecs.World, error){"fork": m.s.Fork, "clone": s.Clone} {
		w, err := make()
		require.NoError(s.t, err)
		require.NoError(s.t, w.Verify())
		there := ecs.RegisterManaged[sheet](w, ecs.CopyWith(copySheet), ecs.TrackRows, ecs.MaxRows(100))
		if fork == "fork" {
			compareSheets(s.t, m.want, there.Get)
			for e := range m.want {
				if p := there.Get(e); p != nil {
					p.Lines[0] = -1 // nobody else has it
				}
			}
		} else {
			for e, p := range s.want {
				if got := there.Get(ecstest.TwinIn(w, e)); p != nil {
					require.Equal(s.t, p.Lines, got.Lines)
					require.Equal(s.t, p.Of == ecs.Null, got.Of == ecs.Null)
					got.Lines[0] = -1
				}
			}
		}
		require.NoError(s.t, w.Close())
	}
}

// TestManagedCopiesFollowAModel takes a world through random changes, with several snapshots alive
// that are restored, renewed, read and closed.
func TestManagedCopiesFollowAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		s := newSheetWorld(t, seed)
		var alive []sheetMoment
		for range ecstest.StepsOf(1500) {
			at := 0
			if len(alive) > 0 {
				at = s.r.IntN(len(alive))
			}
			switch op := s.r.IntN(40); {
			case op == 0 && len(alive) < 4:
				alive = append(alive, s.note(s.Snapshot()))
			case op == 1 && len(alive) > 0:
				alive[at].s.Renew()
				alive[at] = s.note(alive[at].s)
			case op == 2 && len(alive) > 0 && s.r.IntN(2) == 0:
				alive[at].s.Close()
				alive = slices.Delete(alive, at, at+1)
			case op < 6 && len(alive) > 0:
				require.NoError(t, s.Restore(alive[at].s))
				s.want, s.living = clonedSheets(alive[at].want), slices.Clone(alive[at].living)
				s.check()
			case op == 6 && len(alive) > 0:
				s.read(alive[at])
			default:
				s.step()
			}
			if s.r.IntN(10) == 0 {
				s.check()
			}
		}
		for _, m := range alive {
			s.read(m)
		}
	}
}

// TestManagedRestoreMarks: values cannot be compared, so each row that a restore brings a value is
// marked changed, in chunks and in rows, where none came or went.
func TestManagedRestoreMarks(t *testing.T) {
	s := newSheetWorld(t, 1)
	a := ecs.NewArchetype(s.World, s.sheet, s.place)
	batch, err := a.CreateN(150)
	require.NoError(t, err)
	list := batch.Entities(nil)
	s.sheet.Set(list[120], s.fresh())
	m := s.Snapshot()
	s.sheet.Get(list[120]).Lines[0]++ // which marks nothing
	version := s.Version()
	s.Advance()
	require.False(t, s.sheet.ChangedSince(list[120], version))
	require.NoError(t, s.Restore(m))
	require.True(t, s.sheet.ChangedSince(list[120], version))
	require.True(t, s.sheet.ChangedSince(list[149], version), "of its chunk")
	require.False(t, s.place.ChangedSince(list[120], version))
}

// TestManagedTypesOfLater: what a type that was registered after the snapshot has goes with its
// rows.
func TestManagedTypesOfLater(t *testing.T) {
	s := newSheetWorld(t, 1)
	s.step()
	m := s.note(s.Snapshot())
	calls := 0
	late := ecs.RegisterManaged[[]string](s.World,
		ecs.CopyWith(func(from *[]string) []string { calls++; return slices.Clone(*from) }))
	e := ecs.NewArchetype(s.World, late).Create()
	late.Set(e, []string{"late"})
	p := late.Get(e)
	require.NoError(t, s.Restore(m.s))
	require.Nil(t, *p)
	require.Zero(t, calls, "the snapshot has none")
	require.NoError(t, s.Verify())
	e = ecs.NewArchetype(s.World, late).Create()
	late.Set(e, []string{"again"})
	require.Panics(t, func() { late.Lookup(m.s) })
	require.Equal(t, []string{"again"}, *late.Lookup(s.Snapshot()).Get(e))
	require.Equal(t, 1, calls)
}

// TestManagedWithoutCopies: readers, restores and forks refuse a type without a function by name.
func TestManagedWithoutCopies(t *testing.T) {
	w := ecstest.NewWorld(t)
	text, place := ecs.RegisterManaged[string](w), ecs.Register[snapPlace](w)
	e := ecs.NewArchetype(w, text, place).Create()
	text.Set(e, "a")
	q := ecs.NewQuery(w, ecs.Read(text))
	s := w.Snapshot()
	has := "a snapshot has no values of managed string: register it with ecs.CopyWith"
	for rows := range s.Rows(q) {
		require.PanicsWithValue(t, "ecs: Managed.At: "+has, func() { text.At(rows, 0) })
		require.Nil(t, rows.Value(text, 0))
	}
	require.PanicsWithValue(t, "ecs: Managed.Lookup: "+has, func() { text.Lookup(s) })
	rows := "[managed string snapPlace] has rows with values of managed string, which a snapshot does not have: register it with ecs.CopyWith"
	require.EqualError(t, w.Restore(s), "ecs: World.Restore: "+rows)
	open := world.Tags.Open()
	_, err := s.Fork()
	require.EqualError(t, err, "ecs: Snapshot.Fork: "+rows)
	require.Equal(t, open, world.Tags.Open())
	require.NoError(t, s.Verify())
	clone, err := w.Clone() // assigns, as ever
	require.NoError(t, err)
	require.Equal(t, "a", *ecs.RegisterManaged[string](clone).Get(ecstest.TwinIn(clone, e)))
	require.NoError(t, clone.Close())
}

// TestCopyWithMisuse: the option is checked against the type.
func TestCopyWithMisuse(t *testing.T) {
	w := ecstest.NewWorld(t)
	option := ecs.CopyWith(func(from *string) string { return *from })
	ecs.RegisterManaged[string](w, option)
	ecs.RegisterManaged[string](w, ecs.CopyWith(func(*string) string { return "another" }))
	for text, f := range map[string]func(){
		"ecs: CopyWith: the function is nil":                                 func() { ecs.CopyWith[string](nil) },
		"ecs: RegisterManaged[int]: CopyWith is of string":                   func() { ecs.RegisterManaged[int](w, option) },
		"ecs: Register[Position]: CopyWith is an option of RegisterManaged":  func() { ecs.Register[ecstest.Position](w, option) },
		"ecs: Register[[]Hit]: CopyWith is an option of RegisterManaged":     func() { ecs.RegisterBuffer[ecstest.Hit](w, option) },
		"ecs: RegisterManaged[string]: registered before with other options": func() { ecs.RegisterManaged[string](w) },
		"ecs: Lookup.Get: " + "the look-up is the zero value; look-ups come from Lookup of a handle": func() {
			ecs.Lookup[string]{}.Get(ecs.Null)
		},
	} {
		require.PanicsWithValue(t, text, f)
	}
	require.NoError(t, w.Verify())
}

// TestCopyFunctionPanics: a function that panics at any of its calls lets the panic through, and
// nothing is taken, half restored or left behind.
func TestCopyFunctionPanics(t *testing.T) {
	w := ecstest.NewWorld(t)
	left := -1 // calls until the panic
	text := ecs.RegisterManaged[[]int](w, ecs.CopyWith(func(from *[]int) []int {
		if left == 0 {
			panic("no copy")
		}
		left--
		return slices.Clone(*from)
	}))
	other := ecs.RegisterManaged[string](w, ecs.CopyWith(func(from *string) string { return *from }))
	a := ecs.NewArchetype(w, text, other)
	var list []ecs.Entity
	for i := range 5 {
		e := a.Create()
		text.Set(e, []int{i})
		other.Set(e, fmt.Sprint(i))
		list = append(list, e)
	}
	s, renewed, closed := w.Snapshot(), w.Snapshot(), w.Snapshot()
	closed.Close()
	w.Destroy(list[0])
	late := a.Create()
	text.Set(list[1], []int{7})
	text.Set(late, []int{8})
	print := func() (all string) {
		for _, e := range append(slices.Clone(list), late) {
			all += fmt.Sprint(w.Alive(e), text.Get(e), other.Get(e), " ")
		}
		return all
	}
	before, hash, open := print(), w.Hash(), world.Tags.Open()
	for name, call := range map[string]func(){
		"Snapshot":     func() { w.Snapshot() },
		"Renew closed": func() { closed.Renew() },
		"Restore":      func() { _ = w.Restore(s) },
		"Fork":         func() { _, _ = s.Fork() },
		"Clone":        func() { _, _ = w.Clone() },
	} {
		for at := range 5 {
			left = at
			require.PanicsWithValue(t, "no copy", call, "%s, call %d", name, at)
			left = -1
			require.NoError(t, w.Verify(), name)
			require.NoError(t, s.Verify(), name)
			require.Equal(t, before, print(), name)
			require.Equal(t, hash, w.Hash(), name)
			require.Equal(t, open, world.Tags.Open(), name)
		}
	}
	left = 2
	require.PanicsWithValue(t, "no copy", func() { renewed.Renew() })
	left = -1
	require.PanicsWithValue(t, "ecs: Snapshot.Kept: the snapshot is closed", func() { renewed.Kept() })
	require.NoError(t, w.Verify())
	renewed.Renew()
	require.Equal(t, []int{8}, *text.Lookup(renewed).Get(late))
	require.NoError(t, w.Restore(s))
	require.Equal(t, []int{0}, *text.Get(list[0]))
	require.NoError(t, w.Restore(renewed))
	require.Equal(t, before, print())
	require.NoError(t, w.Verify())
}

// TestCopyFunctionUsesTheWorld: a copy function may read the world; structural changes and new
// values are refused, by the call that runs it.
func TestCopyFunctionUsesTheWorld(t *testing.T) {
	w := ecstest.NewWorld(t)
	var inside func()
	place := ecs.Register[snapPlace](w)
	text := ecs.RegisterManaged[string](w, ecs.CopyWith(func(from *string) string {
		if inside != nil {
			inside()
		}
		return *from
	}))
	a := ecs.NewArchetype(w, text, place)
	e, empty := a.Create(), a.Create()
	text.Set(e, "a")
	q := ecs.NewQuery(w, ecs.Write(text))
	s, old := w.Snapshot(), w.Snapshot()
	for op, call := range map[string]func(){
		"World.Snapshot": func() { w.Snapshot() },
		"Snapshot.Renew": func() { old.Renew() },
		"World.Restore":  func() { _ = w.Restore(s) },
		"World.Clone":    func() { _, _ = w.Clone() },
	} {
		for name, change := range map[string]func(){
			"Archetype.Create": func() { a.Create() },
			"World.Destroy":    func() { w.Destroy(e) },
			"Managed.Remove":   func() { text.Remove(e) },
			"World.Snapshot":   func() { w.Snapshot() },
			"World.Restore":    func() { _ = w.Restore(s) },
			"Snapshot.Close":   s.Close,
			"World.Close":      func() { _ = w.Close() },
			"Managed.Set":      func() { text.Set(empty, "b") },
			"Managed.Mut":      func() { text.Mut(empty) },
			"Managed.At": func() {
				for rows := range q.Rows() {
					text.At(rows, 1)
				}
			},
		} {
			inside = func() {
				require.Equal(t, "a", *text.Get(e))
				change()
			}
			if name == "Managed.Remove" {
				name = "Component.Remove"
			}
			require.Equal(t,
				fmt.Sprintf(
					"ecs: %s: structural change inside another one, %s, which is not done yet; make it after that call",
					name, op), ecstest.PanicText(call))
			inside = nil
			require.NoError(t, w.Verify())
			require.Nil(t, text.Get(empty))
		}
	}
	inside = func() { s.Close() }
	require.Equal(t, "ecs: Snapshot.Close: 1 goroutines are reading the snapshot",
		ecstest.PanicText(func() { _, _ = s.Fork() }))
	inside = nil
	require.NoError(t, w.Verify())
}
