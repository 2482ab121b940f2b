package main

import (
	"quarry/ecs/transform"
)

// Trees: where nodes are in the world, by where they are on their parents. Node i is below node
// (i-1)/10, and rows lie in the order of levels. Each pass moves the root by 1, so that a node that
// is computed before its parent is wrong.
const (
	depth    = "depth"
	matrices = "matrices"
)

var treeWorkloads = []workload{
	{name: depth, what: "two float64 added to those of the parent, in a tree of ten children each", sizes: []int{
		100_000,
	}},
	{name: matrices, what: "whole matrices of the same tree, of position, rotation and scale", sizes: []int{100_000}},
}

var treeWays = []way{
	{depth, quarry, buildQuarryDepth},
	{depth, goSlices, buildSlicesDepth},
	{depth, arkHand, buildArkDepth},
	{matrices, quarry, buildQuarryMatrices(1)},
	{matrices, quarryJobs, buildQuarryMatrices(2)},
}

// Sum is the position of a node in the world.
type Sum struct{ X, Y float64 }

// add computes the sums of nodes with one parent.
func (up Sum) add(to []Sum, own []Position) {
	for i := range min(len(to), len(own)) {
		to[i] = Sum{own[i].X + up.X, own[i].Y + up.Y}
	}
}

func parentOf(i int) int { return (i - 1) / 10 }

// onParent is the Position of a node on its parent.
func onParent(i int) Position { return Position(velocityOf(i)) }

// localOf is the Local of a node, of which all products are exact.
func localOf(i int) transform.Local {
	l := transform.At(float32(i%7+1), float32(i%5-2), 1)
	l.Rotation = [...]transform.Quat{transform.NoRotation, {X: .5, Y: .5, Z: .5, W: .5}, {Z: 1}}[i%3]
	if i%4 == 3 {
		l.Scale = .5
	}
	return l
}

// wantDepth compares sums in the order of nodes with those of a recursion.
func wantDepth(sums []Sum, passes int) error {
	for i, got := range sums {
		want := Sum{X: float64(passes)}
		for k := i; ; k = parentOf(k) {
			want.X, want.Y = want.X+onParent(k).X, want.Y+onParent(k).Y
			if k == 0 {
				break
			}
		}
		if got != want {
			return wrong("node %d is at %v, want %v", i, got, want)
		}
	}
	return nil
}

// wantMatrices compares where a point of each node is in the world with the product of its Locals.
func wantMatrices(list []transform.Mat4, passes int) error {
	for i, got := range list {
		p := transform.Vec3{X: 1, Y: 2, Z: 4}
		want := p
		for k := i; ; k = parentOf(k) {
			want = localOf(k).Point(want)
			if k == 0 {
				break
			}
		}
		want.X += float32(passes)
		if got.Point(p) != want {
			return wrong("node %d has %v at %v, want %v", i, p, got.Point(p), want)
		}
	}
	return nil
}

// slicesDepth is plain slices.
type slicesDepth struct {
	endless
	own     []Position
	all     []Sum
	parents []int32
}

func buildSlicesDepth(n int) (trial, error) {
	s := &slicesDepth{own: make([]Position, n), all: make([]Sum, n), parents: make([]int32, n)}
	for i := range n {
		s.own[i], s.parents[i] = onParent(i), int32(parentOf(i))
	}
	return s, nil
}

//go:noinline
func (s *slicesDepth) pass(times int) {
	for range times {
		s.own[0].X++
		s.all[0] = Sum(s.own[0])
		own, all := s.own, s.all[:len(s.own)]
		for i, p := range s.parents[1:] {
			up, v := &all[p], &own[i+1]
			all[i+1] = Sum{v.X + up.X, v.Y + up.Y}
		}
	}
}

func (s *slicesDepth) check(passes int) error { return wantDepth(s.all, passes) }
