package churn

import "encoding/binary"

// nameRoom is the length of the longest name in bytes; the shortest has 8.
const nameRoom = 24

// record is what slots and quarry keep: a plain value of 48 bytes.
type record struct {
	id     uint64
	cents  int64
	name   [nameRoom]byte
	length uint32
	hits   uint32
}

// object is what objects keeps: its name is a separate Go object.
type object struct {
	id    uint64
	cents int64
	name  []byte
	hits  uint32
}

// nameOf writes the name that belongs to an id and returns its length.
func nameOf(name *[nameRoom]byte, id uint64) int {
	for i := 0; i < nameRoom; i += 8 {
		binary.LittleEndian.PutUint64(name[i:], id>>i|0x2020202020202020)
	}
	return 8 + int(id>>40%(nameRoom-8+1))
}

// centsOf is the amount that belongs to an id.
func centsOf(id uint64) int64 { return int64(id>>7%1_000_000) - 500_000 }

// set makes r the record of an id, whatever r was before.
func (r *record) set(id uint64) {
	r.id, r.cents, r.hits = id, centsOf(id), 0
	r.length = uint32(nameOf(&r.name, id))
}

func newObject(id uint64) *object {
	var name [nameRoom]byte
	n := nameOf(&name, id)
	return &object{id: id, cents: centsOf(id), name: append(make([]byte, 0, n), name[:n]...)}
}

// answer is what a way found. Sum depends on the order of the finds, and on the id,
// name, amount and earlier finds of each record.
type answer struct {
	Sum    uint64 `json:"sum"`
	Found  int    `json:"found"`
	Missed int    `json:"missed"`
	Broken int    `json:"broken"` // removes of ids that were not there
	Live   int    `json:"live"`   // at the end
}

// note adds a record that was found. The name has 8 bytes or more.
func (a *answer) note(id uint64, cents int64, hits uint32, name []byte) {
	word := binary.LittleEndian.Uint64(name) + uint64(name[len(name)-1])<<8 + uint64(len(name))
	a.Sum = (a.Sum^id^word)*0x9e3779b97f4a7c15 + uint64(cents) + uint64(hits)
	a.Found++
}
