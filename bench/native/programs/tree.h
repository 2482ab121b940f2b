// The tree of the rows depth and matrices: node i is below node (i-1)/10, and nodes come in the order
// of levels. Each pass moves the root by 1, so that a node that is computed before its parent is
// wrong. All values are exact, whether products are fused with sums or not.
#pragma once
#include "bench.h"

inline long parentOf(long i) { return (i - 1) / 10; }

using Sum = C1; // of the Positions from the root down

struct Local {
	float x, y, z, scale, i, j, k, w; // position, scale, quaternion
};
struct Matrix { float m[16]; }; // by columns

inline Local localOf(long i) {
	const Local turns[] = {{0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, .5f, .5f, .5f, .5f}, {0, 0, 0, 0, 0, 0, 1, 0}};
	Local l = turns[i % 3];
	l.x = float(i % 7 + 1), l.y = float(i % 5 - 2), l.z = 1;
	l.scale = i % 4 == 3 ? .5f : 1;
	return l;
}

inline double sumOf(const Matrix &a) {
	double s = 0;
	for (int k = 0; k < 16; k++) s += (k + 1) * double(a.m[k]);
	return s;
}

// product makes c the matrix of l below p.
inline void product(const Matrix &p, const Local &l, Matrix &c) {
	float x2 = l.i + l.i, y2 = l.j + l.j, z2 = l.k + l.k, s = l.scale;
	float xx = l.i * x2, yy = l.j * y2, zz = l.k * z2, xy = l.i * y2, xz = l.i * z2, yz = l.j * z2;
	float wx = l.w * x2, wy = l.w * y2, wz = l.w * z2;
	const float own[4][3] = {{(1 - (yy + zz)) * s, (xy + wz) * s, (xz - wy) * s}, {(xy - wz) * s, (1 - (xx + zz)) * s, (yz + wx) * s},
		{(xz + wy) * s, (yz - wx) * s, (1 - (xx + yy)) * s}, {l.x, l.y, l.z}};
	const float *m = p.m;
	for (int k = 0; k < 4; k++)
		for (int row = 0; row < 4; row++)
			c.m[4 * k + row] = m[row] * own[k][0] + m[4 + row] * own[k][1] + m[8 + row] * own[k][2] + (k == 3 ? m[12 + row] : 0);
}

const Matrix identity{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
