/// A value of a row, as its users name it.
struct WitnessedCell: Hashable, Comparable, CustomStringConvertible {
    let table: String
    let key: String
    let column: String

    var description: String { "\(column) of \(table) \(key)" }

    static func < (one: WitnessedCell, other: WitnessedCell) -> Bool {
        (one.table, one.key, one.column) < (other.table, other.key, other.column)
    }
}

/// What users wrote and saw, and nothing that they could not know.
///
/// Each value is written once, so that whoever sees it knows which write it is. A value is replaced when somebody who saw
/// it wrote over it, or deleted its row. All others have to be visible at the end, or in a journal.
struct WitnessedHistory {
    /// What a transaction did, until it is known whether it is committed.
    struct Draft {
        fileprivate(set) var written: [String: WitnessedCell] = [:]
        fileprivate(set) var replaced: Set<String> = []
    }

    private var cells: [String: WitnessedCell] = [:]
    private var replaced: Set<String> = []
    /// The files that show a value now, or have it in their journal.
    private var places: [String: Set<Int>] = [:]
    /// The values that some file ever had.
    private var known: [Int: Set<String>] = [:]
    /// Values of which the only file was put back, or went away: that loses them, and nobody can help it.
    private var gone: Set<String> = []
    private var valueCount = 0

    /// A value that nobody wrote before.
    mutating func newValue() -> String {
        valueCount += 1
        return "w\(valueCount)"
    }

    /// Notes in a draft that a value takes the place of what its writer saw there.
    static func write(_ value: String, to cell: WitnessedCell, over seen: String?, in draft: inout Draft) {
        draft.written[value] = cell
        if let seen { draft.replaced.insert(seen) }
    }

    /// Notes in a draft that a row was deleted by somebody who saw some values of it.
    static func delete(_ seen: [String], in draft: inout Draft) { draft.replaced.formUnion(seen) }

    /// A transaction was committed.
    mutating func commit(_ draft: Draft) {
        cells.merge(draft.written) { one, _ in one }
        replaced.formUnion(draft.replaced)
    }

    /// A file shows values, or has them in its journal.
    mutating func see(_ values: Set<String>, in file: Int) {
        for value in known[file] ?? [] where !values.contains(value) { places[value]?.remove(file) }
        for value in values { places[value, default: []].insert(file) }
        known[file, default: []].formUnion(values)
    }

    /// A file is put back, or goes away: what it had and nobody else has by now is lost by that.
    ///
    /// - parameter kept: What it still has afterwards.
    mutating func abandon(_ file: Int, keeping kept: Set<String> = []) {
        for value in (known[file] ?? []).subtracting(kept) {
            places[value]?.remove(file)
            if places[value]?.isEmpty ?? true { gone.insert(value) }
        }
        known[file] = kept
    }

    /// The first value that is neither visible nor in a journal, although nobody who saw it replaced it.
    func lostValue(visible: Set<String>, journal: Set<String>) -> (cell: WitnessedCell, value: String)? {
        cells.filter { value, _ in
            !replaced.contains(value) && !gone.contains(value) && !visible.contains(value)
                && !journal.contains(value)
        }
        .map { (cell: $0.value, value: $0.key) }.min { ($0.cell, $0.value) < ($1.cell, $1.value) }
    }
}
