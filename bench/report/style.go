package report

import (
	"image/color"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"quarry/bench/curve"
)

// Colours on white that people with the usual kinds of colour blindness can distinguish, by Okabe
// and Ito without their yellow, which is too light for a line, and with their blue darkened for
// ours.
var (
	oursColour = color.RGBA{0, 71, 171, 255}
	roofColour = color.RGBA{110, 110, 110, 255}
	axisColour = color.RGBA{90, 90, 90, 255}
	gridColour = color.RGBA{226, 226, 226, 255}
	ink        = color.RGBA{26, 26, 26, 255}

	otherColours = []color.RGBA{
		{213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {122, 74, 30, 255},
	}
)

// familyColours are the colours of the libraries, the same in every plot.
var familyColours = map[string]color.RGBA{
	"ark": otherColours[0], "arche": otherColours[3], "volt": otherColours[1],
	"donburi": otherColours[2], "uot": otherColours[4], "unitoftime": otherColours[4],
}

// Curves of the same colour differ in dashes and glyphs.
var (
	dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}}
	glyphs = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
		draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
	}
	roofDashes = [][]vg.Length{{5, 3}, {1.5, 2.5}, {9, 3, 2, 3}}
)

// quarry is the first word of the names of Quarry's series.
const quarry = "quarry"

// oursOf finds the series of a table that are Quarry's: those named quarry, or else those named
// like the measured package, or else the first series that is not a roof.
func oursOf(t curve.Table) []bool {
	named := make([]bool, len(t.Series))
	for _, word := range []string{quarry, family(t.Package)} {
		for i, s := range t.Series {
			named[i] = family(s.Name) == word && !s.Roof
		}
		if slices.Contains(named, true) {
			return named
		}
	}
	if i := slices.IndexFunc(t.Series, func(s curve.Series) bool { return !s.Roof }); i >= 0 {
		named[i] = true
	}
	return named
}

// family is the first word of a name: the library, or the thing that it is a way of.
func family(name string) string {
	word, _, _ := strings.Cut(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, name), " ")
	return word
}

// style is how one series is drawn.
type style struct {
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// palette hands out the styles of the series of one plot, in order.
type palette struct {
	free    []color.RGBA // colours that no library of the plot has
	strange int          // series so far that belong to no known library
	used    map[color.RGBA]int
	roofs   int
}

// newPalette looks at all series of a plot first, so that a library's colour is not given to
// another series.
func newPalette(series []curve.Series) *palette {
	p := &palette{used: map[color.RGBA]int{}}
	for _, c := range otherColours {
		if !slices.ContainsFunc(series, func(s curve.Series) bool { return familyColours[family(s.Name)] == c }) {
			p.free = append(p.free, c)
		}
	}
	if len(p.free) == 0 {
		p.free = otherColours
	}
	return p
}

// colour returns the colour of a series: its library's, or the next free one.
func (p *palette) colour(name string, ours bool) color.RGBA {
	if ours {
		return oursColour
	}
	if c, ok := familyColours[family(name)]; ok {
		return c
	}
	p.strange++
	return p.free[(p.strange-1)%len(p.free)]
}

// next returns the style of the next series.
func (p *palette) next(s curve.Series, ours bool) style {
	if s.Roof {
		st := style{line: draw.LineStyle{Color: roofColour, Width: 1.6, Dashes: roofDashes[p.roofs%len(roofDashes)]}}
		p.roofs++
		st.glyph = draw.GlyphStyle{Color: roofColour, Radius: 1.6, Shape: draw.CircleGlyph{}}
		return st
	}
	c := p.colour(s.Name, ours)
	k := p.used[c]
	p.used[c]++
	st := style{
		line:  draw.LineStyle{Color: c, Width: 1.5, Dashes: dashes[k%len(dashes)]},
		glyph: draw.GlyphStyle{Color: c, Radius: 2.6, Shape: glyphs[k%len(glyphs)]},
	}
	if ours {
		st.line.Width, st.glyph.Radius = 2.4, 3
	}
	return st
}

// letters is the text style of plots. Its metrics are of Liberation Sans, which Arial and Helvetica
// share, so that text fits on a page without the font.
func letters(size vg.Length) text.Style {
	return text.Style{
		Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

// fit shortens a text to one line of the given width.
func fit(s string, in text.Style, width vg.Length) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if in.Width(string(runes)) <= width {
		return string(runes)
	}
	for len(runes) > 0 && in.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
