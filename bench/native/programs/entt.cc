// EnTT, by its views and, as the variant group, by groups that own their components.
#include "tree.h"
#include <entt/entt.hpp>

std::string version() {
	return "EnTT " + std::to_string(ENTT_VERSION_MAJOR) + "." + std::to_string(ENTT_VERSION_MINOR) + "." +
		std::to_string(ENTT_VERSION_PATCH);
}

struct Tag {};

struct World : Trial {
	entt::registry r;
	std::vector<entt::entity> list;
	double got = 0;
	double sum() override { return got; }

	double values() {
		double s = 0;
		r.view<Position, Velocity>().each([&](auto &p, auto &v) { s += sumOf(p) + sumOf(v); });
		return s;
	}
};

// Placed has n entities at their places, with Velocity if asked, in shuffled order.
struct Placed : World {
	Placed(long n, bool velocity) {
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e, placeOf(i));
			if (velocity) r.emplace<Velocity>(e, velocityOf(i));
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
			if (r.valid(e)) s += r.get<Position>(e).X;
		got += s;
	}
};

// Direct looks up in storages that are found once, and asks nobody whether an entity is alive.
struct RandomDirect : Placed {
	explicit RandomDirect(long n) : Placed(n, false) {}
	void pass() override {
		auto &places = r.storage<Position>();
		double s = 0;
		for (auto e : list) s += places.get(e).X;
		got += s;
	}
};

struct WriteDirect : Placed {
	explicit WriteDirect(long n) : Placed(n, false) {}
	void pass() override {
		auto &places = r.storage<Position>();
		for (auto e : list) places.get(e).X += 1;
	}
	double sum() override {
		double s = 0;
		r.view<Position>().each([&](auto &p) { s += p.X; });
		return s;
	}
};

struct TwoDirect : Placed {
	explicit TwoDirect(long n) : Placed(n, true) {}
	void pass() override {
		auto &places = r.storage<Position>();
		auto &speeds = r.storage<Velocity>();
		double s = 0;
		for (auto e : list) s += places.get(e).X + speeds.get(e).Y;
		got += s;
	}
};

struct Write : Placed {
	explicit Write(long n) : Placed(n, false) {}
	void pass() override {
		for (auto e : list)
			if (r.valid(e))
				if (auto *p = r.try_get<Position>(e)) p->X += 1;
	}
	double sum() override {
		double s = 0;
		r.view<Position>().each([&](auto &p) { s += p.X; });
		return s;
	}
};

struct Two : Placed {
	explicit Two(long n) : Placed(n, true) {}
	void pass() override {
		double s = 0;
		for (auto e : list)
			if (r.valid(e)) {
				auto [p, v] = r.get<Position, Velocity>(e);
				s += p.X + v.Y;
			}
		got += s;
	}
};

// Make makes n entities with two values in a warm registry.
struct Make : World {
	long n;
	explicit Make(long n) : n(n) {
		single = true;
		list.reserve(n);
	}
	void pass() override {
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e, placeOf(i));
			r.emplace<Velocity>(e, velocityOf(i));
			list.push_back(e);
		}
	}
	void restore() override {
		r.destroy(list.begin(), list.end());
		list.clear();
	}
	double sum() override { return values(); }
};

struct MakeBatch : Make {
	std::vector<Position> p;
	std::vector<Velocity> v;
	explicit MakeBatch(long n) : Make(n), p(n), v(n) {}
	void pass() override {
		list.resize(n);
		r.create(list.begin(), list.end());
		for (long i = 0; i < n; i++) p[i] = placeOf(i), v[i] = velocityOf(i);
		r.insert<Position>(list.begin(), list.end(), p.begin());
		r.insert<Velocity>(list.begin(), list.end(), v.begin());
	}
};

struct AddRemove : World {
	explicit AddRemove(long n) {
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e, placeOf(i));
			eight<1, 2, 3, 4, 5, 6, 7, 8>(e);
			list.push_back(e);
		}
		shuffled(list);
	}
	template <int... K> void eight(entt::entity e) { (r.emplace<Extra<K>>(e), ...); }
	void pass() override {
		for (auto e : list) r.emplace<Velocity>(e, 0.0, 0.0);
		for (auto e : list) r.remove<Velocity>(e);
	}
	double sum() override {
		double s = 0;
		for (auto [e, p] : r.view<Position>(entt::exclude<Velocity>).each()) s += p.X;
		return s;
	}
};

// Worlds makes registries of two types and ends them.
struct Worlds : World {
	void pass() override {
		entt::registry other;
		other.storage<Position>();
		other.storage<Velocity>();
		got += other.valid(entt::entity(1)) ? 0 : 1;
	}
};

// Toggle takes a tag off and puts it on: there is no switch.
struct Toggle : World {
	explicit Toggle(long n) {
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e);
			r.emplace<Tag>(e);
			list.push_back(e);
		}
		shuffled(list);
	}
	void off() {
		for (auto e : list) r.remove<Tag>(e);
	}
	void pass() override {
		off();
		for (auto e : list) r.emplace<Tag>(e);
	}
	double sum() override {
		double on = double(r.storage<Tag>().size());
		off();
		return on + 1000 * double(r.storage<Tag>().size());
	}
};

struct Prefab : World {
	long n;
	entt::entity prefab;
	explicit Prefab(long n) : n(n) {
		single = true;
		prefab = r.create();
		r.emplace<Position>(prefab, patternPosition);
		r.emplace<Velocity>(prefab, patternVelocity);
		r.emplace<C1>(prefab, patternC1);
		r.emplace<C2>(prefab, patternC2);
		list.reserve(n);
	}
	// There are no prefabs: the four values are copied from an entity.
	void pass() override {
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e, Position(r.get<Position>(prefab)));
			r.emplace<Velocity>(e, Velocity(r.get<Velocity>(prefab)));
			r.emplace<C1>(e, C1(r.get<C1>(prefab)));
			r.emplace<C2>(e, C2(r.get<C2>(prefab)));
			list.push_back(e);
		}
	}
	void restore() override {
		r.destroy(list.begin(), list.end());
		list.clear();
	}
	double sum() override {
		double s = 0;
		for (auto e : list) s += sumOf(r.get<Position>(e)) + sumOf(r.get<Velocity>(e)) + sumOf(r.get<C1>(e)) + sumOf(r.get<C2>(e));
		return s;
	}
};

struct PrefabBatch : Prefab {
	using Prefab::Prefab;
	void pass() override {
		list.resize(n);
		r.create(list.begin(), list.end());
		r.insert<Position>(list.begin(), list.end(), Position(r.get<Position>(prefab)));
		r.insert<Velocity>(list.begin(), list.end(), Velocity(r.get<Velocity>(prefab)));
		r.insert<C1>(list.begin(), list.end(), C1(r.get<C1>(prefab)));
		r.insert<C2>(list.begin(), list.end(), C2(r.get<C2>(prefab)));
	}
};

// Moves has n movers and 10n entities that do not match, or movers over 256 sets of types.
struct Moves : World {
	bool group;
	Moves(long n, bool group, long still, bool spread) : group(group) {
		if (group) r.group<Position, Velocity>();
		for (long i = 0; i < still; i++) r.emplace<Position>(r.create());
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e, 0.0, 0.0);
			r.emplace<Velocity>(e, velocityOf(i));
			if (spread) extras<1, 2, 3, 4, 5, 6, 7, 8>(e, i);
		}
	}
	template <int... K> void extras(entt::entity e, long i) {
		((i >> (K - 1) & 1 ? void(r.emplace<Extra<K>>(e)) : void()), ...);
	}
	static void one(Position &p, const Velocity &v) {
		p.X += v.X;
		p.Y += v.Y;
	}
	void pass() override {
		if (group)
			r.group<Position, Velocity>().each([](auto &p, auto &v) { one(p, v); });
		else
			r.view<Position, const Velocity>().each([](auto &p, auto &v) { one(p, v); });
	}
	double sum() override {
		double s = 0;
		r.view<Position, Velocity>().each([&](auto &p, auto &) { s += sumOf(p); });
		return s;
	}
};

// Flat goes through the pages of a group's storages, which have its entities first and in one order.
// The group and its storages are found once.
struct Flat : Moves {
	decltype(r.group<Position, Velocity>()) g;
	entt::storage_for_t<Position> &places;
	entt::storage_for_t<Velocity> &speeds;
	Flat(long n, long still, bool spread)
		: Moves(n, true, still, spread), g(r.group<Position, Velocity>()), places(r.storage<Position>()), speeds(r.storage<Velocity>()) {}
	void part(size_t lo, size_t hi) {
		constexpr size_t page = entt::component_traits<Position>::page_size;
		for (size_t at = lo; at < hi;) {
			size_t end = std::min(hi, (at / page + 1) * page), n = end - at;
			Position *__restrict p = places.raw()[at / page] + at % page;
			const Velocity *__restrict v = speeds.raw()[at / page] + at % page;
			for (size_t i = 0; i < n; i++) one(p[i], v[i]);
			at = end;
		}
	}
	void pass() override { part(0, g.size()); }
};

// FlatTwo gives a thread that spins half of it.
struct FlatTwo : Flat {
	SpinningHelper helper;
	explicit FlatTwo(long n) : Flat(n, 0, false), helper([this] { part(g.size() / 2, g.size()); }) {}
	void pass() override {
		helper.begin();
		part(0, g.size() / 2);
		helper.wait();
	}
};

// MovesTwo gives each thread half of a group.
struct MovesTwo : Moves {
	decltype(r.group<Position, Velocity>()) g;
	Helper helper;
	explicit MovesTwo(long n) : Moves(n, true, 0, false), g(r.group<Position, Velocity>()), helper([this] { half(g.size() / 2, g.size()); }) {}
	void half(size_t lo, size_t hi) {
		auto it = g.begin() + std::ptrdiff_t(lo), end = g.begin() + std::ptrdiff_t(hi);
		for (; it != end; ++it) {
			auto [p, v] = g.get<Position, Velocity>(*it);
			one(p, v);
		}
	}
	void pass() override {
		helper.begin();
		half(0, g.size() / 2);
		helper.wait();
	}
};

struct Five : World {
	bool group;
	Five(long n, bool group) : group(group) {
		if (group) r.group<Position, Velocity, C1, C2, C3>();
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			r.emplace<Position>(e, 0.0, 0.0);
			r.emplace<Velocity>(e, velocityOf(i));
			r.emplace<C1>(e, 0.0, 0.0);
			r.emplace<C2>(e, secondOf(i));
			r.emplace<C3>(e, 0.0, 0.0);
		}
	}
	void pass() override {
		auto add = [](auto &p, auto &v, auto &a, auto &b, auto &c) {
			p.X += v.X, p.Y += v.Y;
			a.X += b.X, a.Y += b.Y;
			c.X += v.X, c.Y += v.Y;
		};
		if (group)
			r.group<Position, Velocity, C1, C2, C3>().each(add);
		else
			r.view<Position, const Velocity, C1, const C2, C3>().each(add);
	}
	double sum() override {
		double s = 0;
		r.view<Position, C1, C3>().each([&](auto &p, auto &a, auto &c) { s += sumOf(p) + sumOf(a) + sumOf(c); });
		return s;
	}
};

struct Link { entt::entity parent; };

// Tree is a group that owns its components, sorted by depth. Siblings find their parent once.
template <class In, class Out> struct Tree : World {
	decltype(r.group<In, Out, Link>()) g;
	explicit Tree(long n) : g(r.group<In, Out, Link>()) {
		for (long i = 0; i < n; i++) {
			auto e = r.create();
			list.push_back(e);
			r.emplace<In>(e, first(i, In{}));
			r.emplace<Out>(e, Out{});
			r.emplace<Link>(e, i > 0 ? list[parentOf(i)] : entt::entity(entt::null));
		}
		g.sort([](entt::entity a, entt::entity b) { return entt::to_entity(a) < entt::to_entity(b); });
	}
	static Position first(long i, Position) { return {velocityOf(i).X, velocityOf(i).Y}; }
	static Local first(long i, Local) { return localOf(i); }
	static void shift(Position &p) { p.X++; }
	static void shift(Local &l) { l.x++; }
	static void one(const Sum &up, const Position &p, Sum &to) { to = {up.X + p.X, up.Y + p.Y}; }
	static void one(const Matrix &up, const Local &l, Matrix &to) { product(up, l, to); }
	static Sum top(Sum) { return {0, 0}; }
	static Matrix top(Matrix) { return identity; }
	void pass() override {
		shift(r.get<In>(list[0]));
		auto &outs = r.storage<Out>();
		const Out root = top(Out{});
		const Out *up = &root;
		entt::entity last = entt::null;
		g.each([&](const In &in, Out &out, const Link &link) {
			if (link.parent != last) up = &outs.get(link.parent), last = link.parent;
			one(*up, in, out);
		});
	}
	double sum() override {
		double s = 0;
		r.view<Out>().each([&](auto &out) { s += sumOf(out); });
		return s;
	}
};

std::unique_ptr<Trial> build(const Row &row, const std::string &variant, long n) {
	bool group = variant == "group";
	if (variant == "direct") {
		long still = std::min(10 * n, (1L << 20) - 2 - n);
		if (row == "random") return std::make_unique<RandomDirect>(n);
		if (row == "random-write") return std::make_unique<WriteDirect>(n);
		if (row == "random2comp") return std::make_unique<TwoDirect>(n);
		if (row == "query2comp") return std::make_unique<Flat>(n, still, false);
		if (row == "query256spread") return std::make_unique<Flat>(n, 0, true);
		if (row == "query2comp-threads") return std::make_unique<FlatTwo>(n);
		return nullptr;
	}
	if (row == "random") return std::make_unique<Random>(n);
	if (row == "random-write") return std::make_unique<Write>(n);
	if (row == "random2comp") return std::make_unique<Two>(n);
	if (row == "create2comp-set") return std::make_unique<Make>(n);
	if (row == "create2comp-set-batch") return std::make_unique<MakeBatch>(n);
	if (row == "add_remove_eight-shuffled") return std::make_unique<AddRemove>(n);
	if (row == "world2types") return std::make_unique<Worlds>();
	if (row == "disable_enable") return std::make_unique<Toggle>(n);
	if (row == "prefab4comp") return std::make_unique<Prefab>(n);
	if (row == "prefab4comp-batch") return std::make_unique<PrefabBatch>(n);
	// EnTT numbers 2^20 - 1 entities; a million leave room for few that do not match.
	if (row == "query2comp") return std::make_unique<Moves>(n, group, std::min(10 * n, (1L << 20) - 2 - n), false);
	if (row == "query256spread") return std::make_unique<Moves>(n, group, 0, true);
	if (row == "query5comp") return std::make_unique<Five>(n, group);
	if (row == "query2comp-threads") return std::make_unique<MovesTwo>(n);
	if (row == "depth") return std::make_unique<Tree<Position, Sum>>(n);
	if (row == "matrices") return std::make_unique<Tree<Local, Matrix>>(n);
	return nullptr;
}
