import Foundation
import SyncEngine
import SyncWire

/// What a hostile device chooses its words from: mostly what makes sense to a receiver, so that it gets far, and now
/// and then something at or beyond a limit.
struct HostileWords {
    var random: SimulationRandom
    /// One of so many choices is a strange one.
    let rarity: Int

    init(_ random: SimulationRandom) {
        self.random = random
        // Each message has its own mixture: one odd thing in it, or many.
        rarity = [5, 20, 60, 200, 1000][self.random.number(below: 5)]
    }

    mutating func isOdd() -> Bool { random.oneIn(rarity) }

    // MARK: Numbers

    /// A number from 1, with those around a limit.
    mutating func number(upTo limit: Int64) -> Int64 {
        let edges: [Int64] = [0, -1, limit - 1, limit, limit, limit &+ 1, .max, .min, .max - 1]
        let usual: [Int64] = [1, 2, 3, 7, 40, 1000, 1 << 20, 1 << 32, limit / 2, limit - 1, limit]
        return (isOdd() ? random.element(of: edges) : random.element(of: usual)) ?? 1
    }

    mutating func sequence() -> Int64 {
        random.oneIn(4) ? number(upTo: AdmissionLimits.sequenceMax) : Int64(1 + random.number(below: 60))
    }

    mutating func timestamp(_ now: Int64) -> Int64 {
        if random.oneIn(5) { return number(upTo: AdmissionLimits.timestampMax) }
        let distance = Int64(random.number(below: 2_000_000)) - 1_000_000
        return max(0, (now &+ distance) << 16 | Int64(random.number(below: 3)))
    }

    mutating func life(_ known: Int64?) -> Int64 {
        if let known, !random.oneIn(4) {
            return known.addingReportingOverflow(Int64(random.number(below: 3))).partialValue
        }
        if random.oneIn(3) { return number(upTo: AdmissionLimits.lifeMax) }
        return Int64(1 + random.number(below: 4))
    }

    mutating func milliseconds(_ now: Int64) -> Int64 {
        random.oneIn(2) ? now : number(upTo: AdmissionLimits.millisecondsMax)
    }

    // MARK: Identifiers

    mutating func identifier() -> Identifier128 {
        if random.oneIn(20) { return random.oneIn(2) ? .init(high: 0, low: 0) : .init(high: .max, low: .max) }
        return Identifier128(high: random.next(), low: random.next())
    }

    mutating func replica(_ view: HostileView) -> ReplicaID {
        if !isOdd(), let known = random.element(of: view.replicas) { return known }
        return identifier()
    }

    mutating func vector(_ view: HostileView, countMax: Int = 4) -> VersionVector {
        if random.oneIn(4) { return view.vector }
        var vector = random.oneIn(3) ? view.vector : VersionVector()
        for _ in 0..<random.number(below: countMax + 1) {
            let replica = replica(view)
            let known = vector[replica]
            vector[replica] =
                random.oneIn(2)
                ? sequence() : known.addingReportingOverflow(Int64(random.number(below: 5)) - 2).partialValue
        }
        return vector
    }

    // MARK: Names

    private static let strangeNames = [
        "", " ", "id", "ID", "rowid", "_rowid_", "oid", "é", "e\u{301}", "\u{130}", "\u{212A}", "a\u{0}b",
        "a\u{0}c",
        "😀",
        "'; DROP TABLE note; --", "\"", "`", "[", "]]", "a.b", "main", "temp", "sqlite_master", "_sync_row",
        "_SYNC_state", "_sync_table_names", "_sync_column_names", "_sync_policy", "_sync_share", "+",
        "title+",
        "\u{202E}txet", "%", "?1", ":a", "NULL", "\n", "__proto__",
    ]

    mutating func strangeName() -> String {
        switch random.number(below: 12) {
        case 0:
            let lengths = [-1, 0, 1, 100, -10_000]
            let length = AdmissionLimits.nameByteCountMax + (random.element(of: lengths) ?? 0)
            return String(repeating: "n", count: length)
        case 1: return "invented \(random.number(below: 1000))"
        case 2: return "stars+" + String(repeating: "0f", count: 16)
        default: return random.element(of: Self.strangeNames) ?? ""
        }
    }

    /// A name as it is, or in other letters, or another one.
    mutating func name(like name: String) -> String {
        if random.oneIn(12) { return name.uppercased() }
        return isOdd() ? strangeName() : name
    }

    // MARK: Values

    mutating func value() -> ForgedBundle.Value {
        let texts = ["", "a", "b", "c", "A", "a\u{0}b", "é", "e\u{301}", "1", "1.0", "NULL", "'; --", "😀"]
        let numbers: [Int64] = [0, 1, -1, .max, .min, 1 << 53, 255, 5, 9]
        let reals: [Double] = [
            0.5, -0.0, 1, 1e300, -.infinity, .infinity, .nan, -.nan, .signalingNaN, .leastNonzeroMagnitude,
            9_223_372_036_854_775_808,
        ]
        switch random.number(below: 14) {
        case 0: return .plain(.null)
        case 1...3: return .plain(.integer(random.element(of: numbers) ?? 0))
        case 4: return .real(random.element(of: reals) ?? 0)
        case 5...9: return .plain(.text(random.element(of: texts) ?? ""))
        case 10: return .plain(.blob((0..<random.number(below: 20)).map { UInt8($0) }))
        case 11 where isOdd():
            return .plain(.text(String(repeating: "long ", count: 60_000)))
        case 12: return .brokenText(random.oneIn(2) ? [0xFF, 0xFE] : [0xED, 0xA0, 0x80])
        default: return .plain(.text("by the device"))
        }
    }

    mutating func scopeValue() -> ScopeValue {
        let values: [ScopeValue] = ["a", "b", "c", nil, 1, "A", .blob([0x61]), .integer(.max)]
        return random.element(of: values) ?? nil
    }
}
