package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"quarry/bench/curve"
)

// Sizes of a bar plot.
const (
	barWidth  vg.Length = 13
	barPitch  vg.Length = 22
	barFrame  vg.Length = 50 // space for the axis below
	nameWidth vg.Length = 150
)

// bars draws a table whose series have one point each: one bar per series, from the top, on an axis
// from 0. Series without a figure are left out.
func bars(t curve.Table) (figure, error) {
	f := figure{Title: t.Name, What: t.What}
	var names []string
	var values plotter.Values
	var styles []style
	top := 0.0
	pal, mine := newPalette(t.Series), oursOf(t)
	for i, s := range t.Series {
		st := pal.next(s, mine[i])
		if len(s.Y) == 0 || !(s.Y[0] >= 0 && s.Y[0] <= most) {
			continue
		}
		f.addBar(s, st)
		names, values, styles = append(names, s.Name), append(values, s.Y[0]), append(styles, st)
		top = max(top, s.Y[0])
	}
	if len(values) == 0 {
		return f, nil
	}
	if top < least {
		top = 1
	}
	p := sheet(t.YLabel, "entrants")
	p.X.Min, p.X.Max = 0, 1.25*top // room for the figure behind the longest bar
	p.Y.Min, p.Y.Max = -0.6, float64(len(values))-0.4
	p.X.Tick.Marker = plot.ConstantTicks(linearTicks(0, p.X.Max))
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Width = gridColour, 0
	p.Add(grid)
	if err := addBars(p, names, values, styles); err != nil {
		return f, fmt.Errorf("report: %s: %w", t.Name, err)
	}
	f.SVG = svg(p, plotWidth, barFrame+barPitch*vg.Length(len(values)), t.Name)
	return f, nil
}

// addBars adds the bars from the top, with the name before and the figure behind each.
func addBars(p *plot.Plot, names []string, values plotter.Values, styles []style) error {
	var ticks []plot.Tick
	figures := plotter.XYLabels{}
	for i := range values {
		at := len(values) - 1 - i
		bar, err := plotter.NewBarChart(values[i:i+1], barWidth)
		if err != nil {
			return err
		}
		bar.Horizontal, bar.XMin, bar.Color = true, float64(at), styles[i].line.Color
		bar.LineStyle.Width = 0
		p.Add(bar)
		ticks = append(ticks, plot.Tick{Value: float64(at), Label: fit(names[i], letters(tickSize), nameWidth)})
		figures.XYs = append(figures.XYs, plotter.XY{X: values[i], Y: float64(at)})
		figures.Labels = append(figures.Labels, measured(values[i]))
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length = 0
	labels, err := plotter.NewLabels(figures)
	if err != nil {
		return err
	}
	for i := range labels.TextStyle {
		labels.TextStyle[i] = letters(tickSize)
		labels.TextStyle[i].YAlign = draw.YCenter
	}
	labels.Offset = vg.Point{X: 4}
	p.Add(labels)
	return nil
}

// addBar adds the colour of a bar to the legend: one entry per library.
func (f *figure) addBar(s curve.Series, st style) {
	name := family(s.Name)
	if s.Roof {
		name = "plain Go"
	}
	if !slices.ContainsFunc(f.Legend, func(e entry) bool { return e.Name == name }) {
		f.Legend = append(f.Legend, entry{block(st.line.Color), name})
	}
}
