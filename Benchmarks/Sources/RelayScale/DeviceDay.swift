import Foundation

/// What people do with their devices on a day.
///
/// The figures are assumptions, not measurements: phones are looked at often and shortly, computers run for a working day,
/// and most databases belong to one person. `--edits` and `--team` change the ones that matter most.
struct DeviceDay {
    /// The share of phones.
    var phoneShare = 0.6
    /// How often a phone is taken up in its sixteen hours, and for how many seconds on average.
    var phoneWakes = 60.0
    var phoneSeconds = 180.0
    /// When a computer is opened and closed, in hours of its own day, and how often its lid is closed in between.
    var computerHours = (9.0, 17.5)
    var computerPauses = 5.0
    /// How many edits are made in an hour of use. Those of a minute go as one.
    var editsPerHour = 12.0
    /// How many devices a database has, and which share of the databases: the last is a team.
    var sizes: [(deviceCount: Int, share: Double)] = [(2, 0.6), (4, 0.3), (12, 0.08), (50, 0.02)]
    /// In how many time zones they are, an hour apart.
    var zoneCount = 9

    static let seconds = 86_400.0

    /// When a device is in use, as pairs of seconds of the relay's day.
    func spans(_ isPhone: Bool, zone: Int, _ random: inout ModelRandom) -> [(start: Double, end: Double)] {
        let shift = Double(zone) * 3_600
        var spans: [(Double, Double)] = []
        if isPhone {
            for _ in 0..<Int(phoneWakes) {
                let start = 7 * 3_600 + random.fraction() * 16 * 3_600
                spans.append((start, start + random.exponential(phoneSeconds)))
            }
        } else {
            var start = computerHours.0 * 3_600 + random.fraction() * 1_800
            let end = computerHours.1 * 3_600 + random.fraction() * 1_800
            let mean = (end - start) / (computerPauses + 1)
            while start < end {
                let next = start + random.exponential(mean)
                spans.append((start, min(next, end)))
                start = next + random.exponential(900)
            }
        }
        spans.sort { $0.0 < $1.0 }
        // Two looks at a phone that overlap are one.
        var joined: [(Double, Double)] = []
        for span in spans {
            if let last = joined.last, span.0 <= last.1 {
                joined[joined.count - 1].1 = max(last.1, span.1)
            } else {
                joined.append(span)
            }
        }
        return joined.map { (($0.0 + shift).truncatingRemainder(dividingBy: Self.seconds), $0.1 - $0.0) }
            .map { ($0.0, min($0.0 + $0.1, Self.seconds)) }
    }
}

/// Random numbers that are the same for each seed (SplitMix64; Steele, Lea and Flood 2014).
struct ModelRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A number from 0 to 1, and never 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(UInt64(1) << 53) }

    mutating func exponential(_ mean: Double) -> Double { -log(1 - fraction()) * mean }
}
