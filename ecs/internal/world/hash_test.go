package world_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/entity"
	"quarry/internal/typename"

	"github.com/stretchr/testify/require"
)

// The definition of World.Hash in docs/semantics.md, worked out slowly: with numbers of any length,
// by reflection, entity by entity.

var (
	slowSeed, _ = new(big.Int).SetString("6a09e667f3bcc909", 16)
	slowStep, _ = new(big.Int).SetString("bb67ae8584caa73b", 16)
	slowRow, _  = new(big.Int).SetString("9e3779b97f4a7c15", 16)
	slowMod     = new(big.Int).Lsh(big.NewInt(1), 64)
)

// slowFold returns the halves of the product of x and the step, xored.
func slowFold(x uint64) uint64 {
	high, low := new(big.Int).DivMod(new(big.Int).Mul(new(big.Int).SetUint64(x), slowStep), slowMod, new(big.Int))
	return high.Uint64() ^ low.Uint64()
}

// slowTerm returns the hash of words at a place.
func slowTerm(place int, words ...uint64) uint64 {
	sum := new(big.Int).Add(slowSeed, new(big.Int).Mul(slowRow, big.NewInt(int64(place))))
	h := sum.Mod(sum, slowMod).Uint64()
	for _, w := range words {
		h = slowFold(h^w) ^ (w<<32 | w>>32)
	}
	return slowFold(h ^ slowSeed.Uint64())
}

// slowWords returns bytes as words.
func slowWords(b []byte) (words []uint64) {
	for part := range slices.Chunk(b, 8) {
		var w [8]byte
		copy(w[:], part)
		words = append(words, binary.LittleEndian.Uint64(w[:]))
	}
	return words
}

// slowEntity returns the bytes of an entity without the world's tag.
func slowEntity(e ecs.Entity) []byte {
	return binary.LittleEndian.AppendUint64(nil, entity.ID(e).In(0).Bits())
}

// slowSum returns the sum of the terms of words, the first at a place: asm.HashWords.
func slowSum(place int, words ...uint64) uint64 {
	mix1, _ := new(big.Int).SetString("bf58476d1ce4e5b9", 16)
	mix2, _ := new(big.Int).SetString("94d049bb133111eb", 16)
	sum := new(big.Int)
	for i, w := range words {
		key := new(big.Int).Add(slowSeed, new(big.Int).Mul(slowRow, big.NewInt(int64(place+i))))
		x := new(big.Int).SetUint64(w)
		x.Xor(x, key.Mod(key, slowMod))
		x.Xor(x, new(big.Int).Rsh(x, 30))
		x.Mod(x.Mul(x, mix1), slowMod)
		x.Xor(x, new(big.Int).Rsh(x, 27))
		x.Mod(x.Mul(x, mix2), slowMod)
		sum.Add(sum, x.Xor(x, new(big.Int).Rsh(x, 31)))
	}
	return sum.Mod(sum, slowMod).Uint64()
}

// slowBytes returns the bytes of a value that count: as it lies in memory, without what is between
// its fields. In shared values there is nothing between them, numbers take 8 bytes, and texts have
// their length.
func slowBytes(v reflect.Value, shared bool) (all []byte) {
	if e, ok := v.Interface().(ecs.Entity); ok {
		return slowEntity(e)
	}
	number := func(n uint64) []byte {
		b := binary.LittleEndian.AppendUint64(nil, n)
		if shared {
			return b
		}
		return b[:v.Type().Size()]
	}
	if !shared && v.Kind() == reflect.Struct {
		all = make([]byte, v.Type().Size())
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "_" {
				copy(all[f.Offset:], slowBytes(v.Field(i), false))
			}
		}
		return all
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, slowBytes(v.Field(i), shared)...)
		}
		return all
	case reflect.Array:
		for i := range v.Len() {
			all = append(all, slowBytes(v.Index(i), shared)...)
		}
		return all
	case reflect.String:
		return append(number(uint64(v.Len())), v.String()...)
	case reflect.Float64:
		return number(math.Float64bits(v.Float()))
	case reflect.Float32:
		if shared {
			return number(math.Float64bits(v.Float()))
		}
		return number(uint64(math.Float32bits(float32(v.Float()))))
	case reflect.Bool:
		if v.Bool() {
			return number(1)
		}
		return number(0)
	}
	if v.CanInt() {
		return number(uint64(v.Int()))
	}
	return number(v.Uint())
}

// slowTypes returns the hash of each type of a world, by its handle.
func slowTypes(w *ecs.World) map[ecs.Type]uint64 {
	type likeness struct {
		kind ecs.Kind
		name string
	}
	all, likes := map[ecs.Type]uint64{}, map[likeness]int{}
	for _, c := range w.Components() {
		name := typename.Of(c.Go)
		of := likeness{c.Kind, name}
		all[c.Type] = slowTerm(0, append([]uint64{uint64(c.Kind), uint64(likes[of]), uint64(len(name))},
			slowWords([]byte(name))...)...)
		likes[of]++
	}
	return all
}

// slowHash is World.Hash.
func slowHash(w *ecs.World) uint64 {
	types, total := slowTypes(w), uint64(0)
	of := func(a *ecs.Archetype) (h *slowArchetype) {
		h = &slowArchetype{sums: map[ecs.Type]*[3]uint64{}, values: map[ecs.Type][]byte{}}
		for _, c := range a.Components() {
			h.sums[c.Type] = new([3]uint64)
		}
		return h
	}
	archetypes := map[*ecs.Archetype]*slowArchetype{}
	sets := map[ecs.Type]*[2]uint64{}
	all := ecs.NewQueryOfAll(w)
	defer all.Close()
	for rows := range all.Rows() {
		a := rows.Archetype()
		h := archetypes[a]
		if h == nil {
			h = of(a)
			archetypes[a] = h
		}
		for i, e := range rows.Entities() {
			h.add(w, a, rows, i)
			for _, c := range w.Components() {
				if c.Kind != ecs.KindSparse || w.Value(e, c.Type) == nil {
					continue
				}
				if sets[c.Type] == nil {
					sets[c.Type] = new([2]uint64)
				}
				off := uint64(1)
				if door.Enabled(w, e, c.Type) {
					off = 0
				}
				words := append(slowWords(slowEntity(e)), off,
					slowSum(0, slowWords(slowBytes(reflect.ValueOf(w.Value(e, c.Type)), false))...))
				sets[c.Type][0]++
				sets[c.Type][1] += slowTerm(0, words...)
			}
		}
	}
	for _, h := range archetypes {
		sum := uint64(0)
		for t, s := range h.sums {
			sum += slowTerm(0, types[t], s[0]+slowSum(0, slowWords(h.values[t])...), s[1], s[2])
		}
		total += slowTerm(0, uint64(h.rows), h.entities, sum)
	}
	for t, s := range sets {
		total += slowTerm(0, types[t], s[0], s[1])
	}
	return slowTerm(0, total)
}

// slowArchetype is sums over the rows of an archetype: of each type values, enable bits, and the
// shared value's hash.
type slowArchetype struct {
	rows     int
	entities uint64
	sums     map[ecs.Type]*[3]uint64
	values   map[ecs.Type][]byte // of all rows
}

// add adds a row.
func (h *slowArchetype) add(w *ecs.World, a *ecs.Archetype, rows ecs.Rows, i int) {
	e := rows.Entities()[i]
	h.rows++
	h.entities += slowSum(h.rows-1, slowWords(slowEntity(e))...)
	for _, c := range a.Components() {
		s := h.sums[c.Type]
		v := reflect.ValueOf(rows.Value(c.Type, i))
		switch c.Kind {
		case ecs.KindComponent:
			if c.Go.Size() > 0 {
				h.values[c.Type] = append(h.values[c.Type], slowBytes(v, false)...)
			}
		case ecs.KindBuffer:
			var elements []byte
			for k := range v.Len() {
				elements = append(elements, slowBytes(v.Index(k), false)...)
			}
			s[0] += slowTerm(h.rows, uint64(v.Len()), slowSum(0, slowWords(elements)...))
		case ecs.KindShared:
			s[2] = slowTerm(0, slowWords(slowBytes(v, true))...)
		}
		if c.Enableable && !door.Enabled(w, e, c.Type) {
			s[1] += slowTerm(h.rows)
		}
	}
}

// TestHashModel: Hash follows the definition.
func TestHashModel(t *testing.T) {
	require.Equal(t, slowHash(ecstest.NewWorld(t)), ecstest.NewWorld(t).Hash())
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 12))
		x := ecstest.RegisterKinds(ecstest.NewWorld(t))
		for range 40 << (seed % 4) {
			x.Step(t, rng)
		}
		require.Equal(t, slowHash(x.World), x.World.Hash(), "seed %d", seed)
	}
}

// TestHashOfOtherOrder: neither the order in which types are registered counts, nor that in which
// archetypes are made, nor how rows are cut into chunks.
func TestHashOfOtherOrder(t *testing.T) {
	build := func(turned bool) (*ecs.World, []ecs.Entity) {
		options := []ecs.Option{ecs.ChunkGrowth(alloc.Fixed(1))}
		if turned {
			options = nil
		}
		w := ecstest.NewWorld(t, options...)
		register := []func(){
			func() { ecs.Register[ecstest.Position](w) }, func() { ecs.RegisterBuffer[ecstest.Hit](w) },
			func() { ecs.Register[ecstest.Stun](w, ecs.Enableable) },
			func() { ecs.RegisterSparse[ecstest.Burning](w) }, func() { ecs.RegisterShared[ecstest.Squad](w) },
			func() { ecs.RegisterManaged[ecstest.Position](w) },
		}
		if turned {
			slices.Reverse(register)
		}
		for _, f := range register {
			f()
		}
		position := ecs.Register[ecstest.Position](w)
		hits := ecs.RegisterBuffer[ecstest.Hit](w)
		stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
		burning, team := ecs.RegisterSparse[ecstest.Burning](w), ecs.RegisterShared[ecstest.Squad](w)
		kinds := []func() *ecs.Archetype{
			func() *ecs.Archetype { return ecs.NewArchetype(w, position, stun) },
			func() *ecs.Archetype { return ecs.NewArchetype(w, hits, position, team.Of(ecstest.Squad{Name: "red"})) },
			func() *ecs.Archetype { return ecs.NewArchetype(w, stun, team.Of(ecstest.Squad{Name: "blue"})) },
		}
		order := []int{0, 1, 2}
		if turned {
			order = []int{2, 0, 1}
		}
		for _, k := range order {
			kinds[k]()
		}
		var all []ecs.Entity
		for i := range 3000 {
			e := kinds[i%3]().Create()
			all = append(all, e)
			position.Set(e, ecstest.Position{X: float64(i)})
			if i%5 == 0 {
				stun.Disable(e)
				burning.Add(e, ecstest.Burning{Heat: float64(i), For: 1})
			}
			if b, ok := hits.Mut(e); ok {
				b.Append(ecstest.Hit{By: all[i/2], Damage: int32(i)})
			}
		}
		return w, all
	}
	w, all := build(false)
	other, same := build(true)
	require.Equal(t, len(all), len(same))
	require.Equal(t, slowHash(w), w.Hash())
	require.Equal(t, w.Hash(), other.Hash())

	position := ecs.Register[ecstest.Position](w)
	before := w.Hash()
	w.SwapComponents(all[0], all[3])
	require.NotEqual(t, before, w.Hash(), "the order of rows counts")
	w.SwapComponents(all[0], all[3])
	require.Equal(t, before, w.Hash())
	x := *position.Get(all[0])
	position.Set(all[0], *position.Get(all[3]))
	position.Set(all[3], x)
	require.NotEqual(t, before, w.Hash(), "which row has a value counts")
}

// TestHashOfPatterns: values that change places, as [x y y x] and [y x x y] do, are seen.
func TestHashOfPatterns(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	batch, err := ecs.NewArchetype(w, stun).CreateN(12)
	require.NoError(t, err)
	ids, seen := batch.Entities(nil), map[uint64]bool{}
	for mask := range 1 << len(ids) {
		for i, e := range ids {
			if mask>>i&1 != 0 {
				stun.Disable(e)
			} else {
				stun.Enable(e)
			}
		}
		seen[w.Hash()] = true
	}
	require.Len(t, seen, 1<<len(ids))
}
