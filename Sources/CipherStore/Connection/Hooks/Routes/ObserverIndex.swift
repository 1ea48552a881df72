/// Who is to be asked about the changes of a table.
///
/// Observers of regions are asked about the tables of their regions only, so that a thousand of them cost a change of
/// another table nothing, also when the statement that makes it is a new one.
struct ObserverIndex {
    /// Those that may want to know about any table.
    private var ofAllTables: [TransactionObservation] = []

    /// The others, by the folded names of their tables.
    private var ofTables: [String: [TransactionObservation]] = [:]

    init(_ observations: [TransactionObservation]) {
        for observation in observations {
            guard let observer = observation.regionObserver, let tables = observer.tables else {
                ofAllTables.append(observation)
                continue
            }
            for table in tables { ofTables[table, default: []].append(observation) }
        }
    }

    /// The observers of changes of a kind, in the order in which they were added.
    func observations(of kind: DatabaseEventKind) -> [TransactionObservation] {
        candidates(kind.tableName.foldedIdentifier).filter {
            $0.observer?.observes(eventsOfKind: kind) ?? false
        }
    }

    private func candidates(_ table: String) -> [TransactionObservation] {
        guard let ofTable = ofTables[table] else { return ofAllTables }
        if ofAllTables.isEmpty { return ofTable }
        return (ofAllTables + ofTable).sorted { $0.number < $1.number }
    }
}
