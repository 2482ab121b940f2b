package wrap

import (
	"compress/gzip"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"time"
)

// Field numbers of profile.proto, the format of go tool pprof.
const (
	profileSampleType, profileSample, profileMapping, profileLocation, profileFunction = 1, 2, 3, 4, 5
	profileStringTable, profileTimeNanos, profilePeriodType, profilePeriod             = 6, 9, 11, 12
	profileDefaultSampleType                                                           = 14

	valueTypeType, valueTypeUnit               = 1, 2
	sampleLocation, sampleValue, sampleLabel   = 1, 2, 3
	labelKey, labelStr, labelNum, labelNumUnit = 1, 2, 3, 4

	mappingID, mappingFile                                                   = 1, 5
	mappingHasFunctions, mappingHasFiles, mappingHasLines, mappingHasInlines = 7, 8, 9, 10

	locationID, locationMapping, locationAddress, locationLine = 1, 2, 3, 4
	lineFunction, lineLine                                     = 1, 2
	functionID, functionName, functionSystemName, functionFile = 1, 2, 3, 4
)

// pprofProfile is a profile.proto under construction. Strings, functions and locations are written
// once and referred to by number, from 1 on; string 0 is "".
type pprofProfile struct {
	message
	texts     map[string]uint64
	table     []string
	functions map[[2]string]uint64 // by name and file
	locations map[callSite]uint64
}

// callSite is a call instruction. frames are its visible frames: the functions inlined there,
// innermost first, and the function that contains the code.
type callSite struct {
	pc     uintptr
	frames int
}

// WriteProfile writes the samples so far as a gzipped profile.proto, with the four values of Go's
// own heap profiles: alloc_objects, alloc_space, inuse_objects, inuse_space. The values are
// estimates of the whole: the samples divided by the probability of being sampled. Samples have the
// labels "allocator" and "bytes", the size of the blocks. Frames of Quarry's allocators at the
// inner end of a stack are omitted. An error is w's. Cost: 2 to 5 us for each stack and size;
// allocations sampled meanwhile do not wait.
func (p *Profile) WriteProfile(w io.Writer) error {
	if w == nil {
		panic("wrap: Profile.WriteProfile: the writer is nil")
	}
	p.mu.Lock()
	list := slices.Clone(p.list)
	p.mu.Unlock()
	e := pprofProfile{texts: map[string]uint64{}, functions: map[[2]string]uint64{}, locations: map[callSite]uint64{}}
	e.header(p.rate)
	for _, b := range list {
		e.sample(p, b)
	}
	for _, s := range e.table {
		e.message.text(profileStringTable, s)
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(e.bytes); err != nil {
		return err
	}
	return z.Close()
}

// header writes everything that does not depend on samples.
func (e *pprofProfile) header(rate int) {
	e.string("")
	for _, t := range [][2]string{{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"},
		{"inuse_space", "bytes"}} {
		e.inner(profileSampleType, e.valueType(t[0], t[1]))
	}
	e.number(profileTimeNanos, uint64(time.Now().UnixNano()))
	e.inner(profilePeriodType, e.valueType("space", "bytes"))
	e.number(profilePeriod, uint64(rate))
	e.number(profileDefaultSampleType, e.string("inuse_space"))
	var m message
	m.number(mappingID, 1)
	if file, err := os.Executable(); err == nil {
		m.number(mappingFile, e.string(file))
	}
	for _, has := range []int{mappingHasFunctions, mappingHasFiles, mappingHasLines, mappingHasInlines} {
		m.number(has, 1)
	}
	e.inner(profileMapping, m)
}

func (e *pprofProfile) valueType(name, unit string) (m message) {
	m.number(valueTypeType, e.string(name))
	m.number(valueTypeUnit, e.string(unit))
	return m
}

// string returns the number of a text.
func (e *pprofProfile) string(s string) uint64 {
	n, ok := e.texts[s]
	if !ok {
		n = uint64(len(e.table))
		e.texts[s] = n
		e.table = append(e.table, s)
	}
	return n
}

func (e *pprofProfile) sample(p *Profile, b *bucket) {
	frees := b.frees.Load() // before the allocations, so that the blocks in use are not negative
	allocs := b.allocs.Load()
	weight, size := p.weight(b.size), float64(b.size)
	var values []uint64
	for _, n := range []int64{allocs, allocs - frees} {
		whole := float64(n) * weight
		values = append(values, uint64(math.Round(whole)), uint64(math.Round(whole*size)))
	}
	var m, allocator, bytes message
	m.numbers(sampleLocation, e.stack(b.stack))
	m.numbers(sampleValue, values)
	allocator.number(labelKey, e.string("allocator"))
	allocator.number(labelStr, e.string(b.name))
	m.inner(sampleLabel, allocator)
	bytes.number(labelKey, e.string("bytes"))
	bytes.number(labelNum, uint64(b.size))
	bytes.number(labelNumUnit, e.string("bytes"))
	m.inner(sampleLabel, bytes)
	e.inner(profileSample, m)
}

// stack returns the numbers of a stack's locations. runtime.Frames has one frame per function, with
// a Func only for the function that contains the code; a frame without one is inlined in the next
// frame that has one.
func (e *pprofProfile) stack(s []uintptr) (numbers []uint64) {
	frames := shown(s)
	for len(frames) > 0 {
		n := 1
		for n < len(frames) && frames[n-1].Func == nil && frames[n].Entry == frames[0].Entry {
			n++
		}
		numbers = append(numbers, e.location(frames[:n]))
		frames = frames[n:]
	}
	return numbers
}

func (e *pprofProfile) location(frames []runtime.Frame) uint64 {
	key := callSite{frames[0].PC, len(frames)}
	if n, ok := e.locations[key]; ok {
		return n
	}
	n := uint64(len(e.locations)) + 1
	e.locations[key] = n
	var m message
	m.number(locationID, n)
	m.number(locationMapping, 1)
	m.number(locationAddress, uint64(key.pc))
	for i := range frames {
		var line message
		line.number(lineFunction, e.function(&frames[i]))
		line.number(lineLine, uint64(frames[i].Line))
		m.inner(locationLine, line)
	}
	e.inner(profileLocation, m)
	return n
}

func (e *pprofProfile) function(f *runtime.Frame) uint64 {
	key := [2]string{f.Function, f.File}
	if n, ok := e.functions[key]; ok {
		return n
	}
	n := uint64(len(e.functions)) + 1
	e.functions[key] = n
	var m message
	m.number(functionID, n)
	m.number(functionName, e.string(f.Function))
	m.number(functionSystemName, e.string(f.Function))
	m.number(functionFile, e.string(f.File))
	e.inner(profileFunction, m)
	return n
}
