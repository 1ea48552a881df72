import CipherStore
import SyncWire

/// What the records of a bundle say, in the terms of this store.
struct BundleRecords {
    /// The replicas of the bundle, with their local numbers.
    private(set) var replicas: [(number: Int64, id: ReplicaID)] = []
    /// The newest timestamp that the clock may adopt.
    private(set) var newest: Int64 = 0
    /// The newest timestamp that it may not adopt, or 0.
    private(set) var newestBeyond: Int64 = 0
    /// Who wrote that.
    private(set) var replicaBeyond: ReplicaID?
    private let adoptionBound: Int64

    /// - parameter adoptionBound: The newest stamp that may move the clock.
    init(adoptionBound: Int64) { self.adoptionBound = adoptionBound }

    /// Takes the replicas of the header; those that are new, and of which it brings anything, get a number.
    mutating func begin(_ header: BundleHeader, _ metadata: StoreMetadata, _ db: Database) throws {
        assert(replicas.isEmpty, "indexes would count from another bundle's replicas")
        let numbers = Dictionary(
            metadata.replicas.map { ($0.id, $0.sid) }, uniquingKeysWith: { first, _ in first })
        let reach = header.reach
        var isNew = false
        for id in header.replicas {
            if let number = numbers[id] {
                replicas.append((number, id))
            } else if reach[id] > 0 {
                replicas.append((try ReplicaRegister(db: db).add(id), id))
                isNew = true
            } else {
                // No stamp can refer to it: its changes are not covered.
                replicas.append((0, id))
            }
        }
        if isNew { try Capacity.requireRoomForReplicas(db) }
    }

    /// Checks the stamps of a row and remembers the newest that can be adopted.
    ///
    /// - parameter targetSequences: How far the bundle's vector reaches, by the index of the replica.
    mutating func note(_ record: borrowing RowRecord, _ targetSequences: [Int64]) throws {
        assert(targetSequences.count == replicas.count)
        defer {
            assert(newest == 0 || newest <= adoptionBound, "the clock would follow a stamp of the future")
        }
        if let base = record.base { try note(base, targetSequences) }
        for index in 0..<record.cells.count { try note(record.cells[index].stamp, targetSequences) }
    }

    private mutating func note(_ stamp: WireStamp, _ targetSequences: [Int64]) throws {
        guard stamp.sequence <= targetSequences[stamp.replica] else {
            throw SyncError(.invalidBundle, "the bundle holds a change that its own vector does not cover")
        }
        guard stamp.timestamp <= AdmissionLimits.timestampMax else {
            throw SyncError(
                .invalidBundle,
                "the bundle holds a change of replica \(replicas[stamp.replica].id.shortDescription) from after the year 4199"
            )
        }
        guard stamp.timestamp > adoptionBound else {
            newest = max(newest, stamp.timestamp)
            return
        }
        guard stamp.timestamp > newestBeyond else { return }
        newestBeyond = stamp.timestamp
        replicaBeyond = replicas[stamp.replica].id
    }

    /// The stamp with the local number of its replica.
    func stamp(_ stamp: WireStamp) -> VersionTable.LocalStamp {
        VersionTable.LocalStamp(
            timestamp: stamp.timestamp, replica: replicas[stamp.replica].number, sequence: stamp.sequence)
    }

    /// The stamp with the identity of its replica.
    private func fullStamp(_ stamp: WireStamp) -> Stamp {
        Stamp(
            timestamp: HybridTimestamp(rawValue: stamp.timestamp), replica: replicas[stamp.replica].id,
            sequence: stamp.sequence)
    }

    /// The values of a record, by local column.
    func values(_ record: borrowing RowRecord, _ table: AppliedTable) -> [Int: WireValue] {
        var values: [Int: WireValue] = [:]
        for index in 0..<record.baseValues.count {
            values[table.columnNumbers[record.baseValues[index].column]] = record.baseValues[index].value
        }
        for index in 0..<record.cells.count {
            values[table.columnNumbers[record.cells[index].column]] = record.cells[index].value
        }
        return values
    }

    /// A record as the merge takes it.
    func change(_ record: borrowing RowRecord, _ table: AppliedTable) -> RowChange {
        var change = RowChange(life: record.life, base: record.base.map { fullStamp($0) }, writes: [:])
        if let base = change.base {
            for index in 0..<record.baseValues.count {
                let item = record.baseValues[index]
                add(.init(stamp: base, value: item.value), item.column, table, &change)
            }
        }
        for index in 0..<record.cells.count {
            let cell = record.cells[index]
            add(.init(stamp: fullStamp(cell.stamp), value: cell.value), cell.column, table, &change)
        }
        return change
    }

    /// Adds a write; of two for one column, which come from a peer that takes its
    /// two names for two columns, the later one, or the one under the column's own name.
    private func add(_ write: RowChange.Write, _ index: Int, _ table: AppliedTable, _ change: inout RowChange)
    {
        let number = table.columnNumbers[index]
        if let other = change.writes[number] {
            if other.stamp.isNewer(than: write.stamp) { return }
            if !write.stamp.isNewer(than: other.stamp), !table.hasOwnName[index] { return }
        }
        change.writes[number] = write
    }
}
