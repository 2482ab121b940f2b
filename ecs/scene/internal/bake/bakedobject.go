package bake

import (
	"reflect"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// bakedObject is the result of a baker for an object.
type bakedObject struct {
	number  uint64 // no other record of the bakery has it
	digest  digest // of the object's authoring data
	own     uint32 // buffer of the placeholders of its entities
	made    []made
	data    []byte
	outside []string       // ids of the objects it leads to; their placeholders are of buffer own+1
	leading map[string]int // place of an id among them
	managed bool           // there are managed values
	lent    bool           // systems have had them, and may have changed what they point to
	asked   *placing       // of the object, if the baker asked for it
	blobs   []blobMaker    // their placeholders are of buffer own+2
	reads   []read
	files   []read
}

// made is an entity that is to be.
type made struct{ values []notedValue }

// notedValue is a value of an entity.
type notedValue struct {
	kind  int // place in Bakery.kinds
	at, n int // bytes in the record's data
	value any // of a shared or a managed type
}

// read is something that a baker has read.
type read struct {
	name   string
	digest digest
}

func newRecord(id string) *bakedObject {
	return &bakedObject{own: uint32(section.Hash(id)) &^ 3, made: make([]made, 1), leading: map[string]int{}}
}

// placeholder returns what stands for the n-th entity of the record.
func (r *bakedObject) placeholder(n int) ecs.Entity { return door.Placeholder(n, r.own) }

// numberOf returns the number of an entity of the record, or -1 for any other entity.
func (r *bakedObject) numberOf(e ecs.Entity) int {
	if !e.IsPlaceholder() {
		return -1
	}
	if n, buffer := door.Number(e); buffer == r.own && n < len(r.made) {
		return n
	}
	return -1
}

// blobMaker makes a blob in a section's world.
type blobMaker struct {
	of  reflect.Type // of the root
	t   blob.TypeOf
	add func(*blob.Store) (ecs.Entity, error)
}

// leads returns what stands for the entity of another object.
func (r *bakedObject) leads(id string) ecs.Entity {
	n, known := r.leading[id]
	if !known {
		n = len(r.outside)
		r.leading[id] = n
		r.outside = append(r.outside, id)
	}
	return door.Placeholder(n, r.own+1)
}

// put notes a value of an entity, in the place of an earlier one.
func (m *made) put(p notedValue) {
	for i := range m.values {
		if m.values[i].kind == p.kind {
			m.values[i] = p
			return
		}
	}
	m.values = append(m.values, p)
}

// note copies bytes of a value, or of elements. What lies between fields is not copied: it may be
// anything, and files of equal values are equal.
func (r *bakedObject) note(number int, k *linkedType, b []byte) notedValue {
	r.data = append(r.data, b...)
	p := notedValue{kind: number, at: len(r.data) - len(b), n: len(b)}
	for first := p.at; len(k.gaps) > 0 && first < len(r.data); first += k.size {
		for _, g := range k.gaps {
			clear(r.data[first+g.from : first+g.to])
		}
	}
	return p
}

// gap is bytes of a value that no field has.
type gap struct{ from, to int }

// gapsOf appends the gaps of a type whose values are at an offset.
func gapsOf(gaps []gap, t reflect.Type, at int) []gap {
	switch t.Kind() {
	case reflect.Struct:
		end := 0
		for f := range t.Fields() {
			if int(f.Offset) > end {
				gaps = append(gaps, gap{at + end, at + int(f.Offset)})
			}
			if f.Name == "_" { // == does not compare it either
				continue
			}
			gaps = gapsOf(gaps, f.Type, at+int(f.Offset))
			end = int(f.Offset + f.Type.Size())
		}
		if int(t.Size()) > end {
			gaps = append(gaps, gap{at + end, at + int(t.Size())})
		}
	case reflect.Array:
		if len(gapsOf(nil, t.Elem(), 0)) > 0 {
			for i := range t.Len() {
				gaps = gapsOf(gaps, t.Elem(), at+i*int(t.Elem().Size()))
			}
		}
	}
	return gaps
}

// holds reports whether the record of an object is that which a baker would make now (S1).
func (r *bakedObject) holds(l *list, object int) bool {
	if r.digest != l.digests[object] || r.asked != nil && *r.asked != *l.objects[object].placing() {
		return false
	}
	for _, id := range r.outside {
		if _, ok := l.at[id]; !ok {
			return false // the baker leads to no object, which is an error
		}
	}
	for _, d := range r.reads {
		if d.digest != l.digest(d.name) {
			return false
		}
	}
	for _, d := range r.files {
		if d.digest != l.files.open(d.name).hash {
			return false
		}
	}
	return true
}

// digest returns the digest of an object's authoring data, of zeros if there is no such object.
func (l *list) digest(id string) digest {
	if i, ok := l.at[id]; ok {
		return l.digests[i]
	}
	return digest{}
}
