/// Compares what the log holds with what happened to the tables.
struct CaptureCheck {
    let before: ModelRows
    let after: ModelRows
    let entries: [ModelReplica.Entry]
    /// Whether what was done is one statement, so that nothing may be logged but the difference.
    let isStrict: Bool

    func run() throws {
        let logged = Dictionary(grouping: entries, by: \.key)
        for key in Set(before.keys).union(after.keys).union(logged.keys).sorted() {
            if let problem = problem(before[key], after[key], logged[key] ?? []) {
                throw SimulationViolation(.capture, "\(key) \(problem)")
            }
        }
    }

    private func problem(
        _ before: [String: ModelValue]?, _ after: [String: ModelValue]?, _ entries: [ModelReplica.Entry]
    ) -> String? {
        guard let last = entries.last else {
            return before == after ? nil : "changed, and the log does not know it"
        }
        if (last.operation != .delete) != (after != nil) {
            return "\(after == nil ? "is gone" : "is there"), and the log says otherwise"
        }
        let isTurned = entries.contains { $0.isTurn }
        guard let before, let after else {
            if before == nil, after == nil { return isStrict ? "was logged, and never was there" : nil }
            return isTurned ? nil : "came or went, and the log has no such entry"
        }
        guard !isTurned else { return nil }
        var columns: Set<String> = []
        for entry in entries { columns.formUnion(entry.operation.columns) }
        let changed = Set(after.filter { before[$0.key] != $0.value }.keys)
        guard changed.isSubset(of: columns) else {
            return "changed in \(changed.subtracting(columns).sorted()), and the log does not know it"
        }
        guard !isStrict || columns == changed else {
            return "is logged as changed in \(columns.subtracting(changed).sorted()), which it is not"
        }
        return nil
    }
}
