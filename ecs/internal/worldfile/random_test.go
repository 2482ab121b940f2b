package worldfile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// fieldTypesAtRandom are what fields of random structs have. A number becomes any later one of its
// own row, and nothing else.
var fieldTypesAtRandom = [][]reflect.Type{
	{reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64]()},
	{reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64]()},
	{reflect.TypeFor[float32](), reflect.TypeFor[float64]()},
	{reflect.TypeFor[bool]()},
	{reflect.TypeFor[complex64]()},
	{reflect.TypeFor[[3]uint16]()},
	{reflect.TypeFor[[2]ecs.Entity]()},
	{reflect.TypeFor[ecs.Entity]()},
}

// randomField is a field of a random struct: a number of a row of fieldTypesAtRandom, or fields.
type randomField struct {
	name     string
	row, col int
	inner    []randomField
}

func (f *randomField) goType() reflect.Type {
	if f.inner != nil {
		return structAtRandom(f.inner)
	}
	return fieldTypesAtRandom[f.row][f.col]
}

func structAtRandom(fields []randomField) reflect.Type {
	var list []reflect.StructField
	for i := range fields {
		list = append(list, reflect.StructField{Name: fields[i].name, Type: fields[i].goType()})
	}
	return reflect.StructOf(list)
}

func randomFields(r *rand.Rand, depth int) (fields []randomField) {
	for i := range 1 + r.IntN(6) {
		f := randomField{name: string(rune('A' + i)), row: r.IntN(len(fieldTypesAtRandom))}
		f.col = r.IntN(len(fieldTypesAtRandom[f.row]))
		if depth > 0 && r.IntN(5) == 0 {
			f.inner = randomFields(r, depth-1)
		}
		fields = append(fields, f)
	}
	return fields
}

// laterFields returns fields as a later program has them: some gone, some new, in another order,
// and numbers that have grown. Where breaks is set, one may have shrunk.
func laterFields(r *rand.Rand, fields []randomField, breaks bool) (later []randomField) {
	for i := range fields {
		f := fields[i]
		switch {
		case r.IntN(5) == 0 && i > 0:
			continue
		case f.inner != nil:
			f.inner = laterFields(r, f.inner, breaks)
		case breaks && r.IntN(6) == 0:
			f.col = r.IntN(len(fieldTypesAtRandom[f.row]))
		case r.IntN(2) == 0:
			f.col += r.IntN(len(fieldTypesAtRandom[f.row]) - f.col)
		}
		later = append(later, f)
	}
	for i := range r.IntN(3) {
		later = append(later, randomField{name: "New" + string(rune('A'+i)), row: r.IntN(3)})
	}
	r.Shuffle(len(later), func(i, j int) { later[i], later[j] = later[j], later[i] })
	return later
}

// twinOfConversion sets the fields of a value by those of the same names of another, one by one, as
// Go converts them. It returns false if a number would lose bits, or a field has another kind.
func twinOfConversion(to, from reflect.Value, renamed func(string) string, oldPath, newPath string) bool {
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		path := renamed(oldPath + name)
		f, g := from.Field(i), to.FieldByName(strings.TrimPrefix(path, newPath))
		if !g.IsValid() {
			continue
		}
		switch nested := f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[ecs.Entity](); {
		case nested:
			if !twinOfConversion(g, f, renamed, oldPath+name+".", path+".") {
				return false
			}
		case f.Type() == g.Type():
			g.Set(f)
		case g.Type().Size() < f.Type().Size() || !f.CanConvert(g.Type()):
			return false
		default:
			g.Set(f.Convert(g.Type()))
		}
	}
	return true
}

// convertValues makes n values of one Go type those of another as world files are converted, field
// by field. renamed gives the names of fields in the new type. The error is that of a file whose
// type cannot become the other.
func convertValues(to, from reflect.Type, renamed func(string) string, values unsafe.Pointer,
	n int) (reflect.Value, error) {
	then, now := worldfile.ImageType{Whole: int(from.Size())}, worldfile.ImageType{Whole: int(to.Size())}
	then.AddFields("", from, 0)
	now.AddFields("", to, 0)
	moves, _, same, err := then.Moves(&now, func(name string) (string, error) { return renamed(name), nil })
	if err != nil {
		return reflect.Value{}, err
	}
	made := reflect.MakeSlice(reflect.SliceOf(to), n, n)
	s := worldfile.ValueCopy{To: made.UnsafePointer(), From: values, ToSize: now.Whole, FromSize: then.Whole, N: n}
	if same {
		s.MoveBytes(s.ToSize)
	} else {
		s.Convert(moves)
	}
	return made, nil
}

// TestConvertsRandomStructs: values of random structs become those of later ones as by a loop over
// their fields.
func TestConvertsRandomStructs(t *testing.T) {
	pairs := long.N(3000, 300_000)
	r := rand.New(rand.NewPCG(31, 7))
	same, converted, refused := 0, 0, 0
	for pair := range pairs {
		breaks := pair%3 == 1
		fields := randomFields(r, 2)
		later := slices.Clone(fields)
		if pair%10 > 0 {
			later = laterFields(r, fields, breaks)
		}
		renamed := func(name string) string { return name }
		if i := r.IntN(len(later)); pair%3 == 0 && !strings.HasPrefix(later[i].name, "New") {
			old := later[i].name
			later[i].name = "Renamed"
			renamed = func(name string) string {
				if rest, ok := strings.CutPrefix(name, old); ok && (rest == "" || rest[0] == '.') {
					return "Renamed" + rest
				}
				return name
			}
		}
		from, to := structAtRandom(fields), structAtRandom(later)
		const n = 5
		values := reflect.MakeSlice(reflect.SliceOf(from), n, n)
		fillAtRandom(r, values)
		want := reflect.MakeSlice(reflect.SliceOf(to), n, n)
		fits := true
		for i := range n {
			fits = fits && twinOfConversion(want.Index(i), values.Index(i), renamed, "", "")
		}
		got, err := convertValues(to, from, renamed, values.UnsafePointer(), n)
		text := fmt.Sprintf("pair %d: %v\nbecomes %v", pair, from, to)
		switch {
		case err != nil && strings.Contains(err.Error(), "no field is left"):
			refused++
		case !fits:
			require.Error(t, err, text)
			require.Contains(t, err.Error(), "would lose bits", text)
			refused++
		case from == to:
			same++
			fallthrough
		default:
			require.NoError(t, err, text)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), text)
			converted++
		}
	}
	require.Greater(t, same, pairs/30)
	require.Greater(t, refused, pairs/100)
	require.Greater(t, converted, pairs/2)
}

// fillAtRandom fills the numbers of a slice of structs; a bool is true or false.
func fillAtRandom(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ecs.Entity]() {
			*(*uint64)(v.Addr().UnsafePointer()) = r.Uint64() // Safe because an entity is 8 bytes.
			return
		}
		for i := range v.NumField() {
			fillAtRandom(r, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fillAtRandom(r, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Complex64:
		v.SetComplex(complex(r.NormFloat64(), r.NormFloat64()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (64 - 8*v.Type().Size()))
	default:
		v.SetUint(r.Uint64() >> (64 - 8*v.Type().Size()))
	}
}
