package orbits

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Picture is the sky seen from the north pole of the ecliptic.
type Picture struct {
	JD      float64 // of all places
	Bodies  []Position
	Orbits  []Elements // of each body: sets its colour
	Planets [planetCount]Position
}

const (
	pictureSide = 22 * vg.Centimeter
	pictureDPI  = 140
	margin      = 4 * vg.Millimeter
	orbitPoints = 361
)

// Colours on a nearly black ground; groups differ in hue and brightness.
var (
	ground      = color.RGBA{11, 14, 23, 255}
	ink         = color.RGBA{205, 211, 222, 255}
	faint       = color.RGBA{62, 70, 88, 255}
	sunColour   = color.RGBA{255, 214, 90, 255}
	planetInk   = color.RGBA{255, 255, 255, 255}
	orbitColour = color.RGBA{96, 110, 138, 255}
)

// group is a kind of orbit with one colour.
type group struct {
	name   string
	lo, hi float64 // semi-major axis, au: lo <= a < hi
	near   float64 // perihelion below this, au
	colour color.NRGBA
}

// Groups in the order in which they are tried for an orbit; the last takes any. The first three
// have orbits that come near the Earth's.
var groups = [...]group{
	{"Atens", 0, 1, 1, color.NRGBA{255, 90, 90, 255}},
	{"Apollos", 1, 1e9, 1.017, color.NRGBA{255, 170, 80, 230}},
	{"Amors", 1, 1e9, 1.3, color.NRGBA{250, 235, 140, 230}},
	{"Hungarias", 1.78, 2.00, 9, color.NRGBA{255, 120, 110, 230}},
	{"inner belt", 2.06, 2.50, 9, color.NRGBA{255, 190, 120, 120}},
	{"middle belt", 2.50, 2.82, 9, color.NRGBA{190, 220, 140, 120}},
	{"outer belt", 2.82, 3.70, 9, color.NRGBA{120, 200, 230, 120}},
	{"Hildas", 3.92, 4.02, 9, color.NRGBA{200, 140, 255, 255}},
	{"Trojans", 5.05, 5.35, 9, color.NRGBA{110, 240, 170, 220}},
	{"others", math.Inf(-1), math.Inf(1), math.Inf(1), color.NRGBA{190, 190, 200, 200}},
}

// groupOf returns an orbit's index in groups.
func groupOf(el Elements) int {
	return slices.IndexFunc(groups[:], func(g group) bool {
		return el.A >= g.lo && el.A < g.hi && el.A*(1-el.E) < g.near
	})
}

// WritePNG draws the picture to the file at path.
func (p Picture) WritePNG(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("orbits: %w", err)
	}
	if err := p.Encode(f); err != nil {
		f.Close()
		return fmt.Errorf("orbits: %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("orbits: %w", err)
	}
	return nil
}

// Encode draws the picture as a PNG, square and with equal axes.
func (p Picture) Encode(w io.Writer) error {
	edge := p.edge()
	sheet, err := p.sheet(edge)
	if err != nil {
		return err
	}
	// Title and labels take more height than width: the sheet is made higher until the area left
	// for the data is square.
	width, height := pictureSide, pictureSide
	data := sheet.DataCanvas(framed(draw.New(vgimg.New(width, height))))
	size := data.Size()
	height += size.X - size.Y
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pictureDPI), vgimg.UseBackgroundColor(ground))
	sheet.Draw(framed(draw.New(canvas)))
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// framed leaves a margin on all sides.
func framed(c draw.Canvas) draw.Canvas {
	return draw.Crop(c, margin, -margin, margin, -margin)
}

// edge is how far the picture reaches to each side, au: far enough for 99.8 %
// of the bodies and for Mars, in steps of half an au.
func (p Picture) edge() float64 {
	reach := make([]float64, 0, len(p.Bodies))
	for _, b := range p.Bodies {
		reach = append(reach, b.reach())
	}
	slices.Sort(reach)
	far := 1.8
	if len(reach) > 0 {
		far = max(far, reach[len(reach)*998/1000])
	}
	return math.Ceil(2*min(1.02*far, 50)) / 2
}

// outside counts the bodies beyond the edge of a picture.
func (p Picture) outside(edge float64) (n int) {
	for _, b := range p.Bodies {
		if b.reach() > edge {
			n++
		}
	}
	return n
}

// reach is half the side of the smallest square about the Sun that shows p.
func (p Position) reach() float64 { return max(math.Abs(p.X), math.Abs(p.Y)) }

// sheet sets up the plot without drawing it.
func (p Picture) sheet(edge float64) (*plot.Plot, error) {
	sheet := plot.New()
	sheet.BackgroundColor = ground
	sheet.Title.Text = fmt.Sprintf("%s bodies on %s", thousands(len(p.Bodies)), Date(p.JD))
	sheet.Title.TextStyle.Color = ink
	sheet.Title.TextStyle.Font.Size = 17
	sheet.Title.Padding = 6
	sheet.X.Label.Text = fmt.Sprintf("x, au (ecliptic of J2000, JD %.1f; %s bodies are farther out)",
		p.JD, thousands(p.outside(edge)))
	sheet.Y.Label.Text = "y, au"
	for _, axis := range []*plot.Axis{&sheet.X, &sheet.Y} {
		axis.Min, axis.Max = -edge, edge
		axis.Color, axis.Tick.Color = faint, faint
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = ink, ink
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 12, 11
		axis.Padding = 0
		axis.Tick.Marker = plot.ConstantTicks(ticks(edge))
	}
	sheet.Legend.Top, sheet.Legend.Left = true, true
	sheet.Legend.Padding = 3
	sheet.Legend.XOffs, sheet.Legend.YOffs = 8, -8
	sheet.Legend.TextStyle.Color, sheet.Legend.TextStyle.Font.Size = ink, 11
	if err := p.addBodies(sheet, edge); err != nil {
		return nil, err
	}
	return sheet, p.addPlanets(sheet, edge)
}

// addBodies adds a cloud of dots for each group that has a body in the frame.
func (p Picture) addBodies(sheet *plot.Plot, edge float64) error {
	var clouds [len(groups)]plotter.XYs
	for i, b := range p.Bodies {
		if b.reach() > edge {
			continue
		}
		g := len(groups) - 1
		if i < len(p.Orbits) {
			g = groupOf(p.Orbits[i])
		}
		clouds[g] = append(clouds[g], plotter.XY{X: b.X, Y: b.Y})
	}
	radius := vg.Length(min(max(0.6*math.Sqrt(50_000/float64(len(p.Bodies)+1)), 0.35), 1.1))
	for g, cloud := range clouds {
		if len(cloud) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(cloud)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: groups[g].colour, Radius: radius, Shape: dot{}}
		sheet.Add(dots)
		sheet.Legend.Add(fmt.Sprintf("%s (%s)", groups[g].name, thousands(len(cloud))), swatch{groups[g].colour})
	}
	return nil
}

// addPlanets adds the Sun, and each planet in the frame with its orbit and name.
func (p Picture) addPlanets(sheet *plot.Plot, edge float64) error {
	sun, err := plotter.NewScatter(plotter.XYs{{}})
	if err != nil {
		return err
	}
	sun.GlyphStyle = draw.GlyphStyle{Color: sunColour, Radius: 4, Shape: draw.CircleGlyph{}}
	sheet.Add(sun)
	for i, planet := range planets {
		at := p.Planets[i]
		if at.reach() > edge {
			continue
		}
		el := planet.ElementsAt(p.JD)
		path := make(plotter.XYs, orbitPoints)
		for k := range path {
			el.M = twoPi * float64(k) / (orbitPoints - 1)
			place := el.At(p.JD)
			path[k] = plotter.XY{X: place.X, Y: place.Y}
		}
		line, err := plotter.NewLine(path)
		if err != nil {
			return err
		}
		line.LineStyle = draw.LineStyle{Color: orbitColour, Width: 0.7}
		disc, err := plotter.NewScatter(plotter.XYs{{X: at.X, Y: at.Y}})
		if err != nil {
			return err
		}
		disc.GlyphStyle = draw.GlyphStyle{Color: planetInk, Radius: 2.6, Shape: draw.CircleGlyph{}}
		sheet.Add(line, disc)
		if at.R() < edge/12 {
			continue // no room for a name this near the Sun
		}
		name, err := plotter.NewLabels(plotter.XYLabels{
			XYs: plotter.XYs{{X: at.X, Y: at.Y}}, Labels: []string{planet.Name},
		})
		if err != nil {
			return err
		}
		name.TextStyle[0].Color = planetInk
		name.TextStyle[0].Font = font.From(plot.DefaultFont, 11)
		name.Offset = vg.Point{X: 5, Y: 3}
		sheet.Add(name)
	}
	return nil
}

// dot draws a body as a filled square, which is several times faster than a circle and looks the
// same at this size.
type dot struct{}

// DrawGlyph is what the plotter calls for each body.
func (dot) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := style.Radius
	c.SetColor(style.Color)
	var path vg.Path
	path.Move(vg.Point{X: at.X - r, Y: at.Y - r})
	path.Line(vg.Point{X: at.X + r, Y: at.Y - r})
	path.Line(vg.Point{X: at.X + r, Y: at.Y + r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y + r})
	path.Close()
	c.Fill(path)
}

// swatch is a group's mark in the legend: larger than its dots, and opaque.
type swatch struct {
	colour color.NRGBA
}

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	s.colour.A = 255
	c.DrawGlyph(draw.GlyphStyle{Color: s.colour, Radius: 3, Shape: draw.CircleGlyph{}}, c.Center())
}

// ticks returns labelled marks for an axis from -edge to edge.
func ticks(edge float64) (marks []plot.Tick) {
	step := 1.0
	for 2*edge/step > 14 {
		step *= 2.5
	}
	for v := -math.Floor(edge/step) * step; v <= edge; v += step {
		marks = append(marks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
	}
	return marks
}

// thousands writes n with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
