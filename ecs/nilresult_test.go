package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

type (
	owned   struct{ X, Y int64 }
	lacking struct{ X int64 }
)

// TestNilResults compares the nil of each look-up where the look-up is inlined, as programs do: the
// compiler takes the sum of a nil pointer and a number for one that is not nil, and drops the
// comparison.
func TestNilResults(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	a, b := ecs.Register[owned](w), ecs.Register[lacking](w)
	sparse, managed := ecs.RegisterSparse[owned](w), ecs.RegisterManaged[owned](w)
	lacks := ecs.NewArchetype(w, b).Create()
	dead := ecs.NewArchetype(w, a).Create()
	ecs.NewArchetype(w, a).Create()
	w.Destroy(dead)
	snapshot := w.Snapshot()
	for _, e := range []ecs.Entity{lacks, dead} {
		d, m := a.Direct(), a.DirectMut()
		if p := d.Get(e); p != nil {
			t.Errorf("Direct.Get: %v", p)
		}
		if p := m.Get(e); p != nil {
			t.Errorf("DirectMut.Get: %v", p)
		}
		if p := d.At(d.Locate(e)); p != nil {
			t.Errorf("Direct.At: %v", p)
		}
		if p := d.At(ecs.Spot{}); p != nil {
			t.Errorf("Direct.At of the zero Spot: %v", p)
		}
		if p := a.Get(e); p != nil {
			t.Errorf("Component.Get: %v", p)
		}
		if p := a.GetList(nil, []ecs.Entity{e})[0]; p != nil {
			t.Errorf("Component.GetList: %v", p)
		}
		if p := sparse.Get(e); p != nil {
			t.Errorf("Sparse.Get: %v", p)
		}
		if p := managed.Get(e); p != nil {
			t.Errorf("Managed.Get: %v", p)
		}
		at := a.Lookup(snapshot)
		if p := at.Get(e); p != nil {
			t.Errorf("Lookup.Get in a snapshot: %v", p)
		}
	}
	if p := a.Mut(lacks); p != nil {
		t.Errorf("Component.Mut: %v", p)
	}
	if p := a.MutList(nil, []ecs.Entity{lacks})[0]; p != nil {
		t.Errorf("Component.MutList: %v", p)
	}
	if p := sparse.Mut(lacks); p != nil {
		t.Errorf("Sparse.Mut: %v", p)
	}
	snapshot.Close()
}
