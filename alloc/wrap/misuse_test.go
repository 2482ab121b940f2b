package wrap_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// misuses are the 42 cases that mimalloc-bench has in bench/security, in Go. do is given the size
// of a block; what it returns is "" when nothing stopped it. docs/memory.md has the outcome of
// each, and TestMisuse checks it.
var misuses = []struct {
	name string
	zone int // bytes that a Guard watches, where the default does not reach; see misuseMode
	do   func(r *room, size int) string
}{
	{"one_byte_overflow", 0, overflow(1)},
	{"32_byte_overflow", 0, overflow(32)},
	{"one_mbyte_overflow", 1 << 20, overflow(1 << 20)},
	{"one_byte_memcpy_overflow", 0, copyOverflow(1)},
	{"32_byte_memcpy_overflow", 0, copyOverflow(32)},
	{"one_mbyte_memcpy_overflow", 1 << 20, copyOverflow(1 << 20)},
	{"one_byte_underflow", 0, underflow(1)},
	{"32_byte_underflow", 0, underflow(32)},
	{"one_mbyte_underflow", 1 << 20, underflow(1 << 20)},
	{"one_byte_memcpy_underflow", 0, copyUnderflow(1)},
	{"32_byte_memcpy_underflow", 0, copyUnderflow(32)},
	{"one_mbyte_memcpy_underflow", 1 << 20, copyUnderflow(1 << 20)},
	{"read_zero_size", 0, func(r *room, _ int) string { return r.keep(r.alloc(0)) }},
	{"read_zero_size_free", 0, func(r *room, _ int) string { return r.free(r.read(r.alloc(0)), 0) }},
	{"write_zero_size", 0, func(r *room, _ int) string { poke(r.alloc(0), 0); return "" }},
	{"write_zero_size_free", 0, func(r *room, _ int) string {
		p := r.alloc(0)
		poke(p, 0)
		return r.free(p, 0)
	}},
	{"double_free", 0, func(r *room, size int) string {
		p := r.alloc(size)
		r.free(p, size)
		return r.free(p, size)
	}},
	{"double_free_delayed", 0, func(r *room, size int) string {
		p := r.alloc(size)
		r.free(p, size)
		r.churn(size, 1024)
		return r.free(p, size)
	}},
	{"double_free_interleaved", 0, func(r *room, size int) string {
		p, q := r.alloc(size), r.alloc(size)
		r.free(p, size)
		r.free(q, size)
		return r.free(p, size)
	}},
	{"double_free_reuse", 0, func(r *room, size int) string {
		p := r.alloc(size)
		r.free(p, size)
		r.free(p, size)
		r.churn(size, 2048) // of the smallest, about 1 MiB with their zones: a quarantine
		return ""
	}},
	{"double_free_single_reuse", 0, func(r *room, size int) string {
		p := r.alloc(size)
		r.free(p, size)
		q := r.alloc(size)
		r.free(p, size)
		return r.free(q, size)
	}},
	{"invalid_free", 0, func(r *room, size int) string {
		// Safe because it is not followed: an address in the first MiB, which no system
		// gives to anybody.
		return r.free(unsafe.Add(unsafe.Pointer(nil), 1<<19), size)
	}},
	{"invalid_free_alloca", 0, func(r *room, size int) string {
		var stack [16]byte
		return r.free(hidden(unsafe.Pointer(&stack[0])), size) // Safe because it is not followed.
	}},
	{"invalid_free_stack", 0, func(r *room, size int) string {
		var stack int64
		return r.free(hidden(unsafe.Pointer(&stack)), size) // Safe because it is not followed.
	}},
	{"invalid_free_close", 0, func(r *room, size int) string { return r.free(unsafe.Add(r.alloc(size), 4<<10), size) }},
	{"invalid_free_far", 0, func(r *room, size int) string { return r.free(unsafe.Add(r.alloc(size), 1<<30), size) }},
	{"invalid_free_unaligned", 0, func(r *room, size int) string { return r.free(unsafe.Add(r.alloc(size), 1), size) }},
	{"invalid_free_unaligned_multiple", 0, func(r *room, size int) string { return r.free(unsafe.Add(r.alloc(size), 8), size) }},
	{"delete_type_size_mismatch", 0, func(r *room, _ int) string {
		alloc.Free(r.a, (*[9]uint64)(unsafe.Pointer(made[byte](r)))) // Safe because it is not followed.
		return ""
	}},
	{"invalid_array_delete_char", 0, asSlice[byte]},
	{"invalid_array_delete_string", 0, asSlice[text]},
	{"invalid_delete_array_char", 0, asValue[byte]},
	{"invalid_delete_array_string", 0, asValue[text]},
	{"write_after_free", 0, func(r *room, size int) string {
		r.write(r.freed(size), size)
		return ""
	}},
	{"write_after_free_reuse", 0, func(r *room, size int) string {
		r.write(r.freed(size), size)
		r.churn(size, 2048) // of the smallest, about 1 MiB with their zones: a quarantine
		return ""
	}},
	{"realloc_reuse", 0, func(r *room, size int) string {
		p := r.alloc(size)
		q := r.alloc(4 * size)
		copy(bytesOf(q, size), bytesOf(p, size))
		r.free(p, size)
		r.alloc(size) // where p was, if that is reused
		r.write(p, size)
		return ""
	}},
	{"malloc_reuse", 0, func(r *room, size int) string { return r.unless(r.freed(size) == r.alloc(size)) }},
	{"malloc_reuse_downsize", 0, func(r *room, size int) string {
		return r.unless(r.freed(size) == r.alloc(size/2))
	}},
	{"zero_after_free", 0, func(r *room, size int) string {
		return r.unless(bytes.IndexByte(bytesOf(r.freed(size), size), 'A') >= 0)
	}},
	{"zero_on_malloc", 0, func(r *room, size int) string {
		var all []unsafe.Pointer
		for range min(256, 4<<20/size) {
			all = append(all, r.alloc(size))
			r.write(all[len(all)-1], size)
		}
		for _, p := range all {
			r.free(p, size)
		}
		return r.unless(bytes.IndexByte(bytesOf(r.alloc(size), size), 'A') >= 0)
	}},
	{"executable_heap", 0, func(r *room, size int) string { return r.unless(executable(r.t, r.alloc(size))) }},
	{"impossibly_large_malloc", 0, func(r *room, _ int) string {
		if _, err := r.a.Alloc(math.MaxInt-1, 1); err != nil {
			return "error"
		}
		return ""
	}},
}

func overflow(n int) func(r *room, size int) string {
	return func(r *room, size int) string {
		p := r.alloc(size)
		poke(p, size-1+n)
		return r.free(p, size)
	}
}

func copyOverflow(n int) func(r *room, size int) string {
	return func(r *room, size int) string {
		copy(bytesOf(r.alloc(size), size+n), make([]byte, size+n))
		return ""
	}
}

func underflow(n int) func(r *room, size int) string {
	return func(r *room, size int) string {
		p := r.alloc(size)
		poke(p, -n)
		return r.free(p, size)
	}
}

func copyUnderflow(n int) func(r *room, size int) string {
	return func(r *room, size int) string {
		// Safe because the memory n bytes in front is the room's, or faults.
		copy(bytesOf(unsafe.Add(r.alloc(size), -n), size), make([]byte, size))
		return ""
	}
}

// text is as large as a std::string.
type text [32]byte

// made is a value of its own.
func made[T any](r *room) *T {
	v, err := alloc.New[T](r.a)
	require.NoError(r.t, err)
	return v
}

// asSlice frees one value as a slice of 4,096, asValue the other way round.
func asSlice[T any](r *room, _ int) string {
	// Safe because the memory behind the value is the room's, or is not followed.
	alloc.FreeSlice(r.a, unsafe.Slice(made[T](r), 4096))
	return ""
}

func asValue[T any](r *room, _ int) string {
	s, err := alloc.MakeSlice[T](r.a, 4096, 4096)
	require.NoError(r.t, err)
	alloc.Free(r.a, &s[0])
	return ""
}

// alloc returns a block of bytes. Its alignment is 1, so that no slack is behind it.
func (r *room) alloc(size int) unsafe.Pointer {
	p, err := r.a.Alloc(size, 1)
	require.NoError(r.t, err)
	return p
}

func (r *room) free(p unsafe.Pointer, size int) string {
	r.a.FreeSized(p, size, 1)
	return ""
}

// freed returns where a block full of 'A' was.
func (r *room) freed(size int) unsafe.Pointer {
	p := r.alloc(size)
	r.write(p, size)
	r.free(p, size)
	return p
}

func (r *room) write(p unsafe.Pointer, size int) {
	for i := range bytesOf(p, size) {
		bytesOf(p, size)[i] = 'A'
	}
}

// churn allocates and frees n others.
func (r *room) churn(size, n int) {
	for range n {
		r.free(r.alloc(size), size)
	}
}

// read reads the first byte.
func (r *room) read(p unsafe.Pointer) unsafe.Pointer {
	r.seen += int(bytesOf(p, 1)[0])
	return p
}

func (r *room) keep(p unsafe.Pointer) string {
	r.read(p)
	return ""
}

// unless is what a case returns that an allocator can make harmless.
func (r *room) unless(harm bool) string {
	if harm {
		return ""
	}
	return "prevented"
}

// hidden makes the compiler leave what p points to on the stack.
//
//go:noinline
func hidden(p unsafe.Pointer) unsafe.Pointer {
	at := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at)) // Safe because nobody follows it.
}

// executable reports whether the memory at p can be executed.
func executable(t *testing.T, p unsafe.Pointer) bool {
	if runtime.GOOS != "linux" {
		t.Skip("who may execute what is looked up in /proc/self/maps")
	}
	text, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var from, to uintptr
		var access string
		n, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		if from <= uintptr(p) && uintptr(p) < to {
			require.Equal(t, "rw", access[:2])
			return access[2] == 'x'
		}
	}
	t.Fatalf("%p is in no mapping", p)
	return true
}

// misuseSizes are those of the originals: small, a page, large.
func misuseSizes() []int { return []int{8, mmap.PageSize(), 64 * mmap.PageSize()} }
