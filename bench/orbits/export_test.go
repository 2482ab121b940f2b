package orbits

// What the tests need of the inside.
var (
	CheckPlanets = checkPlanets
	CheckBodies  = checkBodies
	CheckSame    = checkSame
	GroupOf      = groupOf
	Thousands    = thousands
	// Those with limits of their own.
	ReadMPCORBFrom   = readMPCORB
	ParseMPCORBLimit = parseMPCORB
	ReadSBDBLimit    = readSBDB
)

// Sky is what both sides can do.
type Sky = sky
