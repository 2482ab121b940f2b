// What all programs have in common: the values, the order, the clock and main.
//
//	program -version               one line: the library and its version
//	program ROW VARIANT N MILLIS   measures; VARIANT may be -
//
// The answer is one line, "ns=F passes=P sum=F": the nanoseconds an entity, how many passes there
// were in all, and what came of them, which the caller compares with what must be. Exit code 3:
// the library does not do this row.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Position { double X, Y; };
struct Velocity { double X, Y; };
template <int K> struct Extra { double X, Y; };
using C1 = Extra<1>;
using C2 = Extra<2>;
using C3 = Extra<3>;

inline Velocity velocityOf(long i) { return {double(i % 7 + 1), double(i % 5 - 2)}; }
inline Position placeOf(long i) { return {double(i % 1000), 1}; }
inline C2 secondOf(long i) { auto v = velocityOf(i + 3); return {v.X, v.Y}; }

const Position patternPosition{1, 2};
const Velocity patternVelocity{3, 4};
const C1 patternC1{5, 6};
const C2 patternC2{7, 8};

template <class T> double sumOf(const T &v) { return v.X + 16 * v.Y; }

// shuffled brings a list into an order that is the same in every run.
template <class T> void shuffled(std::vector<T> &list) {
	uint64_t state = 88172645463325252u;
	for (size_t i = list.size(); i > 1; i--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		std::swap(list[i - 1], list[state % i]);
	}
}

// Trial is a row that was built. A pass that must be undone before the next has single = true.
struct Trial {
	bool single = false;
	virtual ~Trial() = default;
	virtual void pass() = 0;
	virtual void restore() {}
	virtual double sum() = 0;
};

// Helper is a second thread that runs a function as often as it is told, and waits between.
class Helper {
	std::mutex m;
	std::condition_variable c;
	bool begun = false, ends = false;
	std::thread t;

public:
	template <class F> explicit Helper(F f) {
		t = std::thread([this, f] {
			for (;;) {
				std::unique_lock lock(m);
				c.wait(lock, [this] { return begun || ends; });
				if (ends) return;
				lock.unlock();
				f();
				lock.lock();
				begun = false;
				c.notify_all();
			}
		});
	}
	void begin() {
		std::lock_guard lock(m);
		begun = true;
		c.notify_all();
	}
	void wait() {
		std::unique_lock lock(m);
		c.wait(lock, [this] { return !begun; });
	}
	~Helper() {
		{
			std::lock_guard lock(m);
			ends = true;
			c.notify_all();
		}
		t.join();
	}
};

// SpinningHelper is a Helper that never sleeps.
class SpinningHelper {
	std::atomic<long> asked{0}, done{0};
	std::atomic<bool> ends{false};
	std::thread t;

public:
	template <class F> explicit SpinningHelper(F f) {
		t = std::thread([this, f] {
			for (long turn = 0; !ends;) {
				if (asked.load(std::memory_order_acquire) == turn) continue;
				f();
				done.store(++turn, std::memory_order_release);
			}
		});
	}
	void begin() { asked.fetch_add(1, std::memory_order_release); }
	void wait() {
		while (done.load(std::memory_order_acquire) != asked.load(std::memory_order_relaxed)) {}
	}
	~SpinningHelper() {
		ends = true;
		t.join();
	}
};

using Row = std::string;

// build makes a trial; nullptr where the library does not do the row. version names the library.
std::unique_ptr<Trial> build(const Row &row, const std::string &variant, long n);
std::string version();

using Clock = std::chrono::steady_clock;

inline double nanosSince(Clock::time_point t) {
	return std::chrono::duration<double, std::nano>(Clock::now() - t).count();
}

// measure runs a first pass that is not counted, and then samples until the time is used up; a
// sample has as many passes as take 20 us. What is restored is timed one pass at a time.
inline double measure(Trial &t, long n, double budget, long &passes) {
	double total = 0, count = 0;
	t.pass();
	passes = 1;
	if (t.single) {
		auto start = Clock::now();
		while (total < budget && (count == 0 || nanosSince(start) < 5 * budget)) {
			t.restore();
			auto began = Clock::now();
			t.pass();
			total += nanosSince(began);
			passes++;
			count += double(n);
		}
		return total / count;
	}
	auto run = [&](long times) {
		auto began = Clock::now();
		for (long k = 0; k < times; k++) t.pass();
		passes += times;
		return nanosSince(began);
	};
	long times = 1;
	while (run(times) < 20e3) times *= 2;
	while (total < budget) {
		total += run(times);
		count += double(times) * double(n);
	}
	return total / count;
}

int main(int argc, char **argv) {
	if (argc == 2 && !strcmp(argv[1], "-version")) {
		printf("%s\n", version().c_str());
		return 0;
	}
	long n = argc == 5 ? atol(argv[3]) : 0;
	double millis = argc == 5 ? atof(argv[4]) : 0;
	if (n < 1 || millis <= 0) {
		fprintf(stderr, "usage: %s ROW VARIANT N MILLIS\n", argv[0]);
		return 2;
	}
	auto t = build(argv[1], argv[2], n);
	if (!t) return 3;
	long passes = 0;
	double ns = measure(*t, n, millis * 1e6, passes);
	printf("ns=%.6g passes=%ld sum=%.17g\n", ns, passes, t->sum());
	return 0;
}
