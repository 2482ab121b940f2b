package orbits

// Internals that the tests need.
var (
	CheckPlanets = checkPlanets
	CheckBodies  = checkBodies
	CheckSame    = checkSame
	GroupOf      = groupOf
	Thousands    = thousands
	// Readers with a limit as an argument.
	ReadMPCORBFrom   = readMPCORB
	ParseMPCORBLimit = parseMPCORB
	ReadSBDBLimit    = readSBDB
)

// Sky has the methods of both sides.
type Sky = sky
