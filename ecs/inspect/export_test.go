package inspect_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/inspect"
)

func newWorld(t testing.TB) *ecs.World {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// both returns an archetype as CSV and as JSON lines.
func both(t testing.TB, a *ecs.Archetype) (asCSV, asJSON string) {
	var c, j strings.Builder
	require.NoError(t, inspect.WriteCSV(&c, a))
	require.NoError(t, inspect.WriteJSON(&j, a))
	sameTable(t, c.String(), j.String())
	return c.String(), j.String()
}

// sameTable: a reader of each format finds the same columns in the same order, and as many rows.
func sameTable(t testing.TB, asCSV, asJSON string) {
	records, err := csv.NewReader(strings.NewReader(asCSV)).ReadAll()
	require.NoError(t, err)
	lines := bufio.NewScanner(strings.NewReader(asJSON))
	n := 0
	for ; lines.Scan(); n++ {
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		d.UseNumber()
		token, err := d.Token()
		require.NoError(t, err)
		require.Equal(t, json.Delim('{'), token)
		for i, name := range records[0] {
			key, err := d.Token()
			require.NoError(t, err)
			require.Equal(t, name, key)
			var v any
			require.NoError(t, d.Decode(&v))
			got := records[1+n][i]
			switch v := v.(type) {
			case nil:
				require.Empty(t, got)
			case []any, map[string]any:
				var again any
				d := json.NewDecoder(strings.NewReader(got))
				d.UseNumber()
				require.NoError(t, d.Decode(&again))
				require.Equal(t, v, again)
			default:
				require.Equal(t, fmt.Sprint(v), got)
			}
		}
		require.False(t, d.More())
	}
	require.Equal(t, len(records)-1, n)
}

type colour uint32

// MarshalText makes it a text.
func (c colour) MarshalText() ([]byte, error) {
	if c > 0xffffff {
		return nil, errors.New("no colour")
	}
	return fmt.Appendf(nil, "#%06x", uint32(c)), nil
}

type (
	at    struct{ X, Y float32 }
	shape struct {
		At     at
		Size   [2][2]int8
		Points [2]at
		_      int32
		tint   colour
		Owner  ecs.Entity
	}
	numbers struct {
		F    float64
		G    float32
		C    complex64
		I    int64
		U    uint64
		On   bool
		None [0]int
	}
	sunk struct{}
	walk struct{ enabled bool }
	load struct {
		By    ecs.Entity
		Parts [2]float32
	}
	heat struct{ Degrees float64 }
)

func TestFieldsOfStructs(t *testing.T) {
	w := newWorld(t)
	shapes := ecs.Register[shape](w)
	a := ecs.NewArchetype(w, shapes)
	first, e := a.Create(), a.Create()
	shapes.Set(e, shape{At: at{1.5, -0.1}, Size: [2][2]int8{{1, -2}, {3, 4}}, Points: [2]at{
		{1, 2}, {3, float32(math.NaN())},
	}, tint: 0xff00, Owner: first})
	shapes.Mut(first).tint = 1 << 24
	asCSV, asJSON := both(t, a)
	require.Equal(t, `entity,shape.At.X,shape.At.Y,shape.Size,shape.Points,shape.tint,shape.Owner
1v1,0,0,"[[0,0],[0,0]]","[{""X"":0,""Y"":0},{""X"":0,""Y"":0}]",(inspect_test.colour),
2v1,1.5,-0.1,"[[1,-2],[3,4]]","[{""X"":1,""Y"":2},{""X"":3,""Y"":""NaN""}]",#00ff00,1v1
`, asCSV)
	require.Equal(t, `{"entity":"1v1","shape.At.X":0,"shape.At.Y":0,"shape.Size":[[0,0],[0,0]],"shape.Points":[{"X":0,"Y":0},{"X":0,"Y":0}],"shape.tint":"(inspect_test.colour)","shape.Owner":null}
{"entity":"2v1","shape.At.X":1.5,"shape.At.Y":-0.1,"shape.Size":[[1,-2],[3,4]],"shape.Points":[{"X":1,"Y":2},{"X":3,"Y":"NaN"}],"shape.tint":"#00ff00","shape.Owner":"1v1"}
`, asJSON)
}

func TestNumbers(t *testing.T) {
	w := newWorld(t)
	c := ecs.Register[numbers](w)
	a := ecs.NewArchetype(w, c)
	for _, n := range []numbers{
		{math.NaN(), float32(math.Inf(-1)), complex(1, -2), math.MinInt64, math.MaxUint64, true, [0]int{}},
		{1e21, 0.1, 0, 1, 1, false, [0]int{}},
		{math.Copysign(0, -1), math.MaxFloat32, 0, -1, 0, false, [0]int{}},
		{1e6, 1e-7, 0, 0, 0, false, [0]int{}},
	} {
		c.Set(a.Create(), n)
	}
	asCSV, asJSON := both(t, a)
	require.Equal(t, `entity,numbers.F,numbers.G,numbers.C,numbers.I,numbers.U,numbers.On,numbers.None
1v1,NaN,-Inf,(1-2i),-9223372036854775808,18446744073709551615,true,[]
2v1,1e+21,0.1,(0+0i),1,1,false,[]
3v1,-0,3.4028235e+38,(0+0i),-1,0,false,[]
4v1,1000000,1e-7,(0+0i),0,0,false,[]
`, asCSV)
	require.Equal(t, `{"entity":"1v1","numbers.F":"NaN","numbers.G":"-Inf","numbers.C":"(1-2i)","numbers.I":-9223372036854775808,"numbers.U":18446744073709551615,"numbers.On":true,"numbers.None":[]}
{"entity":"2v1","numbers.F":1e+21,"numbers.G":0.1,"numbers.C":"(0+0i)","numbers.I":1,"numbers.U":1,"numbers.On":false,"numbers.None":[]}
{"entity":"3v1","numbers.F":-0,"numbers.G":3.4028235e+38,"numbers.C":"(0+0i)","numbers.I":-1,"numbers.U":0,"numbers.On":false,"numbers.None":[]}
{"entity":"4v1","numbers.F":1000000,"numbers.G":1e-7,"numbers.C":"(0+0i)","numbers.I":0,"numbers.U":0,"numbers.On":false,"numbers.None":[]}
`, asJSON)
}

// TestKinds: types of all kinds, bits, names, sparse types that some rows have, and tags.
func TestKinds(t *testing.T) {
	w := newWorld(t)
	tag, walks := ecs.Register[sunk](w), ecs.Register[walk](w, ecs.Enableable)
	loads, port := ecs.RegisterBuffer[load](w), ecs.RegisterShared[string](w)
	log, zone := ecs.RegisterManaged[[]string](w), ecs.RegisterChunk[at](w)
	heats, marks := ecs.RegisterSparse[heat](w, ecs.Enableable), ecs.RegisterSparse[sunk](w)
	ecs.RegisterSparse[at](w) // which no row has
	a := ecs.NewArchetype(w, tag, walks, loads, port.Of("a, \"b\"\nc <é>"), log, zone)
	one, two := a.Create(), a.Create()
	walks.Set(two, walk{true})
	walks.Disable(two)
	loads.Append(two, load{one, [2]float32{1, float32(math.Inf(1))}}, load{})
	*log.Mut(two) = []string{"x,y", ""}
	heats.Add(one, heat{20})
	heats.Disable(one)
	marks.Add(two, sunk{})
	w.SetName(two, "Aurora")
	other := ecs.NewArchetype(w, tag, ecs.Register[ecs.Prefab](w), ecs.Register[ecs.DisabledEntity](w))
	hidden := other.Create()
	heats.Add(hidden, heat{1})

	asCSV, asJSON := both(t, a)
	require.Equal(t, `entity,name,sunk,walk.enabled,walk.enabled#2,[]load,string,managed []string,chunk at.X,chunk at.Y,sparse heat.Degrees,sparse heat.enabled,sparse sunk
1v1,,true,false,true,[],"a, ""b""
c <é>",,0,0,20,false,
2v1,Aurora,true,true,false,"[{""By"":""1v1"",""Parts"":[1,""+Inf""]},{""By"":null,""Parts"":[0,0]}]","a, ""b""
c <é>","[""x,y"",""""]",0,0,,,true
`, asCSV)
	require.Equal(t, `{"entity":"1v1","name":"","sunk":true,"walk.enabled":false,"walk.enabled#2":true,"[]load":[],"string":"a, \"b\"\nc <é>","managed []string":null,"chunk at.X":0,"chunk at.Y":0,"sparse heat.Degrees":20,"sparse heat.enabled":false,"sparse sunk":null}
{"entity":"2v1","name":"Aurora","sunk":true,"walk.enabled":true,"walk.enabled#2":false,"[]load":[{"By":"1v1","Parts":[1,"+Inf"]},{"By":null,"Parts":[0,0]}],"string":"a, \"b\"\nc <é>","managed []string":["x,y",""],"chunk at.X":0,"chunk at.Y":0,"sparse heat.Degrees":null,"sparse heat.enabled":null,"sparse sunk":true}
`, asJSON)
	asCSV, _ = both(t, other)
	require.Equal(t,
		"entity,DisabledEntity,Prefab,sunk,sparse heat.Degrees,sparse heat.enabled\n3v1,true,true,true,1,true\n", asCSV)
	asCSV, asJSON = both(t, ecs.NewArchetype(w, tag))
	require.Equal(t, "entity,sunk\n", asCSV, "no rows")
	require.Empty(t, asJSON)
	ecs.NewArchetype(w).Create()
	asCSV, _ = both(t, ecs.NewArchetype(w))
	require.Equal(t, "entity\n4v1\n", asCSV)
}

type conn struct {
	Name    string
	in      chan int
	Since   time.Time
	Limits  map[string]float64
	Next    *conn
	Any     any
	Amount  *big.Int
	private []colour
}

// TestManagedValues: whatever Go values hold, rows are written.
func TestManagedValues(t *testing.T) {
	w := newWorld(t)
	conns := ecs.RegisterManaged[conn](w)
	a := ecs.NewArchetype(w, conns)
	for range 3 {
		a.Create()
	}
	q := ecs.NewQuery(w, ecs.Write(conns))
	defer q.Close()
	list := q.Entities(nil)
	*conns.Mut(list[1]) = conn{Name: "a", in: make(chan int), Since: time.Unix(0, 0).UTC(), Limits: map[string]float64{
		"b": 2, "a": 1,
	},
		Next: &conn{}, Any: 7, Amount: big.NewInt(99), private: []colour{1, 1 << 30}}
	*conns.Mut(list[2]) = conn{Any: make(chan int), Limits: map[string]float64{"x": math.NaN()}}
	asCSV, _ := both(t, a)
	require.Equal(t, `entity,managed conn.Name,managed conn.in,managed conn.Since,managed conn.Limits,managed conn.Next,managed conn.Any,managed conn.Amount,managed conn.private
1v1,,,,,,,,
2v1,a,(chan int),1970-01-01T00:00:00Z,"{""a"":1,""b"":2}","{""Name"":"""",""Since"":""0001-01-01T00:00:00Z"",""Limits"":null,""Next"":null,""Any"":null,""Amount"":null}",7,99,"[""#000001"",""(inspect_test.colour)""]"
3v1,,(chan int),0001-01-01T00:00:00Z,(map[string]float64),,(interface {}),,
`, asCSV)
}

// TestNamesOfColumns: no two columns have one name.
func TestNamesOfColumns(t *testing.T) {
	outer := [1]heat{} // of the package
	type heat struct{ Degrees int16 }
	type entity int8
	w := newWorld(t)
	hot := ecs.Register[heat](w)
	a := ecs.NewArchetype(w, hot, registerLike(w, outer), ecs.Register[entity](w), ecs.RegisterChunk[heat](w))
	hot.Set(a.Create(), heat{7})
	asCSV, asJSON := both(t, a)
	require.Equal(t, "entity,heat.Degrees,heat.Degrees#2,entity#2,chunk heat.Degrees\n1v1,7,0,0,0\n", asCSV)
	require.Equal(t, `{"entity":"1v1","heat.Degrees":7,"heat.Degrees#2":0,"entity#2":0,"chunk heat.Degrees":0}`+"\n",
		asJSON)
}

// registerLike registers the type of a value whose name is hidden by another.
func registerLike[T any](w *ecs.World, _ [1]T) ecs.Type { return ecs.Register[T](w) }

// TestManyChunks: rows come in their order, from all chunks, and only those of the archetype.
func TestManyChunks(t *testing.T) {
	w := newWorld(t)
	heats, port := ecs.Register[heat](w), ecs.RegisterShared[int](w)
	a, b := ecs.NewArchetype(w, heats, port.Of(1)), ecs.NewArchetype(w, heats, port.Of(2))
	for _, a := range []*ecs.Archetype{a, b} {
		_, err := a.CreateN(5000)
		require.NoError(t, err)
	}
	q := ecs.NewQuery(w, ecs.Write(heats), ecs.Where(port.Of(2)))
	defer q.Close()
	want, n := strings.Builder{}, 0
	want.WriteString("entity,heat.Degrees,int\n")
	for rows := range q.Rows() {
		for i, e := range rows.Entities() {
			heats.Slice(rows)[i].Degrees = float64(n) / 4
			fmt.Fprintf(&want, "%v,%v,2\n", e, float64(n)/4)
			n++
		}
	}
	require.Greater(t, b.Chunks(), 1)
	asCSV, _ := both(t, b)
	require.Equal(t, want.String(), asCSV)
}

// failing fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriterFails: its error comes back, wherever it fails, and the world is not left in a loop.
func TestWriterFails(t *testing.T) {
	w := newWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[heat](w))
	_, err := a.CreateN(2000)
	require.NoError(t, err)
	for _, left := range []int{0, 5000, 12_000} {
		for name, write := range map[string]func() error{
			"WriteCSV":  func() error { return inspect.WriteCSV(&failing{left}, a) },
			"WriteJSON": func() error { return inspect.WriteJSON(&failing{left}, a) },
		} {
			err := write()
			require.ErrorIs(t, err, errFull)
			require.EqualError(t, err, "inspect: "+name+": the writer failed: the disk is full")
			a.Create()
		}
	}
}

func TestMisuse(t *testing.T) {
	w := newWorld(t)
	heats := ecs.Register[heat](w)
	a := ecs.NewArchetype(w, heats)
	a.Create()
	require.PanicsWithValue(t, "inspect: WriteCSV: the archetype is nil",
		func() { _ = inspect.WriteCSV(os.Stdout, nil) })
	require.PanicsWithValue(t, "inspect: WriteJSON: the writer is nil", func() { _ = inspect.WriteJSON(nil, a) })
	s := w.Snapshot()
	q := ecs.NewQuery(w, ecs.Read(heats))
	for rows := range s.Rows(q) {
		require.PanicsWithValue(t,
			"inspect: WriteCSV: [heat] is an archetype of a snapshot, or was retired; take one of World.Archetypes",
			func() { _ = inspect.WriteCSV(os.Stdout, rows.Archetype()) })
	}
	fork, err := s.Fork()
	require.NoError(t, err)
	s.Close()
	asCSV, _ := both(t, fork.Archetypes()[0])
	require.Equal(t, "entity,heat.Degrees\n1v1,0\n", asCSV)
	require.NoError(t, fork.Close())
	q.Close()
	for rows := range ecs.NewQuery(w, ecs.Read(heats)).Rows() { // a program may look while it loops
		asCSV, _ := both(t, rows.Archetype())
		require.NotEmpty(t, asCSV)
	}
	require.NoError(t, w.Verify())
}

// BenchmarkExport: rows of two components of two numbers.
func BenchmarkExport(b *testing.B) {
	w := newWorld(b)
	type speed at
	a := ecs.NewArchetype(w, ecs.Register[at](w), ecs.Register[speed](w))
	_, err := a.CreateN(10_000)
	require.NoError(b, err)
	for name, write := range map[string]func(io.Writer, *ecs.Archetype) error{
		"csv": inspect.WriteCSV, "json": inspect.WriteJSON,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, write(io.Discard, a))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/row")
		})
	}
}
