// The roof: plain arrays, with a generation beside each index where an entity may be dead.
#include "tree.h"

std::string version() { return "arrays"; }

struct Entity { uint32_t index, generation; };

// World is arrays by index.
struct World {
	std::vector<uint32_t> generation;
	std::vector<Position> p;
	std::vector<Velocity> v;
	std::vector<Entity> list;
	double got = 0;

	explicit World(long n) : generation(n, 1), p(n), v(n) {
		for (long i = 0; i < n; i++) {
			p[i] = placeOf(i);
			v[i] = velocityOf(i);
			list.push_back({uint32_t(i), 1});
		}
		shuffled(list);
	}
	bool alive(Entity e) const { return e.index < generation.size() && generation[e.index] == e.generation; }
};

struct Random : Trial, World {
	using World::World;
	void pass() override {
		double s = 0;
		for (auto e : list)
			if (alive(e)) s += p[e.index].X;
		got += s;
	}
	double sum() override { return got; }
};

struct Write : Trial, World {
	using World::World;
	void pass() override {
		for (auto e : list)
			if (alive(e)) p[e.index].X += 1;
	}
	double sum() override {
		double s = 0;
		for (auto &q : p) s += q.X;
		return s;
	}
};

struct Two : Trial, World {
	using World::World;
	void pass() override {
		double s = 0;
		for (auto e : list)
			if (alive(e)) s += p[e.index].X + v[e.index].Y;
		got += s;
	}
	double sum() override { return got; }
};

// Make appends to arrays whose memory is there already.
struct Make : Trial {
	long n;
	std::vector<Position> p;
	std::vector<Velocity> v;
	explicit Make(long n) : n(n) {
		single = true;
		p.reserve(n);
		v.reserve(n);
	}
	void pass() override {
		for (long i = 0; i < n; i++) {
			p.push_back(placeOf(i));
			v.push_back(velocityOf(i));
		}
	}
	void restore() override {
		p.clear();
		v.clear();
	}
	double sum() override {
		double s = 0;
		for (auto &q : p) s += sumOf(q);
		for (auto &q : v) s += sumOf(q);
		return s;
	}
};

struct Prefab : Trial {
	long n;
	std::vector<Position> p;
	std::vector<Velocity> v;
	std::vector<C1> a;
	std::vector<C2> b;
	explicit Prefab(long n) : n(n) {
		single = true;
		p.reserve(n), v.reserve(n), a.reserve(n), b.reserve(n);
	}
	void pass() override {
		for (long i = 0; i < n; i++) {
			p.push_back(patternPosition);
			v.push_back(patternVelocity);
			a.push_back(patternC1);
			b.push_back(patternC2);
		}
	}
	void restore() override { p.clear(), v.clear(), a.clear(), b.clear(); }
	double sum() override {
		double s = 0;
		for (long i = 0; i < long(p.size()); i++) s += sumOf(p[i]) + sumOf(v[i]) + sumOf(a[i]) + sumOf(b[i]);
		return s;
	}
};

// step is the loop over two columns. The columns are no others' memory, as a compiler cannot know
// of two vectors.
static void step(Position *__restrict p, const Velocity *__restrict v, long n) {
	for (long i = 0; i < n; i++) {
		p[i].X += v[i].X;
		p[i].Y += v[i].Y;
	}
}

struct Move : Trial {
	std::vector<Position> p;
	std::vector<Velocity> v;
	explicit Move(long n) : p(n), v(n) {
		for (long i = 0; i < n; i++) v[i] = velocityOf(i);
	}
	void pass() override { step(p.data(), v.data(), long(p.size())); }
	double sum() override {
		double s = 0;
		for (auto &q : p) s += sumOf(q);
		return s;
	}
};

struct MoveTwo : Move {
	long half;
	Helper helper;
	explicit MoveTwo(long n)
		: Move(n), half(n / 2), helper([this] { step(p.data() + half, v.data() + half, long(p.size()) - half); }) {}
	void pass() override {
		helper.begin();
		step(p.data(), v.data(), half);
		helper.wait();
	}
};

struct Five : Trial {
	std::vector<Position> p;
	std::vector<Velocity> v;
	std::vector<C1> a;
	std::vector<C2> b;
	std::vector<C3> c;
	explicit Five(long n) : p(n), v(n), a(n), b(n), c(n) {
		for (long i = 0; i < n; i++) v[i] = velocityOf(i), b[i] = secondOf(i);
	}
	static void add(Position *__restrict p, const Velocity *__restrict v, C1 *__restrict a, const C2 *__restrict b,
		C3 *__restrict c, long n) {
		for (long i = 0; i < n; i++) {
			p[i].X += v[i].X, p[i].Y += v[i].Y;
			a[i].X += b[i].X, a[i].Y += b[i].Y;
			c[i].X += v[i].X, c[i].Y += v[i].Y;
		}
	}
	void pass() override { add(p.data(), v.data(), a.data(), b.data(), c.data(), long(p.size())); }
	double sum() override {
		double s = 0;
		for (size_t i = 0; i < p.size(); i++) s += sumOf(p[i]) + sumOf(a[i]) + sumOf(c[i]);
		return s;
	}
};

// Depth adds the sum of the parent, which lies at an index.
struct Depth : Trial {
	std::vector<Position> p;
	std::vector<Sum> all;
	std::vector<int32_t> parents;
	explicit Depth(long n) : p(n), all(n), parents(n) {
		for (long i = 0; i < n; i++) {
			auto v = velocityOf(i);
			p[i] = {v.X, v.Y};
			parents[i] = int32_t(parentOf(i));
		}
	}
	void pass() override {
		p[0].X++;
		all[0] = {p[0].X, p[0].Y};
		for (long i = 1, n = long(p.size()); i < n; i++) {
			auto &up = all[parents[i]];
			all[i] = {p[i].X + up.X, p[i].Y + up.Y};
		}
	}
	double sum() override {
		double s = 0;
		for (auto &q : all) s += sumOf(q);
		return s;
	}
};

struct Matrices : Trial {
	std::vector<Local> l;
	std::vector<Matrix> m;
	std::vector<int32_t> parents;
	explicit Matrices(long n) : l(n), m(n), parents(n) {
		for (long i = 0; i < n; i++) l[i] = localOf(i), parents[i] = int32_t(parentOf(i));
	}
	void pass() override {
		l[0].x++;
		product(identity, l[0], m[0]);
		for (long i = 1, n = long(l.size()); i < n; i++) product(m[parents[i]], l[i], m[i]);
	}
	double sum() override {
		double s = 0;
		for (auto &q : m) s += sumOf(q);
		return s;
	}
};

std::unique_ptr<Trial> build(const Row &row, const std::string &, long n) {
	if (row == "random") return std::make_unique<Random>(n);
	if (row == "random-write") return std::make_unique<Write>(n);
	if (row == "random2comp") return std::make_unique<Two>(n);
	if (row == "create2comp-set" || row == "create2comp-set-batch") return std::make_unique<Make>(n);
	if (row == "prefab4comp" || row == "prefab4comp-batch") return std::make_unique<Prefab>(n);
	if (row == "query2comp") return std::make_unique<Move>(n);
	if (row == "query5comp") return std::make_unique<Five>(n);
	if (row == "query2comp-threads") return std::make_unique<MoveTwo>(n);
	if (row == "depth") return std::make_unique<Depth>(n);
	if (row == "matrices") return std::make_unique<Matrices>(n);
	return nullptr;
}
