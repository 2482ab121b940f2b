package delta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// dent makes a world with a past, a fork of it, and the delta of what has happened since.
func dent(t testing.TB, seed uint64, steps int) (x, y *ecstest.Kinds, delta []byte) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x = ecstest.RegisterKinds(ecstest.NewWorld(t))
	for range steps {
		x.Step(t, rng)
	}
	fork, err := ecstest.Fork(x.World)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fork.Close()) })
	y = ecstest.RegisterKinds(fork)
	for range steps {
		x.Step(t, rng)
	}
	return x, y, encoded(t, fork, x.World)
}

// refused applies what must be refused with ErrDelta, and checks that nothing has changed.
func refused(t testing.TB, x *ecstest.Kinds, delta []byte, text string) {
	t.Helper()
	before, archetypes := x.World.Hash(), x.World.Stats().Archetypes
	err := x.World.ApplyDelta(bytes.NewReader(delta))
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.ErrorContains(t, err, text)
	require.Equal(t, before, x.World.Hash())
	require.Equal(t, archetypes, x.World.Stats().Archetypes)
}

// TestDeltaOfOtherBase: a delta is refused by the newer state, by a state that is between, by one
// that differs where the delta writes, and by a world of another tag.
func TestDeltaOfOtherBase(t *testing.T) {
	x, y, delta := dent(t, 1, 150)
	refused(t, x, delta, "it is of a world")
	clone, err := y.World.Clone()
	require.NoError(t, err)
	refused(t, ecstest.RegisterKinds(clone), delta, "tag")
	require.NoError(t, clone.Close())
	before := y.State()
	require.NoError(t, y.World.ApplyDelta(bytes.NewReader(delta)))
	require.NotEqual(t, before, y.State())
	refused(t, y, delta, "it is of a world")

	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	e := ecs.NewArchetype(w, position).Create()
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	position.Set(e, ecstest.Position{X: 1})
	delta = encoded(t, fork, w)
	ecs.Register[ecstest.Position](fork).Set(e, ecstest.Position{X: 2})
	require.ErrorContains(t, fork.ApplyDelta(bytes.NewReader(delta)), "values of Position are not those of its base")
	ecs.Register[ecstest.Position](fork).Set(e, ecstest.Position{})
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(delta)))
	require.Equal(t, w.Hash(), fork.Hash())
	require.NoError(t, fork.Close())
}

// TestDeltaDamaged: each prefix of a delta, and a delta with any byte flipped, is refused.
func TestDeltaDamaged(t *testing.T) {
	_, y, delta := dent(t, 2, 40)
	for n := range delta {
		refused(t, y, delta[:n], "")
	}
	for i := range delta {
		damaged := bytes.Clone(delta)
		damaged[i] ^= 1 << (i % 8)
		refused(t, y, damaged, "")
	}
	format := bytes.Clone(delta)
	format[8]++
	refused(t, y, format, "its format is 3")
	require.NoError(t, y.World.Verify())
	stream := bytes.NewReader(append(bytes.Clone(delta), "more"...))
	require.NoError(t, y.World.ApplyDelta(stream))
	require.Equal(t, 4, stream.Len(), "what follows is not read")
}

// seal writes the length and the checksum of a delta whose content was changed.
func seal(delta []byte) []byte {
	n := len(delta) - 4
	binary.LittleEndian.PutUint64(delta[12:], uint64(n-20))
	binary.LittleEndian.PutUint32(delta[n:], crc32.Checksum(delta[:n], crc32.MakeTable(crc32.Castagnoli)))
	return delta
}

// TestDeltaHostile: a delta that was changed on purpose, with its checksum, is refused, or leaves a
// world that is sound.
func TestDeltaHostile(t *testing.T) {
	tries := long.N(400, 2000) // of some kilobytes, of which hundreds of bytes are changed
	rng := rand.New(rand.NewPCG(3, 3))
	taken := 0
	for seed := range uint64(4) {
		_, y, delta := dent(t, 10+seed, 60)
		for range tries / 4 {
			bad := bytes.Clone(delta)
			for range 1 + rng.IntN(3) {
				at := 20 + rng.IntN(len(bad)-24)
				switch rng.IntN(4) {
				case 0:
					bad[at] = byte(rng.Uint32())
				case 1:
					bad[at]++
				case 2:
					bad[at] ^= 1 << rng.IntN(8)
				case 3:
					end := min(len(bad)-4, at+rng.IntN(9))
					bad = append(bad[:at:at], bad[end:]...)
				}
			}
			world, err := ecstest.Fork(y.World)
			require.NoError(t, err)
			before := world.Hash()
			err = world.ApplyDelta(bytes.NewReader(seal(bad)))
			if err != nil {
				var limit *ecs.LimitError
				require.True(t, errors.Is(err, ecs.ErrDelta) || errors.As(err, &limit), "%v", err)
				require.Equal(t, before, world.Hash(), "%v", err)
			} else {
				taken++
			}
			require.NoError(t, world.Verify(), "%v", err)
			require.NoError(t, world.Close())
		}
	}
	require.Positive(t, taken, "some change values only")
}

// TestDeltaOfTypes: types that the world lacks, or that have another layout or other options there,
// are named.
func TestDeltaOfTypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	a := ecs.NewArchetype(w, stun)
	stun.Set(a.Create(), ecstest.Stun{Left: 2})
	delta := encoded(t, fork, w)
	require.ErrorContains(t, fork.ApplyDelta(bytes.NewReader(delta)), "ecstest.Stun is not registered")
	ecs.Register[ecstest.Stun](fork)
	require.ErrorContains(t, fork.ApplyDelta(bytes.NewReader(delta)),
		"ecstest.Stun has another layout, or other options")
	require.NoError(t, fork.Close())

	managed := ecs.RegisterManaged[string](w)
	fork, err = ecstest.Fork(w)
	require.NoError(t, err)
	e := ecs.NewArchetype(w, managed).Create()
	_, err = diffWorlds(fork, w)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.ErrorContains(t, err, "managed string")
	w.Destroy(e)
	require.NoError(t, fork.Close())
	fork, err = ecstest.Fork(w)
	require.NoError(t, err)
	pointer := ecs.RegisterShared[*int](w)
	unused := ecs.NewArchetype(w, pointer.Of(new(int)))
	d, err := diffWorlds(fork, w)
	require.NoError(t, err, "an archetype without rows is in nobody's way")
	require.True(t, d.IsEmpty())
	unused.Create()
	_, err = diffWorlds(fork, w)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.ErrorContains(t, err, "*int")
	require.NoError(t, fork.Close())
}

// appliedWorld applies a delta to a world whose universe refuses by s.
func appliedWorld(t testing.TB, s *alloc.Failures, origin *ecstest.Kinds, delta []byte, want string) error {
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecstest.Fork(origin.World, ecs.WithUniverse(u))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	y := ecstest.RegisterKinds(w)
	before := y.State()
	err = w.ApplyDelta(bytes.NewReader(delta))
	if wrong := w.Verify(); wrong != nil {
		err = wrong
	}
	if now := y.State(); err != nil && now != before || err == nil && now != want {
		err = errors.New("the world is neither as before nor as the newer one")
	}
	return errors.Join(err, w.Close(), u.Verify(), u.Close())
}

// TestEveryFailureOfADelta: whichever request for memory is refused, the world is as before.
func TestEveryFailureOfADelta(t *testing.T) {
	x, y, delta := dent(t, 5, 120)
	want := x.State()
	require.NoError(t, appliedWorld(t, &alloc.Failures{}, y, delta, want))
	require.NoError(t, alloc.CheckEveryFailure(func(s *alloc.Failures) error {
		return appliedWorld(t, s, y, delta, want)
	}))
}
