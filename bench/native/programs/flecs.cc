// flecs by its C interface: tables, cached queries, prefabs, components that are toggled.
#include "tree.h"
#include <flecs.h>

std::string version() { return std::string("flecs ") + FLECS_VERSION; }

struct World : Trial {
	ecs_world_t *w = ecs_mini();
	ecs_entity_t pos = component<Position>("Position"), vel = component<Velocity>("Velocity");
	ecs_entity_t c1 = component<C1>("C1"), c2 = component<C2>("C2"), c3 = component<C3>("C3");
	std::vector<ecs_entity_t> list;
	double got = 0;

	World() = default;
	World(const World &) = delete;
	~World() override { ecs_fini(w); }
	double sum() override { return got; }

	template <class T> ecs_entity_t component(const char *name) {
		ecs_entity_desc_t e{};
		e.name = name;
		e.use_low_id = true;
		ecs_component_desc_t d{};
		d.entity = ecs_entity_init(w, &e);
		d.type.size = sizeof(T);
		d.type.alignment = alignof(T);
		return ecs_component_init(w, &d);
	}

	ecs_table_t *table(std::initializer_list<ecs_id_t> ids) {
		ecs_table_t *t = nullptr;
		for (auto id : ids) t = ecs_table_add_id(w, t, id);
		return t;
	}

	ecs_query_t *query(std::initializer_list<ecs_id_t> ids) {
		ecs_query_desc_t d{};
		int i = 0;
		for (auto id : ids) d.terms[i++].id = id;
		d.cache_kind = EcsQueryCacheAuto;
		ecs_entity_desc_t e{}; // a query with an entity is cached
		d.entity = ecs_entity_init(w, &e);
		return ecs_query_init(w, &d);
	}

	template <class T> T *mut(ecs_entity_t e, ecs_id_t id) { return static_cast<T *>(ecs_get_mut_id(w, e, id)); }
	template <class T> const T *get(ecs_entity_t e, ecs_id_t id) { return static_cast<const T *>(ecs_get_id(w, e, id)); }
	template <class T> void set(ecs_entity_t e, ecs_id_t id, const T &v) { ecs_set_id(w, e, id, sizeof(T), &v); }

	// all calls f with the columns of every table of a query and their rows.
	template <class F> void all(ecs_query_t *q, F f) {
		ecs_iter_t it = ecs_query_iter(w, q);
		while (ecs_query_next(&it)) f(it);
	}
};

struct Placed : World {
	Placed(long n, bool velocity) {
		auto t = velocity ? table({pos, vel}) : table({pos});
		for (long i = 0; i < n; i++) {
			auto e = ecs_new_w_table(w, t);
			*mut<Position>(e, pos) = placeOf(i);
			if (velocity) *mut<Velocity>(e, vel) = velocityOf(i);
			list.push_back(e);
		}
		shuffled(list);
	}
};

struct Random : Placed {
	explicit Random(long n) : Placed(n, false) {}
	void pass() override {
		double s = 0;
		for (auto e : list)
			if (ecs_is_alive(w, e)) s += get<Position>(e, pos)->X;
		got += s;
	}
};

// Write does not say that it wrote (ecs_modified), which only a query for changes asks.
struct Write : Placed {
	explicit Write(long n) : Placed(n, false) {}
	void pass() override {
		for (auto e : list)
			if (ecs_is_alive(w, e))
				if (auto *p = mut<Position>(e, pos)) p->X += 1;
	}
	double sum() override {
		double s = 0;
		all(query({pos}), [&](ecs_iter_t &it) {
			auto *p = ecs_field(&it, Position, 0);
			for (int i = 0; i < it.count; i++) s += p[i].X;
		});
		return s;
	}
};

struct Two : Placed {
	explicit Two(long n) : Placed(n, true) {}
	void pass() override {
		double s = 0;
		for (auto e : list)
			if (ecs_is_alive(w, e)) s += get<Position>(e, pos)->X + get<Velocity>(e, vel)->Y;
		got += s;
	}
};

struct Make : World {
	long n;
	ecs_table_t *t;
	explicit Make(long n) : n(n), t(table({pos, vel})) {
		single = true;
		list.reserve(n);
	}
	void pass() override {
		for (long i = 0; i < n; i++) {
			auto e = ecs_new_w_table(w, t);
			*mut<Position>(e, pos) = placeOf(i);
			*mut<Velocity>(e, vel) = velocityOf(i);
			list.push_back(e);
		}
	}
	void restore() override {
		ecs_table_clear_entities(w, t); // the table stays, with its memory
		list.clear();
	}
	double sum() override {
		double s = 0;
		all(query({pos, vel}), [&](ecs_iter_t &it) {
			auto *p = ecs_field(&it, Position, 0);
			auto *v = ecs_field(&it, Velocity, 1);
			for (int i = 0; i < it.count; i++) s += sumOf(p[i]) + sumOf(v[i]);
		});
		return s;
	}
};

struct MakeBatch : Make {
	std::vector<Position> p;
	std::vector<Velocity> v;
	explicit MakeBatch(long n) : Make(n), p(n), v(n) {}
	void pass() override {
		for (long i = 0; i < n; i++) p[i] = placeOf(i), v[i] = velocityOf(i);
		void *data[] = {p.data(), v.data()};
		ecs_bulk_desc_t d{};
		d.count = int32_t(n);
		d.ids[0] = pos;
		d.ids[1] = vel;
		d.data = data;
		ecs_bulk_init(w, &d);
	}
};

struct AddRemove : World {
	explicit AddRemove(long n) {
		auto t = table({pos, c1, c2, c3, component<Extra<4>>("C4"), component<Extra<5>>("C5"), component<Extra<6>>("C6"),
			component<Extra<7>>("C7"), component<Extra<8>>("C8")});
		for (long i = 0; i < n; i++) {
			auto e = ecs_new_w_table(w, t);
			*mut<Position>(e, pos) = placeOf(i);
			list.push_back(e);
		}
		shuffled(list);
	}
	void pass() override {
		for (auto e : list) set(e, vel, Velocity{});
		for (auto e : list) ecs_remove_id(w, e, vel);
	}
	double sum() override {
		double s = 0;
		for (auto e : list)
			if (!ecs_has_id(w, e, vel)) s += get<Position>(e, pos)->X;
		return s;
	}
};

// Toggle switches a component off and on.
struct Toggle : World {
	ecs_query_t *q;
	explicit Toggle(long n) {
		ecs_add_id(w, c1, EcsCanToggle);
		auto t = table({pos, c1});
		for (long i = 0; i < n; i++) list.push_back(ecs_new_w_table(w, t));
		shuffled(list);
		q = query({c1});
	}
	void toggle(bool on) {
		for (auto e : list) ecs_enable_id(w, e, c1, on);
	}
	void pass() override {
		toggle(false);
		toggle(true);
	}
	double count() {
		double k = 0;
		all(q, [&](ecs_iter_t &it) { k += it.count; });
		return k;
	}
	double sum() override {
		double on = count();
		toggle(false);
		return on + 1000 * count();
	}
};

struct Prefab : World {
	long n;
	ecs_entity_t prefab;
	explicit Prefab(long n) : n(n) {
		single = true;
		prefab = ecs_new_w_id(w, EcsPrefab);
		set(prefab, pos, patternPosition);
		set(prefab, vel, patternVelocity);
		set(prefab, c1, patternC1);
		set(prefab, c2, patternC2);
		list.reserve(n);
	}
	void pass() override {
		for (long i = 0; i < n; i++) list.push_back(ecs_new_w_pair(w, EcsIsA, prefab));
	}
	void restore() override {
		ecs_delete_with(w, ecs_pair(EcsIsA, prefab));
		list.clear();
	}
	double sum() override {
		double s = 0;
		all(query({pos, vel, c1, c2}), [&](ecs_iter_t &it) {
			auto *p = ecs_field(&it, Position, 0);
			auto *v = ecs_field(&it, Velocity, 1);
			auto *a = ecs_field(&it, C1, 2);
			auto *b = ecs_field(&it, C2, 3);
			for (int i = 0; i < it.count; i++) s += sumOf(p[i]) + sumOf(v[i]) + sumOf(a[i]) + sumOf(b[i]);
		});
		return s;
	}
};

struct PrefabBatch : Prefab {
	using Prefab::Prefab;
	void pass() override { ecs_bulk_new_w_id(w, ecs_pair(EcsIsA, prefab), int32_t(n)); }
};

struct Moves : World {
	ecs_query_t *q;
	Moves(long n, long still, bool spread) {
		q = query({pos, vel});
		auto t = table({pos});
		for (long i = 0; i < still; i++) ecs_new_w_table(w, t);
		std::vector<ecs_id_t> extra{c1, c2, c3, component<Extra<4>>("C4"), component<Extra<5>>("C5"), component<Extra<6>>("C6"),
			component<Extra<7>>("C7"), component<Extra<8>>("C8")};
		std::vector<ecs_table_t *> tables;
		for (int mask = 0; mask < (spread ? 256 : 1); mask++) {
			t = table({pos, vel});
			for (int k = 0; k < 8; k++)
				if (mask >> k & 1) t = ecs_table_add_id(w, t, extra[size_t(k)]);
			tables.push_back(t);
		}
		for (long i = 0; i < n; i++) {
			auto e = ecs_new_w_table(w, tables[size_t(i) % tables.size()]);
			*mut<Position>(e, pos) = {0, 0};
			*mut<Velocity>(e, vel) = velocityOf(i);
		}
	}
	static void add(Position *__restrict p, const Velocity *__restrict v, int n) {
		for (int i = 0; i < n; i++) {
			p[i].X += v[i].X;
			p[i].Y += v[i].Y;
		}
	}
	void pass() override {
		all(q, [](ecs_iter_t &it) { add(ecs_field(&it, Position, 0), ecs_field(&it, Velocity, 1), it.count); });
	}
	double sum() override {
		double s = 0;
		all(q, [&](ecs_iter_t &it) {
			auto *p = ecs_field(&it, Position, 0);
			for (int i = 0; i < it.count; i++) s += sumOf(p[i]);
		});
		return s;
	}
};

// MovesTwo gives each thread a stage and half of the rows of each table.
struct MovesTwo : Moves {
	Helper helper;
	explicit MovesTwo(long n) : Moves(n, 0, false), helper([this] { half(1); }) { ecs_set_stage_count(w, 2); }
	void half(int k) {
		ecs_iter_t it = ecs_query_iter(ecs_get_stage(w, k), q), part = ecs_worker_iter(&it, k, 2);
		while (ecs_worker_next(&part)) add(ecs_field(&part, Position, 0), ecs_field(&part, Velocity, 1), part.count);
	}
	void pass() override {
		ecs_readonly_begin(w, true);
		helper.begin();
		half(0);
		helper.wait();
		ecs_readonly_end(w);
	}
};

struct Five : World {
	ecs_query_t *q;
	explicit Five(long n) {
		q = query({pos, vel, c1, c2, c3});
		auto t = table({pos, vel, c1, c2, c3});
		for (long i = 0; i < n; i++) {
			auto e = ecs_new_w_table(w, t);
			*mut<Position>(e, pos) = {0, 0};
			*mut<Velocity>(e, vel) = velocityOf(i);
			*mut<C1>(e, c1) = {0, 0};
			*mut<C2>(e, c2) = secondOf(i);
			*mut<C3>(e, c3) = {0, 0};
		}
	}
	static void add(Position *__restrict p, const Velocity *__restrict v, C1 *__restrict a, const C2 *__restrict b,
		C3 *__restrict c, int n) {
		for (int i = 0; i < n; i++) {
			p[i].X += v[i].X, p[i].Y += v[i].Y;
			a[i].X += b[i].X, a[i].Y += b[i].Y;
			c[i].X += v[i].X, c[i].Y += v[i].Y;
		}
	}
	void pass() override {
		all(q, [](ecs_iter_t &it) {
			add(ecs_field(&it, Position, 0), ecs_field(&it, Velocity, 1), ecs_field(&it, C1, 2), ecs_field(&it, C2, 3),
				ecs_field(&it, C3, 4), it.count);
		});
	}
	double sum() override {
		double s = 0;
		all(q, [&](ecs_iter_t &it) {
			auto *p = ecs_field(&it, Position, 0);
			auto *a = ecs_field(&it, C1, 2);
			auto *c = ecs_field(&it, C3, 4);
			for (int i = 0; i < it.count; i++) s += sumOf(p[i]) + sumOf(a[i]) + sumOf(c[i]);
		});
		return s;
	}
};

inline void one(const Sum &up, const Position &p, Sum &to) { to = {up.X + p.X, up.Y + p.Y}; }
inline void one(const Matrix &up, const Local &l, Matrix &to) { product(up, l, to); }
inline void shift(Position &p) { p.X++; }
inline void shift(Local &l) { l.x++; }
inline void first(long i, Position &p) { p = {velocityOf(i).X, velocityOf(i).Y}; }
inline void first(long i, Local &l) { l = localOf(i); }
inline void top(Sum &s) { s = {0, 0}; }
inline void top(Matrix &m) { m = identity; }

// Tree has parents as components (Parent): entities of a depth lie in a table, and a query is asked
// for one depth after another. Siblings find their parent once. The variant cascade has them as relationships
// (ChildOf): the children of a parent lie in a table, and the query gives the parent's value with it.
template <class In, class Out> struct Tree : World {
	ecs_entity_t in = component<In>("In"), out = component<Out>("Out");
	bool cascade;
	int deepest = 0;
	ecs_query_t *q;
	Tree(long n, bool cascade) : cascade(cascade) {
		for (long i = n - 1; i > 0; i = parentOf(i)) deepest++;
		for (long i = 0; i < n; i++) {
			auto e = ecs_new(w);
			list.push_back(e);
			if (i > 0 && cascade) ecs_add_id(w, e, ecs_pair(EcsChildOf, list[parentOf(i)]));
			if (i > 0 && !cascade) set(e, ecs_id(EcsParent), EcsParent{list[parentOf(i)]});
			In v;
			first(i, v);
			set(e, in, v);
			set(e, out, Out{});
		}
		ecs_query_desc_t d{};
		d.terms[0].id = in;
		d.terms[1].id = out;
		if (cascade) {
			d.terms[2].id = out;
			d.terms[2].src.id = EcsCascade;
			d.terms[2].oper = EcsOptional;
		} else {
			d.terms[2].id = ecs_id(EcsParent);
			d.terms[2].oper = EcsOptional;
			d.group_by = EcsParentDepth;
		}
		d.cache_kind = EcsQueryCacheAuto;
		ecs_entity_desc_t e{};
		d.entity = ecs_entity_init(w, &e);
		q = ecs_query_init(w, &d);
		if (!q) abort();
	}
	void pass() override {
		shift(*mut<In>(list[0], in));
		Out root;
		top(root);
		auto compute = [&](ecs_iter_t &it) {
			auto *v = ecs_field(&it, In, 0);
			auto *to = ecs_field(&it, Out, 1);
			const Out *up = &root;
			if (!ecs_field_is_set(&it, 2)) {
				for (int i = 0; i < it.count; i++) one(root, v[i], to[i]);
			} else if (cascade) {
				up = ecs_field(&it, Out, 2);
				for (int i = 0; i < it.count; i++) one(*up, v[i], to[i]);
			} else {
				auto *parents = ecs_field(&it, EcsParent, 2);
				ecs_entity_t last = 0;
				for (int i = 0; i < it.count; i++) {
					if (parents[i].value != last) last = parents[i].value, up = get<Out>(last, out);
					one(*up, v[i], to[i]);
				}
			}
		};
		if (cascade) return all(q, compute);
		for (int depth = 0; depth <= deepest; depth++) {
			ecs_iter_t it = ecs_query_iter(w, q);
			ecs_iter_set_group(&it, depth);
			while (ecs_query_next(&it)) compute(it);
		}
	}
	double sum() override {
		double s = 0;
		for (auto e : list) s += sumOf(*get<Out>(e, out));
		return s;
	}
};

std::unique_ptr<Trial> build(const Row &row, const std::string &variant, long n) {
	if (row == "random") return std::make_unique<Random>(n);
	if (row == "random-write") return std::make_unique<Write>(n);
	if (row == "random2comp") return std::make_unique<Two>(n);
	if (row == "create2comp-set") return std::make_unique<Make>(n);
	if (row == "create2comp-set-batch") return std::make_unique<MakeBatch>(n);
	if (row == "add_remove_eight-shuffled") return std::make_unique<AddRemove>(n);
	if (row == "disable_enable") return std::make_unique<Toggle>(n);
	if (row == "prefab4comp") return std::make_unique<Prefab>(n);
	if (row == "prefab4comp-batch") return std::make_unique<PrefabBatch>(n);
	if (row == "query2comp") return std::make_unique<Moves>(n, 10 * n, false);
	if (row == "query256spread") return std::make_unique<Moves>(n, 0, true);
	if (row == "query5comp") return std::make_unique<Five>(n);
	if (row == "query2comp-threads") return std::make_unique<MovesTwo>(n);
	if (row == "depth") return std::make_unique<Tree<Position, Sum>>(n, variant == "cascade");
	if (row == "matrices") return std::make_unique<Tree<Local, Matrix>>(n, variant == "cascade");
	return nullptr;
}
