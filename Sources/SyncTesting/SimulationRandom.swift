/// The random numbers of a simulation: equal seeds give equal numbers, on every machine.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
public struct SimulationRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator.
    public init(seed: UInt64) { state = seed }

    /// Makes the generator of one part of a run, whose numbers do not depend on what other parts draw.
    init(seed: UInt64, part: UInt64) {
        var mixer = SimulationRandom(seed: seed &+ part &* 0xD1B5_4A32_D192_ED03)
        state = mixer.next() ^ part
    }

    /// Sixty-four random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from zero to `bound`, excluded. Zero when `bound` is not positive.
    public mutating func number(below bound: Int) -> Int {
        bound > 0 ? Int(next() % UInt64(bound)) : 0
    }

    /// True once in `count` times, on average.
    public mutating func oneIn(_ count: Int) -> Bool { number(below: count) == 0 }

    /// One of some elements, or nil when there are none.
    public mutating func element<T>(of elements: [T]) -> T? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }
}
