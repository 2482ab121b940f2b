package worldfile_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// Types of three versions of a program, in which names have other meanings.
type (
	pose    struct{ Lat, Lon float32 }
	posture struct{ X, Y float32 }
	stance  struct{ X, Y float64 }
)

// fileOf returns the image of a world with an entity of a type.
func fileOf[T any](t *testing.T, v T, others ...func(*ecs.World)) *worldfile.File {
	w := ecstest.NewWorld(t)
	c := ecs.Register[T](w)
	c.Set(ecs.NewArchetype(w, c).Create(), v)
	for _, register := range others {
		register(w)
	}
	s := w.Snapshot()
	defer s.Close()
	return ecstest.NewFile(t, s)
}

// openAs opens an image whose only entity is to have a type, and returns its value.
func openAs[T any](f *worldfile.File, rules *worldfile.Rules, others ...func(*ecs.World)) (v T, err error) {
	f.Rules = rules
	var c ecs.Component[T]
	w, err := door.OpenImage(f, func(w *ecs.World) {
		c = ecs.Register[T](w)
		for _, register := range others {
			register(w)
		}
	}, nil)
	if err != nil {
		return v, err
	}
	q := ecs.NewQuery(w, ecs.Read(c))
	for rows := range q.Rows() {
		v = c.Slice(rows)[0]
	}
	return v, w.Close()
}

// TestRulesOfVersions: rules are a program's history, which opens files of each version.
func TestRulesOfVersions(t *testing.T) {
	rules := &worldfile.Rules{
		Types: []worldfile.Rename{{Old: "pose", New: "posture"}, {Old: "posture", New: "stance"}},
		Fields: []worldfile.FieldRename{
			{Type: "pose", Old: "Lat", New: "A"}, {Type: "posture", Old: "A", New: "X"},
			{Type: "stance", Old: "Lon", New: "Y"}, {Type: "stance", Old: "Never", New: "Either"},
		},
	}
	want := stance{1, 2}
	for name, f := range map[string]*worldfile.File{
		"1": fileOf(t, pose{1, 2}), "2": fileOf(t, posture{1, 2}), "3": fileOf(t, stance{1, 2}),
	} {
		got, err := openAs[stance](f, rules)
		require.NoError(t, err, "version %s", name)
		require.Equal(t, want, got, "version %s", name)
	}
	// A later pose is another type: the file has its stance under its own name.
	got, err := openAs[stance](fileOf(t, stance{1, 2}, besides(pose{3, 4})), rules,
		func(w *ecs.World) { ecs.Register[pose](w) })
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = openAs[stance](fileOf(t, stance{1, 2}, besides(pose{3, 4})), rules)
	require.ErrorIs(t, err, worldfile.ErrImageTypes)
	require.ErrorContains(t, err, "pose is not registered")
}

// TestRulesOfStructs: a field that becomes one of a struct, which may have its name, and structs of
// another name; a program keeps the rules for its own files.
func TestRulesOfStructs(t *testing.T) {
	type flat struct{ X, Y float32 }
	type deep struct {
		X struct{ At, Was float32 }
		Y float32
	}
	type other struct {
		Where struct{ At, Was float64 }
		Y     float32
	}
	rules := &worldfile.Rules{
		Types:  []worldfile.Rename{{Old: "flat", New: "deep"}},
		Fields: []worldfile.FieldRename{{Type: "deep", Old: "X", New: "X.At"}},
	}
	want := deep{struct{ At, Was float32 }{1, 0}, 2}
	got, err := openAs[deep](fileOf(t, flat{1, 2}), rules)
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = openAs[deep](fileOf(t, want), rules)
	require.NoError(t, err)
	require.Equal(t, want, got)
	rules.Types = append(rules.Types, worldfile.Rename{Old: "deep", New: "other"})
	rules.Fields = append(rules.Fields, worldfile.FieldRename{Type: "other", Old: "X", New: "Where"})
	for _, f := range []*worldfile.File{
		fileOf(t, flat{1, 2}), fileOf(t, want), fileOf(t, other{struct{ At, Was float64 }{1, 0}, 2}),
	} {
		got, err := openAs[other](f, rules)
		require.NoError(t, err)
		require.Equal(t, other{struct{ At, Was float64 }{1, 0}, 2}, got)
	}
}

// TestRulesInOrder: names that come again with another meaning, over four versions of a type.
func TestRulesInOrder(t *testing.T) {
	type v1 struct{ Lat, Lon int32 }
	type v2 struct{ Lat, Z int32 }
	type v3 struct{ Lon, Z int32 }
	type v4 struct{ Lon, Z, Lat, New int32 }
	type v5 struct{ Lon, Z, Lat, New, More int32 }
	rules := func(to string) *worldfile.Rules {
		r := &worldfile.Rules{Fields: []worldfile.FieldRename{
			{Type: to, Old: "Lon", New: "Z"}, {Type: to, Old: "Lat", New: "Lon"},
		}}
		for _, name := range []string{"v1", "v2", "v3", "v4"} {
			r.Types = append(r.Types, worldfile.Rename{Old: name, New: to})
		}
		return r
	}
	for _, f := range []*worldfile.File{fileOf(t, v1{1, 2}), fileOf(t, v2{1, 2}), fileOf(t, v3{1, 2})} {
		got, err := openAs[v5](f, rules("v5"))
		require.NoError(t, err)
		require.Equal(t, v5{Lon: 1, Z: 2}, got)
	}
	got, err := openAs[v5](fileOf(t, v4{1, 2, 3, 4}), rules("v5"))
	require.NoError(t, err)
	require.Equal(t, v5{1, 2, 3, 4, 0}, got)
}

// TestRulesThatFail: what a rule cannot mean is refused by name, and nothing is lost unsaid.
func TestRulesThatFail(t *testing.T) {
	type twoNames struct{ Lat, X float32 }
	type pair struct{ A, B float32 }
	type nested struct{ P struct{ A, B float32 } }
	type struck struct {
		X struct{ At float32 }
		Y float32
	}
	type fields = []worldfile.FieldRename
	type names = []worldfile.Rename
	one := func(of, old, now string) worldfile.Rules {
		return worldfile.Rules{Types: names{{Old: of, New: "posture"}}, Fields: fields{{Type: of, Old: old, New: now}}}
	}
	for i, c := range []struct {
		err  error
		want string
	}{
		{refusedAs[posture](fileOf(t, pose{1, 2}), one("pose", "Lat", "x")),
			"Lat is x in this program, by a rule, and there is no such field; rules apply in their order"},
		{refusedAs[posture](fileOf(t, twoNames{1, 2}), one("twoNames", "Lat", "X")),
			"Lat is X in this program, by a rule, and the file has both; rules apply in their order"},
		{refusedAs[posture](fileOf(t, posture{1, 2}), worldfile.Rules{Fields: fields{
			{Type: "posture", Old: "X", New: "Y"}, {Type: "posture", Old: "Y", New: "X"},
		}}),
			"rules exchange X and Y, and a file from before looks like one from after"},
		{refusedAs[stance](fileOf(t, posture{1, 2}), worldfile.Rules{Types: names{{Old: "posture", New: "stance"}},
			Fields: fields{{Type: "posture", Old: "X", New: "Y"}, {Type: "posture", Old: "Y", New: "X"}}}), "rules exchange X and Y"},
		{refusedAs[pose](fileOf(t, pose{1, 2}, besides(posture{3, 4})), worldfile.Rules{Types: names{
			{Old: "pose", New: "posture"}, {Old: "posture", New: "pose"},
		}}),
			"rules exchange quarry/ecs/internal/worldfile_test.pose and posture"},
		{refusedAs[posture](fileOf(t, pose{1, 2}), worldfile.Rules{
			Types: names{{Old: "pose", New: "gone"}}, DropUnknown: true,
		}), "pose is gone in this program, by a rule, which is not registered"},
		{refusedAs[pose](fileOf(t, pose{1, 2}), worldfile.Rules{
			Types: names{{Old: "pose", New: "gone"}}, KeepUnknown: true,
		}), "pose is gone in this program, by a rule, which is not registered"},
		{refusedAs[posture](fileOf(t, posture{1, 2}, besides(pose{3, 4})), worldfile.Rules{Types: names{
			{Old: "pose", New: "posture"},
		}}), "pose is not registered"},
		{refusedAs[stance](fileOf(t, posture{1, 2}, besides(pose{3, 4})), worldfile.Rules{
			Types: names{{Old: "pose", New: "stance"}, {Old: "posture", New: "stance"}}, Fields: fields{{Type: "pose", Old: "Lat", New: "X"}},
		}),
			"posture is not registered"},
		{refusedAs[posture](fileOf(t, posture{1, 2}), worldfile.Rules{Conversions: []worldfile.Conversion{
			conversion("posture", func(v posture) stance { return stance{} }),
		}}),
			"the conversion makes a worldfile_test.stance, and the program has a worldfile_test.posture"},
		// A rule for a struct hides a later one for a field in it, and a number becomes no struct.
		{refusedAs[nested](fileOf(t, struct{ R struct{ Old, B float32 } }{}),
			worldfile.Rules{Types: names{{Old: "struct { R struct { Old float32; B float32 } }", New: "nested"}},
				Fields: fields{{Type: "nested", Old: "R", New: "P"}, {Type: "nested", Old: "R.Old", New: "P.A"}}}),
			"R.Old is P.Old in this program, by a rule, and there is no such field"},
		{refusedAs[struck](fileOf(t, pair{1, 2}), worldfile.Rules{
			Types: names{{Old: "pair", New: "struck"}}, Fields: fields{{Type: "pair", Old: "A", New: "X"}, {Type: "pair", Old: "B", New: "Y"}},
		}),
			"A is X in this program, by a rule, and there is no such field"},
	} {
		require.ErrorIs(t, c.err, worldfile.ErrImageTypes, i)
		require.ErrorContains(t, c.err, c.want, i)
	}
	_, err := openAs[posture](fileOf(t, posture{1, 2}, besides(pose{3, 4})),
		&worldfile.Rules{Types: names{{Old: "pose", New: "gone"}}, Drop: []string{"gone"}})
	require.NoError(t, err)
	_, err = openAs[pose](fileOf(t, pose{1, 2}), &worldfile.Rules{Types: names{
		{Old: "pose", New: "gone"}, {Old: "gone", New: "pose"},
	}})
	require.NoError(t, err, "a name that came back")
}

// besides returns a function that makes an entity with a value of another type.
func besides[T any](v T) func(*ecs.World) {
	return func(w *ecs.World) {
		c := ecs.Register[T](w)
		c.Set(ecs.NewArchetype(w, c).Create(), v)
	}
}

// refusedAs returns the error of openAs.
func refusedAs[T any](f *worldfile.File, rules worldfile.Rules) error {
	_, err := openAs[T](f, &rules)
	return err
}

// TestRuleOfAnotherVersion: a conversion function is for files of its layout, and a program keeps
// it when it saves others: fields do for them, and where they do not, the text names the function.
func TestRuleOfAnotherVersion(t *testing.T) {
	rules := &worldfile.Rules{Conversions: []worldfile.Conversion{
		conversion("posture", func(v pose) posture { return posture{v.Lon, v.Lat} }),
	}}
	got, err := openAs[posture](fileOf(t, posture{1, 2}), rules)
	require.NoError(t, err)
	require.Equal(t, posture{1, 2}, got)
	rules.Types = []worldfile.Rename{{Old: "posture", New: "stance"}}
	wide, err := openAs[stance](fileOf(t, posture{1, 2}), rules)
	require.NoError(t, err)
	require.Equal(t, stance{1, 2}, wide)
	rules.Types[0].New = "pose"
	_, err = openAs[pose](fileOf(t, posture{1, 2}), rules)
	require.ErrorContains(t, err,
		"no field is left; the conversion takes a worldfile_test.pose, which has another layout")
}

// TestKindThatChanged: a type that is of another kind in the program is shown beside it.
func TestKindThatChanged(t *testing.T) {
	f := fileOf(t, posture{1, 2})
	_, err := door.OpenImage(f, func(w *ecs.World) { ecs.RegisterBuffer[posture](w, ecs.Inline(2)) }, nil)
	require.EqualError(t, err, `types differ: the component type quarry/ecs/internal/worldfile_test.posture is a buffer type in this program, and rules convert none of another kind
	in the file     in the program
	8 B             8 B, inline 2
	  0 X float32     0 X float32
	  4 Y float32     4 Y float32`)
}
