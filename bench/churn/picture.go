package churn

import (
	"fmt"
	"image/color"
	"io"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Size of the figure: four panels side by side.
const (
	pictureWidth  = 24 * vg.Centimeter
	pictureHeight = 7.5 * vg.Centimeter
	titleHeight   = 0.9 * vg.Centimeter
	pictureDPI    = 110
	barWidth      = 1.05 * vg.Centimeter
)

// drawnWays is how many ways the figure shows; the fourth is in the table only.
const drawnWays = 3

// Colours and names of the bars: plain Go grey, Quarry blue as in the report.
var (
	barColours = [drawnWays]color.RGBA{{110, 110, 110, 255}, {170, 170, 170, 255}, {0, 71, 171, 255}}
	barNames   = [drawnWays]string{"objects", "slots", "Quarry"}
)

// panel is one figure for all ways.
type panel struct {
	title, format string
	of            func(m *sample) float64
}

var panels = []panel{
	{"resident memory, MB, peak", "%.0f", func(m *sample) float64 { return float64(m.Peak) / 1e6 }},
	{"collector, % of CPU time", "%.1f", (*sample).share},
	{"16 requests, us, p99.9", "%.0f", func(m *sample) float64 { return float64(m.P999) / 1e3 }},
	{"16 requests, us, median", "%.2f", func(m *sample) float64 { return float64(m.P50) / 1e3 }},
}

// writePicture draws the figure to the file at path.
func writePicture(path string, list []sample, records int) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("churn: %w", err)
	}
	if err := encode(f, list, records); err != nil {
		f.Close()
		return fmt.Errorf("churn: %s: %w", path, err)
	}
	return f.Close()
}

// encode draws the panels as a PNG.
func encode(w io.Writer, list []sample, records int) error {
	canvas := vgimg.NewWith(vgimg.UseWH(pictureWidth, pictureHeight), vgimg.UseDPI(pictureDPI),
		vgimg.UseBackgroundColor(color.White))
	all := draw.New(canvas)
	head := letters(13)
	head.XAlign, head.YAlign = text.XCenter, text.YCenter
	all.FillText(head, vg.Point{X: pictureWidth / 2, Y: pictureHeight - titleHeight/2},
		fmt.Sprintf("a store of %.3g million records: put, removed and looked up, beside code that makes garbage",
			float64(records)/1e6))
	wide := pictureWidth / vg.Length(len(panels))
	for i, p := range panels {
		sheet, err := p.sheet(list)
		if err != nil {
			return err
		}
		left := wide * vg.Length(i)
		sheet.Draw(draw.Crop(all, left+6, left+wide-pictureWidth-6, 6, -titleHeight))
	}
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// sheet is one panel with its bars, nothing drawn yet.
func (p *panel) sheet(list []sample) (*plot.Plot, error) {
	sheet := plot.New()
	sheet.Title.Text = p.title
	sheet.Title.TextStyle = letters(10.5)
	sheet.Title.TextStyle.XAlign, sheet.Title.TextStyle.YAlign = text.XCenter, text.YTop
	sheet.Title.Padding = 6
	sheet.HideY()
	sheet.X.Tick.Label.Font, sheet.X.Tick.Label.YAlign = letters(10).Font, text.YTop
	sheet.X.Tick.Label.XAlign = text.XCenter
	most := 0.0
	for i := range drawnWays {
		v := p.of(&list[i])
		most = max(most, v)
		bar, err := plotter.NewBarChart(plotter.Values{v}, barWidth)
		if err != nil {
			return nil, err
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(i), barColours[i], 0
		label, err := plotter.NewLabels(plotter.XYLabels{
			XYs: plotter.XYs{{X: float64(i), Y: v}}, Labels: []string{fmt.Sprintf(p.format, v)},
		})
		if err != nil {
			return nil, err
		}
		label.TextStyle[0] = letters(11)
		label.TextStyle[0].XAlign = text.XCenter
		label.Offset.Y = 3
		sheet.Add(bar, label)
	}
	sheet.NominalX(barNames[:]...)
	sheet.X.Min, sheet.X.Max = -0.6, drawnWays-0.4
	sheet.Y.Min, sheet.Y.Max = 0, max(most*1.12, 1e-9)
	return sheet, nil
}

// letters is the text style for a size.
func letters(size vg.Length) text.Style {
	return text.Style{
		Color: color.RGBA{26, 26, 26, 255}, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}
