package orbits

import "math"

// Planet is a planet's approximate orbit: elements that change in proportion to
// time. Source: E. M. Standish and J. G. Williams, "Keplerian Elements for
// Approximate Positions of the Major Planets", JPL Solar System Dynamics,
// Table 1, for 1800 to 2050; mean ecliptic and equinox of J2000.
type Planet struct {
	Name string
	Secular
}

// Secular is the component from which a planet's place is computed. Each line is the value at J2000
// and its change per Julian century. 96 B.
type Secular struct {
	A    [2]float64 // semi-major axis, au
	E    [2]float64 // eccentricity
	I    [2]float64 // inclination, degrees
	L    [2]float64 // mean longitude, degrees
	Peri [2]float64 // longitude of perihelion, degrees
	Node [2]float64 // longitude of the ascending node, degrees
}

// planetCount is how many planets the table has.
const planetCount = 8

// jupiter is Jupiter's index in Planets.
const jupiter = 4

// Planets returns the table, from the Sun outwards. The third is the barycentre of the Earth and
// the Moon.
func Planets() [planetCount]Planet { return planets }

var planets = [planetCount]Planet{
	{"Mercury", Secular{
		A: [2]float64{0.38709927, 0.00000037}, E: [2]float64{0.20563593, 0.00001906},
		I: [2]float64{7.00497902, -0.00594749}, L: [2]float64{252.25032350, 149472.67411175},
		Peri: [2]float64{77.45779628, 0.16047689}, Node: [2]float64{48.33076593, -0.12534081}}},
	{"Venus", Secular{
		A: [2]float64{0.72333566, 0.00000390}, E: [2]float64{0.00677672, -0.00004107},
		I: [2]float64{3.39467605, -0.00078890}, L: [2]float64{181.97909950, 58517.81538729},
		Peri: [2]float64{131.60246718, 0.00268329}, Node: [2]float64{76.67984255, -0.27769418}}},
	{"Earth", Secular{
		A: [2]float64{1.00000261, 0.00000562}, E: [2]float64{0.01671123, -0.00004392},
		I: [2]float64{-0.00001531, -0.01294668}, L: [2]float64{100.46457166, 35999.37244981},
		Peri: [2]float64{102.93768193, 0.32327364}, Node: [2]float64{0, 0}}},
	{"Mars", Secular{
		A: [2]float64{1.52371034, 0.00001847}, E: [2]float64{0.09339410, 0.00007882},
		I: [2]float64{1.84969142, -0.00813131}, L: [2]float64{-4.55343205, 19140.30268499},
		Peri: [2]float64{-23.94362959, 0.44441088}, Node: [2]float64{49.55953891, -0.29257343}}},
	{"Jupiter", Secular{
		A: [2]float64{5.20288700, -0.00011607}, E: [2]float64{0.04838624, -0.00013253},
		I: [2]float64{1.30439695, -0.00183714}, L: [2]float64{34.39644051, 3034.74612775},
		Peri: [2]float64{14.72847983, 0.21252668}, Node: [2]float64{100.47390909, 0.20469106}}},
	{"Saturn", Secular{
		A: [2]float64{9.53667594, -0.00125060}, E: [2]float64{0.05386179, -0.00050991},
		I: [2]float64{2.48599187, 0.00193609}, L: [2]float64{49.95424423, 1222.49362201},
		Peri: [2]float64{92.59887831, -0.41897216}, Node: [2]float64{113.66242448, -0.28867794}}},
	{"Uranus", Secular{
		A: [2]float64{19.18916464, -0.00196176}, E: [2]float64{0.04725744, -0.00004397},
		I: [2]float64{0.77263783, -0.00242939}, L: [2]float64{313.23810451, 428.48202785},
		Peri: [2]float64{170.95427630, 0.40805281}, Node: [2]float64{74.01692503, 0.04240589}}},
	{"Neptune", Secular{
		A: [2]float64{30.06992276, 0.00026291}, E: [2]float64{0.00859048, 0.00005105},
		I: [2]float64{1.77004347, 0.00035372}, L: [2]float64{-55.12002969, 218.45945325},
		Peri: [2]float64{44.96476227, -0.32241464}, Node: [2]float64{131.78422574, -0.00508664}}},
}

// ElementsAt returns the elements at a Julian date, which is also their epoch.
func (s *Secular) ElementsAt(jd float64) Elements {
	t := (jd - J2000) / daysPerCentury
	at := func(v [2]float64) float64 { return v[0] + v[1]*t }
	return Elements{
		A:     at(s.A),
		E:     at(s.E),
		I:     radians(at(s.I)),
		Node:  radians(at(s.Node)),
		Peri:  radians(at(s.Peri) - at(s.Node)),
		M:     radians(at(s.L) - at(s.Peri)),
		N:     radians((s.L[1] - s.Peri[1]) / daysPerCentury),
		Epoch: jd,
	}
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }
