package main

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	canvas "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Size of the picture: panels side by side.
const (
	width    = 25 * vg.Centimeter
	height   = 6.5 * vg.Centimeter
	dpi      = 110
	barWidth = 0.9 * vg.Centimeter
)

// Colours of the bars: others grey, Quarry blue as in the report.
var (
	grey = color.RGBA{150, 150, 150, 255}
	blue = color.RGBA{0, 71, 171, 255}
)

// draw writes the panels to a PNG.
func draw(name string, panels []panel) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(encode(f, panels), f.Close())
}

func encode(w io.Writer, panels []panel) error {
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	all := canvas.New(c)
	wide := width / vg.Length(len(panels))
	for i, p := range panels {
		sheet, err := p.sheet()
		if err != nil {
			return err
		}
		left := wide * vg.Length(i)
		sheet.Draw(canvas.Crop(all, left+6, left+wide-width-6, 6, -8))
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// sheet is a panel with its bars.
func (p *panel) sheet() (*plot.Plot, error) {
	sheet := plot.New()
	sheet.Title.Text, sheet.Title.TextStyle, sheet.Title.Padding = p.title, letters(10.5), 8
	sheet.Title.TextStyle.XAlign, sheet.Title.TextStyle.YAlign = text.XCenter, text.YTop
	sheet.HideY()
	sheet.X.Tick.Label.Font, sheet.X.Tick.Label.XAlign = letters(10).Font, text.XCenter
	sheet.X.Tick.Label.YAlign = text.YTop
	most := 0.0
	for i, v := range p.values {
		most = max(most, v)
		bar, err := plotter.NewBarChart(plotter.Values{v}, barWidth)
		if err != nil {
			return nil, err
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(i), grey, 0
		if p.names[i] == "Quarry" {
			bar.Color = blue
		}
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
	sheet.NominalX(p.names...)
	sheet.X.Min, sheet.X.Max = -0.6, float64(len(p.values))-0.4
	sheet.Y.Min, sheet.Y.Max = 0, most*1.12
	return sheet, nil
}

// letters is the text style for a size.
func letters(size vg.Length) text.Style {
	return text.Style{
		Color: color.RGBA{26, 26, 26, 255}, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}
