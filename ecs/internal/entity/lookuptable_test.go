package entity_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
)

// TestLookupTable checks each kind of look-up for entities that are alive, dead, reserved, foreign
// and forged, while the LookupTable has a store with records and one without, and while it is
// hidden.
func TestLookupTable(t *testing.T) {
	for _, number := range []uint32{0, 5} { // the zero ID has tag 0
		t.Run(fmt.Sprint(number), func(t *testing.T) { testLookupTable(t, entity.TagOf(number)) })
	}
}

// seen is a LookupTable of a store, and an ID that it is asked for.
type seen struct {
	entity.LookupTable
	name         string
	e            entity.ID
	want         unsafe.Pointer
	foreign      bool
	version, now uint32         // of the type in the chunk; of the world
	nowhere      uint32         // marked for entities without the type
	other        unsafe.Pointer // what the function of OnWrite returns
	bits         entity.EnableBits
	asked        int // times that the function of OnSwitch was called
}

func testLookupTable(t *testing.T, tag entity.Tag) {
	x := seen{now: 7, other: unsafe.Pointer(new(int64)), bits: *entity.NewEnableBits(1)}
	entity.OnRefusal(func(s *entity.LookupTable, e entity.ID) string { return "refused " + e.String() })
	entity.OnWrite(func(s *entity.LookupTable, op uint8, e entity.ID) unsafe.Pointer { return x.other })
	entity.OnSwitch(func(*entity.LookupTable, entity.ID, bool) bool { x.asked++; return false })
	s := newStore(t)
	s.SetTag(tag)
	var none entity.LookupTable
	none.SetRecords(s.View())
	none.EnableWrites(new(uint32))
	require.Nil(t, none.At(entity.ID{}), "a store without records")
	require.Nil(t, none.At(entity.Make(5, s.Tag(), 1)))

	var values [8]int64
	const here, lacks = entity.Location(1<<entity.RowBits + 2), entity.Location(2 << entity.RowBits)
	require.NoError(t, s.MakeRoom(10))
	has, without, dead := s.Take(here), s.Take(lacks), s.Take(here+1)
	give(t, s, dead)
	reserved := reserve(t, s, 3)
	view := s.View()
	last := uint32(view.Len() - 1)
	column := entity.MakeColumnAddress(unsafe.Pointer(&values[2]), here, 8, &x.version)
	x.bits.Reset(8, here-2)
	column.SetBits(&x.bits)
	x.SetColumns([]entity.ColumnAddress{entity.NoValues(&x.nowhere), column, entity.NoValues(&x.nowhere)})
	for _, c := range []struct {
		name    string
		e       entity.ID
		want    unsafe.Pointer
		foreign bool
	}{
		{"alive", has, unsafe.Pointer(&values[2]), false},
		{"alive without the type", without, nil, false},
		{"dead", dead, nil, false},
		{"forged: even, as the record", with(dead, dead.Index(), 2), nil, false},
		{"reserved", reserved[1], nil, false},
		{"beyond the records", with(has, entity.MaxIDs-1, 1), nil, false},
		{"the last record", with(has, last, 1), nil, false},
		{"the last record, as it is", with(has, last, 0), nil, false},
		{"null", entity.ID{}, nil, false},
		{"of another world", has.In(entity.TagOf(s.Tag().Number() + 1)), nil, true},
		{"a placeholder", entity.MakePlaceholder(3, 1), nil, true},
	} {
		x.name, x.e, x.want, x.foreign = c.name, c.e, c.want, c.foreign
		x.SetRecords(s.View())
		x.EnableWrites(&x.now)
		if c.foreign {
			x.refuses(t)
			continue
		}
		x.reads(t)
		x.writes(t)
		x.switches(t)
		x.hides(t)
	}
	var nobody *entity.LookupTable
	require.PanicsWithError(t, "refused "+has.String(), func() { nobody.At(has) })
	require.Equal(t, x.other, nobody.Mut(1, has))
	require.False(t, nobody.Switch(has, true))
	require.Equal(t, 1, x.asked)
}

func (x *seen) refuses(t *testing.T) {
	require.PanicsWithError(t, "refused "+x.e.String(), func() { x.At(x.e) }, x.name)
	require.Equal(t, x.other, x.Mut(1, x.e), x.name)
	require.False(t, x.Switch(x.e, true), x.name)
	require.Equal(t, 1, x.asked, x.name)
	x.asked = 0
	r, ok := x.Find(x.e)
	require.True(t, r == nil && !ok, x.name)
	require.Zero(t, x.Values(make([]uintptr, 1), []entity.ID{x.e}, true), x.name)
}

func (x *seen) reads(t *testing.T) {
	x.version = 0
	require.Equal(t, x.want, x.At(x.e), x.name)
	r, ok := x.Find(x.e)
	require.True(t, ok, x.name)
	found := unsafe.Pointer(nil)
	if r != nil {
		found = x.ColumnAt(r.Location).ValueAt(r.Location)
	}
	require.Equal(t, x.want, found, x.name)
	if at := []uintptr{1}; x.Values(at, []entity.ID{x.e}, false) == 1 {
		require.Equal(t, uintptr(x.want), at[0], x.name)
	} else {
		require.Nil(t, x.want, x.name)
	}
	require.Zero(t, x.version, "nothing has written")
}

func (x *seen) writes(t *testing.T) {
	if p := x.Mut(1, x.e); p != x.other { // others are asked where the quick way does not know
		require.Equal(t, x.want, p, x.name)
		require.Equal(t, x.want != nil, x.version == x.now, x.name)
	} else {
		require.Nil(t, x.want, x.name)
	}
	x.version = 0
	require.Equal(t, x.want != nil, x.Values(make([]uintptr, 1), []entity.ID{x.e}, true) == 1 && x.version == x.now,
		x.name)
}

// switches toggles the bit of the third row, where the entity has the type. Else Switch asks
// others.
func (x *seen) switches(t *testing.T) {
	for _, on := range []bool{true, true, false, false, true} {
		x.version, x.asked = 0, 0
		if x.Switch(x.e, on) {
			require.NotNil(t, x.want, x.name)
			require.Equal(t, on, x.bits.Has(2), x.name)
			require.Equal(t, on, x.bits.HasAt(1<<entity.RowBits+2), x.name)
			require.Equal(t, x.now, x.version, x.name)
			require.NoError(t, x.bits.Verify(8, 1<<entity.RowBits), x.name)
			continue
		}
		require.Nil(t, x.want, x.name)
		require.Equal(t, 1, x.asked, x.name)
		require.Zero(t, x.version, x.name)
	}
	x.bits.Set(2, false)
	require.Zero(t, x.bits.On(), "no other bit was touched")
	x.asked = 0
}

func (x *seen) hides(t *testing.T) {
	x.DisableWrites()
	require.False(t, x.Switch(x.e, true), "%s, writes hidden", x.name)
	require.Equal(t, 1, x.asked, "%s, writes hidden", x.name)
	require.Zero(t, x.bits.On(), "%s, writes hidden", x.name)
	x.asked = 0
	require.Equal(t, x.want, x.At(x.e), x.name)
	require.Equal(t, x.other, x.Mut(1, x.e), "%s, writes hidden", x.name)
	x.Disable()
	require.Panics(t, func() { x.At(x.e) }, "%s, hidden", x.name)
	r, ok := x.Find(x.e)
	require.True(t, r == nil && !ok, "%s, hidden", x.name)
	require.Zero(t, x.Values(make([]uintptr, 1), []entity.ID{x.e}, false), "%s, hidden", x.name)
}
