package wrap

import "encoding/binary"

// message is a protobuf message under construction: contiguous fields, each a varint with the
// field's number and its wire type (0: a varint follows, 2: a length and as many bytes), then the
// value. Zero fields are omitted, which is how the format encodes them.
type message struct{ bytes []byte }

const (
	wireVarint = 0
	wireBytes  = 2
)

func (m *message) key(field, wire int) {
	m.bytes = binary.AppendUvarint(m.bytes, uint64(field<<3|wire))
}

// number appends a field of an integer type; signed ones are converted, not zigzagged.
func (m *message) number(field int, v uint64) {
	if v != 0 {
		m.key(field, wireVarint)
		m.bytes = binary.AppendUvarint(m.bytes, v)
	}
}

// text appends an element of a repeated string, which may be empty.
func (m *message) text(field int, s string) {
	m.key(field, wireBytes)
	m.bytes = binary.AppendUvarint(m.bytes, uint64(len(s)))
	m.bytes = append(m.bytes, s...)
}

// inner appends a message as a field.
func (m *message) inner(field int, in message) {
	m.key(field, wireBytes)
	m.bytes = binary.AppendUvarint(m.bytes, uint64(len(in.bytes)))
	m.bytes = append(m.bytes, in.bytes...)
}

// numbers appends a repeated field of integers in its packed form.
func (m *message) numbers(field int, list []uint64) {
	var in message
	for _, v := range list {
		in.bytes = binary.AppendUvarint(in.bytes, v)
	}
	m.inner(field, in)
}
