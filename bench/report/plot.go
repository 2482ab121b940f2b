package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"quarry/bench/curve"
	"quarry/bench/workload"
)

// Sizes of a plot. The page scales it to its width; letters of 12.5 stay readable at the width of a
// phone.
const (
	plotWidth  vg.Length = 420
	plotHeight vg.Length = 285
	labelSize  vg.Length = 13
	tickSize   vg.Length = 12.5
)

// figure is a plot with the text around it.
type figure struct {
	Title, What string
	SVG         template.HTML // empty: nothing to draw
	Legend      []entry
	Figures     *Grid // nil: none
	Verdicts    *Grid
}

// entry is a line of a legend.
type entry struct {
	Mark template.HTML
	Name string
}

// curves draws a table of measurements on logarithmic axes. Points that such axes cannot show are
// left out of the plot.
func curves(t curve.Table) (figure, error) {
	f := figure{Title: t.Name, What: t.What, Figures: figuresOf(t)}
	var shown []plotter.XYs
	named := t
	named.Series = slices.Clone(t.Series)
	for i, s := range t.Series {
		shown = append(shown, points(s, func(x, y float64) bool { return drawable(x) && drawable(y) }))
		if s.Roof {
			named.Series[i].Name += " (plain Go)"
		}
	}
	lo, hi, any := extent(shown)
	if !any {
		return f, nil
	}
	p := sheet(t.XLabel, t.YLabel)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Min, p.X.Max = logRange(lo.X, hi.X)
	p.Y.Min, p.Y.Max = logRange(lo.Y, hi.Y)
	p.X.Tick.Marker = plot.ConstantTicks(logTicks(p.X.Min, p.X.Max))
	p.Y.Tick.Marker = plot.ConstantTicks(logTicks(p.Y.Min, p.Y.Max))
	if err := f.draw(p, named, shown, false); err != nil {
		return f, err
	}
	f.SVG = svg(p, plotWidth, plotHeight, t.Name)
	return f, nil
}

// drawn draws a workload's Drawing on linear axes.
func drawn(d workload.Drawing) (figure, error) {
	f := figure{Title: d.Name, What: d.What}
	var shown []plotter.XYs
	for _, s := range d.Series {
		shown = append(shown, points(s, func(x, y float64) bool { return math.Abs(x) <= most && math.Abs(y) <= most }))
	}
	lo, hi, any := extent(shown)
	if !any {
		return f, nil
	}
	p := sheet(d.XLabel, d.YLabel)
	height := plotHeight
	if d.Dots {
		half := max(hi.X-lo.X, hi.Y-lo.Y, 4) * 0.52
		p.X.Min, p.X.Max = (lo.X+hi.X)/2-half, (lo.X+hi.X)/2+half
		p.Y.Min, p.Y.Max = (lo.Y+hi.Y)/2-half, (lo.Y+hi.Y)/2+half
	} else {
		p.X.Min, p.X.Max = min(lo.X, 0), hi.X
		p.Y.Min, p.Y.Max = min(lo.Y, 0), 1.05*hi.Y
		for _, a := range []*plot.Axis{&p.X, &p.Y} {
			if a.Max <= a.Min {
				a.Max = a.Min + 1
			}
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(linearTicks(p.X.Min, p.X.Max))
	p.Y.Tick.Marker = plot.ConstantTicks(linearTicks(p.Y.Min, p.Y.Max))
	if err := f.draw(p, d.Table, shown, d.Dots); err != nil {
		return f, err
	}
	if d.Dots { // the sheet is made higher until the area left for the data is square
		size := p.DataCanvas(draw.New(vgsvg.New(plotWidth, height))).Size()
		height += size.X - size.Y
	}
	f.SVG = svg(p, plotWidth, height, d.Name)
	return f, nil
}

// sheet is an empty plot with its axes named.
func sheet(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color = axisColour, axisColour
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = letters(labelSize).Font, ink
		a.Tick.Label.Font, a.Tick.Label.Color = letters(tickSize).Font, ink
		a.Padding, a.Tick.Length = 3, 4
	}
	p.X.Label.Padding, p.Y.Label.Padding = 3, 4
	p.X.Label.Text = fit(xLabel, letters(labelSize), plotWidth*0.6)
	p.Y.Label.Text = fit(yLabel, letters(labelSize), plotHeight*0.6)
	return p
}

// points returns the points of a series that the plot can show.
func points(s curve.Series, keep func(x, y float64) bool) plotter.XYs {
	var xys plotter.XYs
	for i := range min(len(s.X), len(s.Y)) {
		if keep(s.X[i], s.Y[i]) {
			xys = append(xys, plotter.XY{X: s.X[i], Y: s.Y[i]})
		}
	}
	return xys
}

// extent is the smallest box around all points.
func extent(all []plotter.XYs) (lo, hi plotter.XY, any bool) {
	lo, hi = plotter.XY{X: math.Inf(1), Y: math.Inf(1)}, plotter.XY{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, xys := range all {
		for _, p := range xys {
			lo.X, lo.Y = min(lo.X, p.X), min(lo.Y, p.Y)
			hi.X, hi.Y = max(hi.X, p.X), max(hi.Y, p.Y)
			any = true
		}
	}
	return lo, hi, any
}

// manyPoints is the number of points from which a curve is drawn without a mark at each.
const manyPoints = 40

// draw adds grid, series and legend. Ours come last, above the others.
func (f *figure) draw(p *plot.Plot, t curve.Table, shown []plotter.XYs, dots bool) error {
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridColour, gridColour
	p.Add(grid)
	pal, mine := newPalette(t.Series), oursOf(t)
	var under, over []plot.Plotter
	for i, s := range t.Series {
		st := pal.next(s, mine[i])
		if dots {
			st.glyph.Shape, st.glyph.Radius, st.line.Width = draw.BoxGlyph{}, 1.1, 0
		}
		if len(shown[i]) == 0 {
			continue
		}
		f.Legend = append(f.Legend, entry{mark(st), s.Name})
		line := &plotter.Line{XYs: shown[i], LineStyle: st.line}
		scatter, err := plotter.NewScatter(shown[i])
		if err != nil {
			return fmt.Errorf("report: %s: %w", s.Name, err)
		}
		scatter.GlyphStyle = st.glyph
		var both []plot.Plotter
		if !dots {
			both = append(both, line)
		}
		if dots || len(shown[i]) <= manyPoints {
			both = append(both, scatter)
		}
		if mine[i] {
			over = append(over, both...)
		} else {
			under = append(under, both...)
		}
	}
	p.Add(under...)
	p.Add(over...)
	return nil
}

// mark is a style's sample in the legend.
func mark(st style) template.HTML {
	const width, height = 30, 12
	canvas := vgsvg.New(width, height)
	c := draw.New(canvas)
	if st.line.Width > 0 {
		c.StrokeLine2(st.line, 0, height/2, width, height/2)
	} else {
		st.glyph.Radius = 3
	}
	c.DrawGlyph(st.glyph, c.Center())
	return inline(canvas,
		fmt.Sprintf(`<svg class="mark" width="%d" height="%d" viewBox="0 0 %d %d" aria-hidden="true">`,
			width, height, width, height))
}

// block is a bar's sample in the legend.
func block(fill color.Color) template.HTML {
	const width, height = 16, 12
	canvas := vgsvg.New(width, height)
	c := draw.New(canvas)
	c.FillPolygon(fill, []vg.Point{{X: 0, Y: 0}, {X: width, Y: 0}, {X: width, Y: height}, {X: 0, Y: height}})
	return inline(canvas,
		fmt.Sprintf(`<svg class="mark" width="%d" height="%d" viewBox="0 0 %d %d" aria-hidden="true">`,
			width, height, width, height))
}

// svg draws the sheet. The page's style gives it its size.
func svg(p *plot.Plot, width, height vg.Length, name string) template.HTML {
	p.BackgroundColor = nil
	canvas := vgsvg.New(width, height)
	// The last labels of the axes extend beyond the edge by half their width.
	p.Draw(draw.Crop(draw.New(canvas), 2, -18, 1, -8))
	return inline(canvas, fmt.Sprintf(`<svg class="plot" viewBox="0 0 %.5g %.5g" role="img" aria-label="%s">`,
		width.Points(), height.Points(), template.HTMLEscapeString(name)))
}

// inline is a canvas's drawing with a different opening tag: in a page there is no XML prologue,
// and the page decides the size.
func inline(canvas *vgsvg.Canvas, open string) template.HTML {
	var b bytes.Buffer
	_, _ = canvas.WriteTo(&b) // a Buffer never fails
	_, rest, _ := bytes.Cut(b.Bytes(), []byte("<svg"))
	_, body, _ := bytes.Cut(rest, []byte(">"))
	return template.HTML(open + string(body)) // Safe because vgsvg escapes all text that it is given.
}
