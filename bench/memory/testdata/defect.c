// A malloc that is wrong, for the tests of the program in program/peer.c: TWICE hands out each block
// of a size twice, FORGETS does not keep the contents in realloc, DIRTY has no zeros in calloc. Nothing is
// ever taken back.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *next, *end;

static void *carve(size_t size, size_t align) {
	if (next == NULL) {
		size_t room = (size_t)4 << 30;
		next = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		end = next + room;
	}
	uint8_t *p = next + (-(uintptr_t)next & (align - 1));
	if (p + size > end) return NULL;
	next = p + size;
	return p;
}

void *malloc(size_t size) {
#ifdef TWICE
	static void *last;
	static size_t room;
	if (last != NULL && size <= room) {
		void *p = last;
		last = NULL;
		return p;
	}
	room = size;
	return last = carve(size, 16);
#else
	return carve(size, 16);
#endif
}

void *calloc(size_t n, size_t size) {
	void *p = carve(n * size, 16);
#ifdef DIRTY
	if (p != NULL) memset(p, 1, n * size);
#endif
	return p;
}

void *realloc(void *p, size_t size) {
	void *q = carve(size, 16);
#ifndef FORGETS
	if (p != NULL && q != NULL) memmove(q, p, size); // too much is read, but from this mapping
#endif
	return q;
}

int posix_memalign(void **p, size_t align, size_t size) { return (*p = carve(size, align)) == NULL ? ENOMEM : 0; }
void free(void *p) { (void)p; }
