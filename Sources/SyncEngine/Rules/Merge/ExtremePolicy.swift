import SyncWire

/// Of two values that were written without knowing of each other, the greater or the smaller one stands.
///
/// The order is that of SQLite's `ORDER BY`: numbers by what they are, whatever their type; text after numbers, by its
/// bytes; blobs last. NULL is no value, as in SQL's aggregates: it gives way to whatever else was written.
struct ExtremePolicy: CellPolicy, Equatable {
    /// Whether the greater one stands, or else the smaller one.
    let isGreatest: Bool
    let decidesConflicts = true

    var word: String { isGreatest ? "max" : "min" }

    func outcome(lost: WireValue, won: WireValue) -> ConflictOutcome {
        let prefersOlder = prefers(lost, over: won)
        assert(!prefersOlder || !prefers(won, over: lost), "of two values one stands, whichever is newer")
        return .chosen(prefersOlder: prefersOlder)
    }

    /// Whether the older value stands. Of two that are equal, such as 1 and 1.0, the newer one does, as without a
    /// policy, so that nothing has to be written.
    func prefers(_ lost: WireValue, over won: WireValue) -> Bool {
        guard let (lostRank, wonRank) = Self.ranks(lost, won) else {
            return Self.rank(won) == 0 && Self.rank(lost) > 0
        }
        let order = lostRank == wonRank ? Self.compare(lost, won) : lostRank - wonRank
        return isGreatest ? order > 0 : order < 0
    }

    /// The classes of both values, or nil when one of them is none.
    private static func ranks(_ one: WireValue, _ other: WireValue) -> (Int, Int)? {
        let ranks = (rank(one), rank(other))
        return ranks.0 == 0 || ranks.1 == 0 ? nil : ranks
    }

    /// The class of a value in SQLite's order. A column makes NULL of what is not a number.
    private static func rank(_ value: WireValue) -> Int {
        switch value {
        case .null: 0
        case .real(let number): number.isNaN ? 0 : 1
        case .integer: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// Compares two values of one class.
    private static func compare(_ one: WireValue, _ other: WireValue) -> Int {
        switch (one, other) {
        case (.integer(let left), .real(let right)): compare(left, right)
        case (.real(let left), .integer(let right)): -compare(right, left)
        // The total order of bundles has a place of its own for -0.
        case (.real(let left), .real(let right)): left < right ? -1 : (left == right ? 0 : 1)
        default: one.compare(other)
        }
    }

    /// Compares exactly: not every integer is a floating-point number.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        guard real >= -0x1p63 else { return 1 }
        guard real < 0x1p63 else { return -1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let fraction = real - Double(whole)
        return fraction > 0 ? -1 : (fraction < 0 ? 1 : 0)
    }
}
