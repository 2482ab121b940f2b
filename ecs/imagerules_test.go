package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/internal/seam"
)

// Types of three versions of a program, in which names have other meanings.
type (
	pose    struct{ Lat, Lon float32 }
	posture struct{ X, Y float32 }
	stance  struct{ X, Y float64 }
)

// fileOf returns the image of a world with an entity of a type.
func fileOf[T any](t *testing.T, v T, others ...func(*ecs.World)) *seam.ImageFile {
	w := newWorld(t)
	c := ecs.Register[T](w)
	c.Set(ecs.NewArchetype(w, c).Create(), v)
	for _, register := range others {
		register(w)
	}
	s := w.Snapshot()
	defer s.Close()
	return inMemory(t, s)
}

// openAs opens an image whose only entity is to have a type, and returns its value.
func openAs[T any](f *seam.ImageFile, rules *seam.ImageRules, others ...func(*ecs.World)) (v T, err error) {
	f.Rules = rules
	var c ecs.Component[T]
	w, err := seam.OpenImage(f, func(w *ecs.World) {
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
	rules := &seam.ImageRules{
		Types: []seam.ImageRename{{Old: "posture", New: "stance"}, {Old: "pose", New: "posture"}},
		Fields: []seam.ImageFieldRename{
			{Type: "posture", Old: "A", New: "X"}, {Type: "pose", Old: "Lat", New: "A"}, {Type: "stance", Old: "Lon", New: "Y"}, {Type: "stance", Old: "Never", New: "Either"},
		},
	}
	want := stance{1, 2}
	for name, f := range map[string]*seam.ImageFile{"1": fileOf(t, pose{1, 2}), "2": fileOf(t, posture{1, 2}), "3": fileOf(t, stance{1, 2})} {
		got, err := openAs[stance](f, rules)
		require.NoError(t, err, "version %s", name)
		require.Equal(t, want, got, "version %s", name)
	}
	// A later pose is another type: the file has its stance under its own name.
	both := func(w *ecs.World) { ecs.NewArchetype(w, ecs.Register[pose](w)).Create() }
	got, err := openAs[stance](fileOf(t, stance{1, 2}, both), rules, func(w *ecs.World) { ecs.Register[pose](w) })
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = openAs[stance](fileOf(t, stance{1, 2}, both), rules)
	require.ErrorIs(t, err, seam.ErrImageTypes)
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
	rules := &seam.ImageRules{
		Types:  []seam.ImageRename{{Old: "flat", New: "deep"}},
		Fields: []seam.ImageFieldRename{{Type: "deep", Old: "X", New: "X.At"}},
	}
	want := deep{struct{ At, Was float32 }{1, 0}, 2}
	got, err := openAs[deep](fileOf(t, flat{1, 2}), rules)
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = openAs[deep](fileOf(t, want), rules)
	require.NoError(t, err)
	require.Equal(t, want, got)
	rules.Types = append(rules.Types, seam.ImageRename{Old: "deep", New: "other"})
	rules.Fields = append(rules.Fields, seam.ImageFieldRename{Type: "other", Old: "X", New: "Where"})
	for _, f := range []*seam.ImageFile{fileOf(t, flat{1, 2}), fileOf(t, want), fileOf(t, other{struct{ At, Was float64 }{1, 0}, 2})} {
		got, err := openAs[other](f, rules)
		require.NoError(t, err)
		require.Equal(t, other{struct{ At, Was float64 }{1, 0}, 2}, got)
	}
}

// TestRulesThatFail: what a rule cannot mean is refused by name, and nothing is lost unsaid.
func TestRulesThatFail(t *testing.T) {
	type twoNames struct{ Lat, X float32 }
	type fields = []seam.ImageFieldRename
	type names = []seam.ImageRename
	open := func(f *seam.ImageFile, rules seam.ImageRules) error {
		_, err := openAs[posture](f, &rules)
		return err
	}
	for _, c := range []struct {
		f     *seam.ImageFile
		rules seam.ImageRules
		want  string
	}{
		{fileOf(t, pose{1, 2}), seam.ImageRules{Types: names{{Old: "pose", New: "posture"}}, Fields: fields{{Type: "pose", Old: "Lat", New: "x"}, {Type: "pose", Old: "Lon", New: "Y"}}},
			"Lat is x in this program, by a rule, and there is no such field"},
		{fileOf(t, twoNames{1, 2}), seam.ImageRules{Types: names{{Old: "twoNames", New: "posture"}}, Fields: fields{{Type: "posture", Old: "Lat", New: "X"}}},
			"Lat is X in this program, by a rule, and the file has both"},
		{fileOf(t, posture{1, 2}), seam.ImageRules{Fields: fields{{Type: "posture", Old: "X", New: "Y"}, {Type: "posture", Old: "Y", New: "X"}}},
			"X: rules make it Y, then X: they lead in a circle"},
		{fileOf(t, pose{1, 2}), seam.ImageRules{Types: names{{Old: "pose", New: "posture"}, {Old: "posture", New: "pose"}}},
			"pose: rules make it posture, then pose, then posture: they lead in a circle"},
		{fileOf(t, pose{1, 2}), seam.ImageRules{Types: names{{Old: "pose", New: "gone"}}}, "pose is gone in this program, which is not registered"},
		{fileOf(t, posture{1, 2}), seam.ImageRules{Conversions: []seam.ImageConversion{conversion("posture", func(v posture) stance { return stance{} })}},
			"the conversion makes a ecs_test.stance, and the program has a ecs_test.posture"},
	} {
		err := open(c.f, c.rules)
		require.ErrorIs(t, err, seam.ErrImageTypes, c.want)
		require.ErrorContains(t, err, c.want)
	}
	err := open(fileOf(t, posture{1, 2}, func(w *ecs.World) {
		c := ecs.Register[pose](w)
		c.Set(ecs.NewArchetype(w, c).Create(), pose{3, 4})
	}), seam.ImageRules{Types: names{{Old: "posture", New: "both"}, {Old: "pose", New: "both"}}})
	require.ErrorContains(t, err, "is both in this program, which is not registered")
}

// TestRuleOfAnotherVersion: a conversion function is for files of its layout, and a program keeps
// it when it saves others: fields do for them, and where they do not, the text names the function.
func TestRuleOfAnotherVersion(t *testing.T) {
	rules := &seam.ImageRules{Conversions: []seam.ImageConversion{conversion("posture", func(v pose) posture { return posture{v.Lon, v.Lat} })}}
	got, err := openAs[posture](fileOf(t, posture{1, 2}), rules)
	require.NoError(t, err)
	require.Equal(t, posture{1, 2}, got)
	rules.Types = []seam.ImageRename{{Old: "posture", New: "stance"}}
	wide, err := openAs[stance](fileOf(t, posture{1, 2}), rules)
	require.NoError(t, err)
	require.Equal(t, stance{1, 2}, wide)
	rules.Types[0].New = "pose"
	_, err = openAs[pose](fileOf(t, posture{1, 2}), rules)
	require.ErrorContains(t, err, "no field is left; the conversion takes a ecs_test.pose, which has another layout")
}

// TestKindThatChanged: a type that is of another kind in the program is shown beside it.
func TestKindThatChanged(t *testing.T) {
	f := fileOf(t, posture{1, 2})
	_, err := seam.OpenImage(f, func(w *ecs.World) { ecs.RegisterBuffer[posture](w, ecs.Inline(2)) }, nil)
	require.EqualError(t, err, `types differ: the component type quarry/ecs_test.posture is a buffer type in this program, and rules convert none of another kind
	in the file     in the program
	8 B             8 B, inline 2
	  0 X float32     0 X float32
	  4 Y float32     4 Y float32`)
}
