package trace

import (
	"bufio"
	"io"
	"strconv"
)

// WriteAOSP prints a trace in the AOSP form, one line per operation. Block names are made up, two
// per slot: an allocation and every second realloc of a block switch between them, so that NEWPTR
// is OLDPTR in some lines and not in others. A calloc whose size 16 divides is printed as 16
// objects, any other as one. The print reads back as the same operations, including the alignment
// of failed calls.
func WriteAOSP(w io.Writer, t *Trace) error {
	p := printer{w: bufio.NewWriterSize(w, 1<<16), name: make([]uint64, t.Slots)}
	for i := range p.name {
		p.name[i] = 0x7000_0000_0000 + uint64(i)<<8
	}
	for i := range t.Ops {
		op := &t.Ops[i]
		p.line = strconv.AppendUint(p.line[:0], t.Threads[op.Thread], 10)
		p.word(": ", op.Kind().String())
		p.call(op, i)
		p.line = append(p.line, '\n')
		if _, err := p.w.Write(p.line); err != nil {
			return err
		}
	}
	return p.w.Flush()
}

// printer holds the names of blocks by slot, and the current line.
type printer struct {
	w    *bufio.Writer
	line []byte
	name []uint64
}

// otherName is the bit in which the two names of a slot differ.
const otherName = 0x80

// call prints the fields after the kind.
func (p *printer) call(op *Op, i int) {
	var old, now uint64
	if op.Slot != NoSlot {
		old = p.name[op.Slot]
		if op.Effect() == Get || op.Effect() == Resize && i%2 == 0 {
			p.name[op.Slot] ^= otherName
		}
		now = p.name[op.Slot]
	}
	size := uint64(op.Size)
	switch op.Kind() {
	case Malloc:
		p.pointer(now)
		p.number(size)
	case Calloc:
		p.pointer(now)
		count := uint64(1)
		if size > 0 && size%16 == 0 {
			count = 16
		}
		p.number(count)
		p.number(size / count)
	case Memalign:
		p.pointer(now)
		p.number(uint64(op.Align()))
		p.number(size)
	case Realloc:
		switch op.Effect() {
		case Get:
			old = 0
		case Drop, Nothing:
			now = 0
		}
		p.pointer(now)
		p.pointer(old)
		p.number(size)
	case Free, ThreadDone:
		p.pointer(old)
	}
}

func (p *printer) word(before, s string) {
	p.line = append(append(p.line, before...), s...)
}

func (p *printer) pointer(v uint64) {
	p.line = strconv.AppendUint(append(p.line, " 0x"...), v, 16)
}

func (p *printer) number(v uint64) {
	p.line = strconv.AppendUint(append(p.line, ' '), v, 10)
}
