package entity

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/past"
)

// PastRecords finds the records of a store as they were at the moment of a layer. It copies a page
// of records when one of them is first asked for, to Go memory:
//
//	records of the store   | unit 0 | unit 1'| unit 2 |      unit 1 has been written since
//	copies of the layer             | unit 1 |
//	pages                  |  nil   | unit 1 |  nil   |      16,384 bytes, 2,048 records, are copied
//
// Any goroutine may call Find until the layer is closed.
type PastRecords struct {
	tag    Tag
	memory *past.Memory // of the records
	layer  *past.Layer
	pages  []atomic.Pointer[recordsPage]
}

const pageRecords = past.UnitSize / recordSize

type recordsPage [pageRecords]Record

// freePages has the pages of closed snapshots: a program that looks up in each of its snapshots
// asks Go for none.
var freePages = sync.Pool{New: func() any { return new(recordsPage) }}

// Open makes of zero PastRecords those of a state of a store. It copies nothing.
func (p *PastRecords) Open(live *Store, records *past.Memory, from *Moment, l *past.Layer) {
	p.tag, p.memory, p.layer = live.view.tag, records, l
	p.pages = make([]atomic.Pointer[recordsPage], from.Records()/int(pageRecords))
}

// Find returns e's record if e was alive, else nil. An error means that the layer is lost.
func (p *PastRecords) Find(e ID) (*Record, error) {
	i := uintptr(e.ref ^ uint32(p.tag))
	unit := i / pageRecords
	if unit >= uintptr(len(p.pages)) {
		return nil, nil
	}
	page := p.pages[unit].Load()
	if page == nil {
		var err error
		if page, err = p.load(int(unit)); err != nil {
			return nil, err
		}
	}
	if r := &page[i%pageRecords]; r.Is(e) {
		return r, nil
	}
	return nil, nil
}

// load copies a page. Of several goroutines that do so the copy of the first stays.
func (p *PastRecords) load(unit int) (*recordsPage, error) {
	page := freePages.Get().(*recordsPage)
	// Safe because a page has as many bytes as a unit.
	if err := p.layer.Read(p.memory, unit, unsafe.Slice((*byte)(unsafe.Pointer(page)), past.UnitSize)); err != nil {
		freePages.Put(page)
		return nil, err
	}
	if p.pages[unit].CompareAndSwap(nil, page) {
		return page, nil
	}
	freePages.Put(page)
	return p.pages[unit].Load(), nil
}

// Close gives up the pages. Nobody may look up any more.
func (p *PastRecords) Close() {
	for i := range p.pages {
		if page := p.pages[i].Load(); page != nil {
			freePages.Put(page)
		}
	}
	*p = PastRecords{}
}
