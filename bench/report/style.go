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

// Colours on white that people with the usual kinds of colour blindness tell
// apart, by Okabe and Ito without their yellow, which is too light for a line,
// and with their blue darkened for ours.
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

// familyColours are those of libraries, the same in every plot.
var familyColours = map[string]color.RGBA{
	"ark": otherColours[0], "arche": otherColours[3], "volt": otherColours[1],
	"donburi": otherColours[2], "uot": otherColours[4], "unitoftime": otherColours[4],
}

// Curves of one colour differ in these two.
var (
	dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}}
	glyphs = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
		draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
	}
	roofDashes = [][]vg.Length{{5, 3}, {1.5, 2.5}, {9, 3, 2, 3}}
)

// quarry is the first word of the names of what Quarry does.
const quarry = "quarry"

// oursOf finds the series of a table that are Quarry's: those named so, or else
// those named as the package that is measured, or else the first that is no
// roof.
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

// family is the first word of a name: the library, or what it is a way of.
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

// palette gives the series of one plot their styles, in order.
type palette struct {
	free    []color.RGBA // those that no library of the plot has
	strange int          // series so far that are of no known library
	used    map[color.RGBA]int
	roofs   int
}

// newPalette knows all series of a plot, so that a colour which a library has
// everywhere is not given to something else.
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

// colour of a series: that of its library, or the next that is free.
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

// next is the style of the next series.
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

// letters is the style of text in plots. Its metrics are those of Liberation
// Sans, which Arial and Helvetica share, so that a page without the font fits.
func letters(size vg.Length) text.Style {
	return text.Style{
		Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

// fit shortens a text to one line of a width.
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
