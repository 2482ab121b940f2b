// What bench/memory does in Go, on the malloc of C: whichever is preloaded, or a null allocator. One
// run does one thing, prints one JSON object (fields as sample in env.go) and exits with 0; it exits
// with 2 and a line on standard error if it could not. Linux only.
//
//	peer who                                         where malloc comes from
//	peer [-null] trace CALLS NS                      time of passes; CALLS is written by calls.go
//	peer footprint CALLS                             utilisation
//	peer fragment LEAST MOST TOTAL SEED WAIT_MS      WAIT_MS 0: trim
//	peer huge SIZE BLOCKS PAIRS NS
//	peer count SIZE MOST RESIDENT NS
//	peer growth FIRST BYTES NS
//	peer larson THREADS SLOTS REPLACEMENTS NS
//	peer xmalloc PAIRS LOADS LOAD NS                 half of the threads produce
//	peer mstress THREADS STEPS NS
//
// Books lie in mappings of their own, not in the memory that is measured. Calls go through pointers
// to functions, as those of the Go side go through an interface.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, ALIGN_PROMISED = 16, MORE = 1024 };

static void fail(const char *format, ...) {
	va_list list;
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(2);
}

// What the program found. In more are the workload's own figures, as JSON.
static struct {
	char wrong[200], more[MORE];
	double ns;
	long ops;
} out;

static void wrong(const char *format, ...) {
	va_list list;
	va_start(list, format);
	if (out.wrong[0] == 0) vsnprintf(out.wrong, sizeof out.wrong, format, list);
	va_end(list);
}

static void more(const char *name, double v) {
	size_t n = strlen(out.more);
	snprintf(out.more + n, MORE - n, "%s\"%s\":%.9g", n > 0 ? "," : "", name, v);
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// field finds a line "NAME   123 kB" in a file of procfs and returns bytes, -1 if there is none. It
// uses no memory of malloc's.
static int64_t field(const char *path, const char *name) {
	static char text[1 << 14];
	int f = open(path, O_RDONLY | O_CLOEXEC);
	if (f < 0) return -1;
	ssize_t n = 0, got;
	while ((got = read(f, text + n, sizeof text - 1 - n)) > 0) n += got;
	close(f);
	text[n] = 0;
	const char *line = strstr(text, name);
	return line == NULL ? -1 : strtoll(line + strlen(name), NULL, 10) << 10;
}

static int64_t resident(void) {
	int64_t n = field("/proc/self/smaps_rollup", "Rss:");
	return n >= 0 ? n : field("/proc/self/status", "VmRSS:");
}

static int64_t peak(void) { return field("/proc/self/status", "VmHWM:"); }

static void grown(const char *name, int64_t base, double unit) {
	int64_t n = resident();
	if (base >= 0 && n >= 0) more(name, (n - base) / unit);
}

// books is memory that malloc does not know, written so that it is resident.
static void *books(size_t bytes) {
	void *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) fail("mmap of %zu bytes: %s", bytes, strerror(errno));
	memset(p, 1, bytes);
	memset(p, 0, bytes);
	return p;
}

// Tags and marks are those of memory.go.
static uint8_t tag_of(uint32_t n) { return n * 0x9e3779b1u >> 24; }
static uint8_t solid(uint32_t n) { return tag_of(n) | 1; }

static void mark(uint8_t *p, size_t size, uint8_t tag) {
	if (size > 0) {
		p[size - 1] = ~tag;
		p[0] = tag;
	}
}

static bool marked(const uint8_t *p, size_t size, uint8_t tag) {
	return size == 0 || (p[0] == tag && (size == 1 || (p[size - 1] ^ tag) == 0xff));
}

// all reports whether a block has one value in all bytes.
static bool all(const uint8_t *p, size_t size, uint8_t tag) {
	return size == 0 || (p[0] == tag && memcmp(p, p + 1, size - 1) == 0);
}

// The allocators. align 0 is what malloc promises; zero asks for zeros.
struct allocator {
	void *(*alloc)(size_t size, size_t align, bool zero);
	void *(*resize)(void *p, size_t old, size_t size);
	void (*release)(void *p, size_t size, size_t align);
};

static void *libc_alloc(size_t size, size_t align, bool zero) {
	void *p = NULL;
	if (zero) return calloc(size > 0 ? size : 1, 1);
	if (align <= ALIGN_PROMISED) return malloc(size > 0 ? size : 1);
	return posix_memalign(&p, align, size > 0 ? size : 1) == 0 ? p : NULL;
}

static void *libc_resize(void *p, size_t old, size_t size) {
	(void)old;
	return realloc(p, size > 0 ? size : 1);
}

static void libc_release(void *p, size_t size, size_t align) {
	(void)size, (void)align;
	free(p);
}

static const struct allocator libc = {libc_alloc, libc_resize, libc_release};

// The null allocator hands out places that were made before, by stacks for each power of two, as
// null.go does.
enum { CLASSES = 40, ALIGN_CLASSES = 21 };

static struct stack {
	void **places;
	size_t n, room;
} stacks[ALIGN_CLASSES][CLASSES];

static int log2_up(size_t n) { return n <= 1 ? 0 : 64 - __builtin_clzll(n - 1); }

static struct stack *place(size_t size, size_t align) {
	return &stacks[align > 16 ? log2_up(align) : 0][log2_up(size > 16 ? size : 16)];
}

static void *null_alloc(size_t size, size_t align, bool zero) {
	struct stack *s = place(size, align);
	void *p = s->n > 0 ? s->places[--s->n] : libc_alloc((size_t)1 << (s - place(1, align) + 4), align, false);
	if (zero && p != NULL) memset(p, 0, size);
	return p;
}

static void null_release(void *p, size_t size, size_t align) {
	struct stack *s = place(size, align);
	if (s->n == s->room) {
		s->room = s->room > 0 ? 2 * s->room : 64;
		s->places = realloc(s->places, s->room * sizeof *s->places);
		if (s->places == NULL) fail("no memory for the null allocator");
	}
	s->places[s->n++] = p;
}

static void *null_resize(void *p, size_t old, size_t size) {
	if (place(old, 0) == place(size, 0)) return p;
	void *q = null_alloc(size, 0, false);
	if (q == NULL) return NULL;
	memcpy(q, p, old < size ? old : size);
	null_release(p, old, 0);
	return q;
}

static const struct allocator null = {null_alloc, null_resize, null_release};

static const struct allocator *with = &libc;

static void *get(size_t size) {
	void *p = with->alloc(size, 0, false);
	if (p == NULL) fail("malloc refused %zu bytes", size);
	return p;
}

// trim tells the allocator to give back what it can, in the words of whichever is loaded.
static bool trim(void) {
	void (*mi_collect)(bool) = (void (*)(bool))dlsym(RTLD_DEFAULT, "mi_collect");
	int (*mallctl)(const char *, void *, size_t *, void *, size_t) =
		(int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
	void (*release)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
	int (*malloc_trim)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "malloc_trim");
	if (mi_collect != NULL) {
		mi_collect(true);
	} else if (mallctl != NULL) {
		mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
		mallctl("arena.4096.purge", NULL, NULL, NULL, 0); // 4096 stands for all arenas
	} else if (release != NULL) {
		release();
	} else if (malloc_trim != NULL) {
		malloc_trim(0);
	} else {
		return false;
	}
	return true;
}

// A trace, as calls.go writes it.
struct header {
	char magic[8];
	int64_t calls, slots, peak_at, peak;
};

struct call {
	int32_t size;
	uint32_t slot;
	int32_t align;
	uint8_t effect, zeroed;
	uint16_t unused;
};

enum { GET = 1, RESIZE = 2, DROP = 3 };

struct live {
	uint8_t *p;
	int32_t size, align;
};

struct trace {
	const struct header *h;
	const struct call *calls;
	struct live *blocks;
};

static struct trace read_trace(const char *path) {
	struct trace t;
	struct stat s;
	int f = open(path, O_RDONLY | O_CLOEXEC);
	if (f < 0 || fstat(f, &s) != 0) fail("%s: %s", path, strerror(errno));
	const uint8_t *p = mmap(NULL, s.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, f, 0);
	if (p == MAP_FAILED) fail("%s: %s", path, strerror(errno));
	close(f);
	t.h = (const struct header *)p;
	if (s.st_size < (off_t)sizeof *t.h || memcmp(t.h->magic, "QUARRY01", 8) != 0 ||
		s.st_size != (off_t)(sizeof *t.h + t.h->calls * sizeof(struct call)))
		fail("%s: not a file of calls", path);
	t.calls = (const struct call *)(t.h + 1);
	t.blocks = books(t.h->slots * sizeof *t.blocks);
	return t;
}

static bool damaged(const struct live *b) {
	wrong("a block of %d bytes is not as it was marked: %#04x .. %#04x", b->size, b->p[0], b->p[b->size - 1]);
	return false;
}

// resized is realloc; a block with an alignment of its own is allocated anew.
static uint8_t *resized(struct live *b, size_t size) {
	if (b->align == 0) return with->resize(b->p, b->size, size);
	uint8_t *p = with->alloc(size, 0, false);
	if (p == NULL) return NULL;
	memcpy(p, b->p, (size_t)b->size < size ? (size_t)b->size : size);
	with->release(b->p, b->size, b->align);
	b->align = 0;
	return p;
}

// replay makes the calls from first to last - 1; with whole, every byte is written. It returns false
// if a byte was not as written.
static bool replay(struct trace t, int64_t first, int64_t last, bool whole) {
	for (int64_t i = first; i < last; i++) {
		const struct call *c = &t.calls[i];
		struct live *b = &t.blocks[c->slot];
		uint8_t tag = tag_of(c->slot), *p;
		if (c->effect != GET && !marked(b->p, b->size, tag)) return damaged(b);
		if (c->effect == DROP) {
			with->release(b->p, b->size, b->align);
			b->p = NULL;
			continue;
		}
		if (c->effect == GET) {
			p = with->alloc(c->size, c->align, c->zeroed);
			b->align = c->align;
		} else {
			p = resized(b, c->size);
			if (p != NULL && c->size > 0 && b->size > 0 && p[0] != tag) {
				wrong("byte 0 of %d is %#04x after realloc, want %#04x", c->size, p[0], tag);
				return false;
			}
		}
		if (p == NULL) fail("malloc refused %d bytes", c->size);
		if (c->zeroed && c->size > 0 && (p[0] != 0 || p[c->size - 1] != 0)) {
			wrong("a block of %d bytes from calloc is not zero", c->size);
			return false;
		}
		b->p = p;
		b->size = c->size;
		if (whole) memset(p, tag, c->size);
		mark(p, c->size, tag);
	}
	return true;
}

static bool drain(struct trace t) {
	for (int64_t i = 0; i < t.h->slots; i++) {
		struct live *b = &t.blocks[i];
		if (b->p == NULL) continue;
		if (!marked(b->p, b->size, tag_of(i))) return damaged(b);
		with->release(b->p, b->size, b->align);
		b->p = NULL;
	}
	return true;
}

// timed repeats the trace for so long, after a pass that does not count; ns/op is the best pass's.
static void timed(const char *path, int64_t budget) {
	struct trace t = read_trace(path);
	int64_t spent = 0, end = 0;
	for (int pass = 0; pass < 2 || (spent < budget && now() < end); pass++) {
		int64_t from = now();
		if (!replay(t, 0, t.h->calls, false)) return;
		int64_t took = now() - from;
		if (!drain(t)) return;
		if (pass == 0) {
			end = now() + 3 * budget;
			more("first_ns", (double)took / t.h->calls);
			continue;
		}
		spent += took;
		out.ops += t.h->calls;
		double ns = (double)took / t.h->calls;
		if (out.ns == 0 || ns < out.ns) out.ns = ns;
	}
}

static void footprint(const char *path) {
	struct trace t = read_trace(path);
	int64_t base = resident();
	if (!replay(t, 0, t.h->peak_at + 1, true)) return;
	int64_t n = resident() - base;
	if (base >= 0 && n > 0) {
		more("utilisation", (double)t.h->peak / n);
		more("grown", n);
	}
	more("peak_live_bytes", t.h->peak);
	if (replay(t, t.h->peak_at + 1, t.h->calls, true)) drain(t);
}

// below returns a number from 0 to n - 1, as draws in fragment.go.
static uint64_t state;

static uint64_t below(uint64_t n) {
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % n;
}

struct piece {
	uint8_t *p;
	uint32_t size, order;
};

// rest lets time pass, with a small block now and then.
static void rest(int64_t ns) {
	for (int64_t end = now() + ns; now() < end;) {
		volatile uint8_t *p = get(64);
		p[0] = 1;
		with->release((void *)p, 64, 0);
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

static void fragment(uint64_t least, uint64_t most, uint64_t total, uint64_t seed, int64_t wait_ms) {
	uint32_t n = 0;
	double live = 0;
	state = seed;
	for (uint64_t sum = 0; sum < total; n++) sum += least + below(most - least + 1);
	struct piece *list = books(n * sizeof *list);
	state = seed;
	for (uint32_t i = 0; i < n; i++) list[i] = (struct piece){.size = least + below(most - least + 1), .order = i};
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = below(i + 1), other = list[i].order;
		list[i].order = list[j].order;
		list[j].order = other;
	}
	int64_t base = resident(), from = now();
	for (uint32_t i = 0; i < n; i++) {
		list[i].p = get(list[i].size);
		memset(list[i].p, solid(i), list[i].size);
	}
	uint32_t doomed = n - n / 10;
	for (uint32_t i = 0; i < doomed; i++) {
		struct piece *b = &list[list[i].order];
		with->release(b->p, b->size, 0);
	}
	out.ops = n;
	out.ns = (double)(now() - from) / n;
	if (wait_ms > 0) {
		rest(wait_ms * 1000000);
		grown("itself_mb", base, 1e6);
	} else {
		grown("at_once_mb", base, 1e6);
		from = now();
		if (trim()) {
			more("trim_ms", (now() - from) / 1e6);
			grown("trimmed_mb", base, 1e6);
		}
	}
	for (uint32_t i = doomed; i < n; i++) {
		struct piece *b = &list[list[i].order];
		if (!all(b->p, b->size, solid(list[i].order))) wrong("block %u of %u bytes is not as written", list[i].order, b->size);
		live += b->size;
		with->release(b->p, b->size, 0);
	}
	more("live_mb", live / 1e6);
	if (wait_ms > 0) {
		rest(wait_ms * 1000000);
		grown("left_itself_mb", base, 1e6);
	} else if (trim()) {
		grown("left_mb", base, 1e6);
	}
}

static void huge(size_t size, size_t blocks, size_t pairs, int64_t budget) {
	uint8_t **list = books(blocks * sizeof *list);
	int64_t base = resident(), spent = 0;
	for (size_t i = 0; i < blocks; i++) {
		list[i] = get(size);
		memset(list[i], solid(i), size);
	}
	grown("rss_per_byte", base, (double)blocks * size);
	for (size_t i = 0; i < blocks; i++)
		if (!all(list[i], size, solid(i))) wrong("block %zu of %zu bytes is not as written", i, size);
	for (size_t i = 0; i < blocks; i++) with->release(list[i], size, 0);
	for (int pass = 0; pass < 2 || spent < budget; pass++) {
		int64_t from = now();
		for (size_t i = 0; i < pairs; i++) {
			volatile uint8_t *p = get(size);
			p[size - 1] = i;
			with->release((void *)p, size, 0);
		}
		if (pass > 0) spent += now() - from, out.ops += pairs;
	}
	out.ns = (double)spent / out.ops;
}

static void count(size_t size, size_t most, int64_t bound, int64_t budget) {
	uint8_t **list = books(most * sizeof *list);
	int64_t base = resident(), from = now();
	size_t n = 0;
	bool refused = false;
	for (; n < most && now() - from < budget; n++) {
		if (n % 256 == 0 && resident() - base > bound) break;
		if ((refused = (list[n] = with->alloc(size, 0, false)) == NULL)) break;
		list[n][0] = tag_of(n);
	}
	if (refused) more("refused", 1);
	else if (n < most) more("stopped", 1);
	out.ops = n > 0 ? n : 1;
	out.ns = (double)(now() - from) / out.ops;
	more("live_blocks", n);
	for (size_t i = 0; i < n; i++)
		if (list[i][0] != tag_of(i)) wrong("block %zu of %zu is %#04x", i, n, list[i][0]);
	for (size_t i = 0; i < n; i++) with->release(list[i], size, 0);
}

static size_t grown_from(size_t room, size_t most) { return room + room / 4 < most ? room + room / 4 : most; }

static void growth(size_t first, size_t bytes, int64_t budget) {
	int64_t base = resident(), before = peak(), spent = 0;
	for (int pass = 0; pass < 2 || spent < budget; pass++) {
		int64_t from = now();
		size_t room = first < bytes ? first : bytes;
		int moves = 0;
		uint8_t *p = get(room);
		memset(p, solid(0), room);
		for (int step = 1; room < bytes; step++) {
			size_t next = grown_from(room, bytes);
			uintptr_t was = (uintptr_t)p;
			if ((p = with->resize(p, room, next)) == NULL) fail("realloc refused %zu bytes", next);
			if ((uintptr_t)p != was) moves++;
			memset(p + room, solid(step), next - room);
			room = next;
		}
		if (pass > 0) {
			spent += now() - from;
			out.ops++;
		} else {
			int64_t most = peak();
			more("moves", moves);
			if (base >= 0 && most > before) more("peak_per_byte", (double)(most - base) / bytes);
			size_t at = 0, end = first < bytes ? first : bytes;
			for (int step = 0; at < bytes; step++) {
				if (!all(p + at, end - at, solid(step))) wrong("bytes from %zu on are not as written", at);
				at = end;
				end = grown_from(end, bytes);
			}
		}
		with->release(p, bytes, 0);
	}
	out.ns = (double)spent / out.ops;
	more("ms", out.ns / 1e6);
}

// Threads: larson, xmalloc and mstress as in larson.go, xmalloc.go and mstress.go. A worker has
// random numbers of its own.
struct worker {
	pthread_t thread;
	uint64_t state, index;
	void *of;
	long got;
};

static uint64_t draw(struct worker *w, uint64_t n) {
	uint64_t z = w->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % n;
}

// launch starts a thread for each worker; join waits for all.
static void launch(struct worker *list, size_t n, void *(*run)(void *), void *of, uint64_t seed) {
	for (size_t i = 0; i < n; i++) {
		list[i] = (struct worker){.state = seed * 1000003 + i, .index = i, .of = of};
		if (pthread_create(&list[i].thread, NULL, run, &list[i]) != 0) fail("no thread");
	}
}

static long join(struct worker *list, size_t n) {
	long got = 0;
	for (size_t i = 0; i < n; i++) {
		pthread_join(list[i].thread, NULL);
		got += list[i].got;
	}
	return got;
}

struct slot {
	uint8_t *p;
	uint32_t size;
	uint8_t tag;
};

struct larson {
	struct slot *slots; // of all threads, one array behind the other
	size_t each, replacements;
};

static void slot_fill(struct slot *s, struct worker *w, uint8_t tag) {
	*s = (struct slot){.size = 8 + draw(w, 993), .tag = tag};
	s->p = get(s->size);
	mark(s->p, s->size, tag);
}

static void *larson_run(void *arg) {
	struct worker *w = arg;
	struct larson *l = w->of;
	struct slot *array = l->slots + w->index * l->each;
	for (size_t i = 0; i < l->replacements; i++) {
		struct slot *s = &array[draw(w, l->each)];
		if (!marked(s->p, s->size, s->tag)) wrong("a block of %u bytes is not as it was marked", s->size);
		with->release(s->p, s->size, 0);
		slot_fill(s, w, i);
	}
	w->got = l->replacements;
	return NULL;
}

static void larson(size_t threads, size_t each, size_t replacements, int64_t budget) {
	struct larson l = {books(threads * each * sizeof(struct slot)), each, replacements};
	struct worker *list = books(threads * sizeof *list), first = {.state = 1998};
	for (size_t i = 0; i < threads * each; i++) slot_fill(&l.slots[i], &first, tag_of(i));
	int64_t spent = 0;
	for (int pass = 0; pass < 2 || spent < budget; pass++) {
		int64_t from = now();
		long ops = 0;
		for (int generation = 0; generation < 2; generation++) {
			launch(list, threads, larson_run, &l, pass * 2 + generation + 1);
			ops += join(list, threads);
		}
		if (pass > 0) spent += now() - from, out.ops += ops;
	}
	out.ns = (double)spent / out.ops;
	for (size_t i = 0; i < threads * each; i++) with->release(l.slots[i].p, l.slots[i].size, 0);
}

enum { QUEUE = 100, XMALLOC = 64 };

// Parcels wait in a ring.
struct xmalloc {
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	size_t pairs, loads, load, head, waiting, producers;
	uint8_t ***full, ***empty; // empty: lists to use again
	size_t empties;
	_Atomic uint64_t sum;
};

static void *xmalloc_make(void *arg) {
	struct worker *w = arg;
	struct xmalloc *x = w->of;
	uint64_t number = w->index * x->loads * x->load;
	for (size_t i = 0; i < x->loads; i++) {
		pthread_mutex_lock(&x->lock);
		uint8_t **list = x->empties > 0 ? x->empty[--x->empties] : NULL;
		pthread_mutex_unlock(&x->lock);
		if (list == NULL) list = books(x->load * sizeof *list);
		for (size_t j = 0; j < x->load; j++) {
			list[j] = get(XMALLOC);
			memcpy(list[j], &number, sizeof number);
			list[j][XMALLOC - 1] = number++;
		}
		pthread_mutex_lock(&x->lock);
		while (x->waiting == QUEUE) pthread_cond_wait(&x->less, &x->lock);
		x->full[(x->head + x->waiting++) % QUEUE] = list;
		pthread_cond_signal(&x->more);
		pthread_mutex_unlock(&x->lock);
	}
	pthread_mutex_lock(&x->lock);
	x->producers--;
	pthread_cond_broadcast(&x->more);
	pthread_mutex_unlock(&x->lock);
	w->got = x->loads * x->load;
	return NULL;
}

static void *xmalloc_free(void *arg) {
	struct worker *w = arg;
	struct xmalloc *x = w->of;
	for (uint64_t sum = 0;;) {
		pthread_mutex_lock(&x->lock);
		while (x->waiting == 0 && x->producers > 0) pthread_cond_wait(&x->more, &x->lock);
		if (x->waiting == 0) {
			pthread_mutex_unlock(&x->lock);
			x->sum += sum;
			return NULL;
		}
		uint8_t **list = x->full[x->head];
		x->head = (x->head + 1) % QUEUE;
		x->waiting--;
		pthread_cond_signal(&x->less);
		pthread_mutex_unlock(&x->lock);
		for (size_t j = 0; j < x->load; j++) {
			uint64_t number;
			memcpy(&number, list[j], sizeof number);
			if (list[j][XMALLOC - 1] != (uint8_t)number) wrong("block %llu", (unsigned long long)number);
			sum += number;
			with->release(list[j], XMALLOC, 0);
		}
		pthread_mutex_lock(&x->lock);
		x->empty[x->empties++] = list;
		pthread_mutex_unlock(&x->lock);
	}
}

static void xmalloc(size_t pairs, size_t loads, size_t load, int64_t budget) {
	struct worker *makers = books(pairs * sizeof *makers), *freers = books(pairs * sizeof *freers);
	uint8_t ***full = books(QUEUE * sizeof *full), ***empty = books((QUEUE + 2 * pairs) * sizeof *empty);
	size_t empties = 0;
	int64_t spent = 0;
	for (int pass = 0; pass < 2 || spent < budget; pass++) {
		struct xmalloc x = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
			.pairs = pairs, .loads = loads, .load = load, .producers = pairs, .full = full,
			.empty = empty, .empties = empties};
		int64_t from = now();
		launch(makers, pairs, xmalloc_make, &x, 1);
		launch(freers, pairs, xmalloc_free, &x, 2);
		uint64_t n = join(makers, pairs);
		join(freers, pairs);
		empties = x.empties;
		if (pass > 0) spent += now() - from, out.ops += n;
		if (x.sum != n * (n - 1) / 2) wrong("numbers of %llu blocks add up to %llu", (unsigned long long)n,
			(unsigned long long)x.sum);
	}
	out.ns = (double)spent / out.ops;
}

enum { SHARED = 1000 };

struct mstress {
	_Atomic(uint8_t *) shared[SHARED];
	size_t steps;
	uint8_t **live; // steps places for each thread
};

static void drop_sized(uint8_t *p) {
	uint64_t size;
	memcpy(&size, p, sizeof size);
	if (size < 8 || size > 128000 || (size > 8 && p[size - 1] != (uint8_t)size))
		wrong("a block of %llu bytes", (unsigned long long)size);
	with->release(p, size, 0);
}

static void *mstress_run(void *arg) {
	struct worker *w = arg;
	struct mstress *m = w->of;
	uint8_t **live = m->live + w->index * m->steps;
	size_t n = 0;
	for (size_t i = 0; i < m->steps; i++) {
		uint64_t step = draw(w, 100);
		if (step < 50 || n == 0) {
			uint64_t size = 8 * (1 + draw(w, 16)), big = draw(w, 1000);
			if (big == 0) size *= 1000;
			else if (big <= 10) size *= 100;
			uint8_t *p = live[n++] = get(size);
			memcpy(p, &size, sizeof size);
			if (size > 8) p[size - 1] = size;
			w->got++;
		} else if (step < 80) {
			size_t j = draw(w, n);
			drop_sized(live[j]);
			live[j] = live[--n];
		} else {
			size_t j = draw(w, n);
			uint8_t *p = atomic_exchange(&m->shared[draw(w, SHARED)], live[j]);
			live[j] = p != NULL ? p : live[--n];
		}
	}
	while (n > 0) drop_sized(live[--n]);
	return NULL;
}

static void mstress(size_t threads, size_t steps, int64_t budget) {
	struct mstress *m = books(sizeof *m);
	struct worker *list = books(threads * sizeof *list);
	m->steps = steps;
	m->live = books(threads * steps * sizeof *m->live);
	int64_t spent = 0;
	for (int pass = 0; pass < 2 || spent < budget; pass++) {
		int64_t from = now();
		launch(list, threads, mstress_run, m, pass + 1);
		long got = join(list, threads);
		if (pass > 0) spent += now() - from, out.ops += got;
	}
	out.ns = (double)spent / out.ops;
	for (size_t i = 0; i < SHARED; i++)
		if (m->shared[i] != NULL) drop_sized(m->shared[i]);
}

// library is the file that malloc comes from.
static const char *library(void) {
	Dl_info info;
	void *f = dlsym(RTLD_DEFAULT, "malloc");
	return f != NULL && dladdr(f, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

static void print(int64_t minor, int64_t major) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	printf("{\"library\":\"%s\",\"ns_per_op\":%.9g,\"ops\":%ld,\"peak_rss\":%lld,\"end_rss\":%lld,"
		"\"committed_peak\":-1,\"committed_end\":-1,\"go_allocs\":-1,\"minor_faults\":%lld,\"major_faults\":%lld,"
		"\"more\":{%s}",
		library(), out.ns, out.ops, (long long)peak(), (long long)resident(),
		(long long)u.ru_minflt - minor, (long long)u.ru_majflt - major, out.more);
	if (out.wrong[0] != 0) printf(",\"wrong\":\"wrong answer: %s\"", out.wrong);
	puts("}");
}

int main(int argc, char **argv) {
	if (argc > 1 && strcmp(argv[1], "-null") == 0) {
		with = &null;
		argc--, argv++;
	}
	const char *what = argc > 1 ? argv[1] : "";
	int64_t n[5] = {0};
	for (int i = 2; i < argc && i < 7; i++) n[i - 2] = strtoll(argv[i], NULL, 10);
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	if (strcmp(what, "trace") == 0 && argc == 4) timed(argv[2], n[1]);
	else if (strcmp(what, "footprint") == 0 && argc == 3) footprint(argv[2]);
	else if (strcmp(what, "fragment") == 0 && argc == 7) fragment(n[0], n[1], n[2], n[3], n[4]);
	else if (strcmp(what, "huge") == 0 && argc == 6) huge(n[0], n[1], n[2], n[3]);
	else if (strcmp(what, "count") == 0 && argc == 6) count(n[0], n[1], n[2], n[3]);
	else if (strcmp(what, "growth") == 0 && argc == 5) growth(n[0], n[1], n[2]);
	else if (strcmp(what, "larson") == 0 && argc == 6) larson(n[0], n[1], n[2], n[3]);
	else if (strcmp(what, "xmalloc") == 0 && argc == 6) xmalloc(n[0], n[1], n[2], n[3]);
	else if (strcmp(what, "mstress") == 0 && argc == 5) mstress(n[0], n[1], n[2]);
	else if (strcmp(what, "who") != 0) fail("bad arguments");
	print(u.ru_minflt, u.ru_majflt);
	return 0;
}
