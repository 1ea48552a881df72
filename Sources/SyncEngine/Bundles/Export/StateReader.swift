import CipherStore
import SyncWire

/// Answers what a replica holds, from its own metadata and tables.
struct StateReader {
    let store: FoldedStore

    private var db: Database { store.db }

    /// A digest with more tables and columns than this does not go into a greeting.
    private static let greetedPartCountMax = 10_000
    /// The most rows of an answer, which is made in memory: five times what is asked for (see
    /// ``DivergenceRepair``), because a bucket is the least that can be asked for.
    private static let answeredRowCountMax = 250_000

    // MARK: Digests

    /// The digest of a greeting, which leaves out what there is nothing of.
    func greetedDigest() throws -> StateDigest? {
        let digest = try digest(isComplete: false)
        return digest.partCount > Self.greetedPartCountMax ? nil : digest
    }

    /// What the replica holds; nil when versions wait to be summed.
    func currentState() throws -> ReplicaState? {
        guard try DigestLedger(db, store.metadata).isCurrent else { return nil }
        return try state(isComplete: false)
    }

    /// What the replica holds and knows.
    func state(isComplete: Bool) throws -> ReplicaState {
        ReplicaState(
            vector: store.metadata.vector, parts: try Coverage.load(db, store.metadata).facts(db),
            digest: try digest(isComplete: isComplete))
    }

    /// The digest of everything.
    ///
    /// - parameter isComplete: Whether tables and columns are named of which there is nothing.
    func digest(isComplete: Bool) throws -> StateDigest {
        let ledger = try DigestLedger(db, store.metadata)
        try ledger.catchUp()
        let sums = try ledger.sums()
        guard isComplete || !sums.isEmpty else { return StateDigest() }
        let aliases = try NameAliases(db)
        let separate = try SeparateColumns.loadAll(db)
        var tables: [StateDigest.Table] = []
        for table in try SyncedTable.loadAll(db) {
            func sum(_ column: Int) -> DigestSum {
                sums[DigestLedger.Part(table: table.number, column: column)] ?? DigestSum()
            }
            let columns = table.columns.compactMap { column -> StateDigest.Column? in
                let cells = sum(column.number)
                guard isComplete || !cells.isZero else { return nil }
                return StateDigest.Column(
                    names: [column.name] + aliases.names(ofColumn: column.number, in: table.number),
                    isPresent: table.hasRows && column.isPresent
                        || separate[table.number]?.shown(for: column.number) != nil,
                    cells: cells)
            }
            let result = StateDigest.Table(
                names: [table.name] + aliases.names(ofTable: table.number), rows: sum(DigestLedger.rows),
                columns: columns)
            if isComplete || !result.isEmpty { tables.append(result) }
        }
        return StateDigest(tables: tables)
    }

    // MARK: Rows

    /// Answers a question.
    ///
    /// - parameter number: The table that the question is about; nil when it is not known here.
    func answer(_ question: StateQuestion, ofTable number: Int64?) throws -> StateAnswer {
        let metadata = store.metadata
        let coverage = try Coverage.load(db, metadata)
        let table = try SyncedTable.loadAll(db).first { $0.number == number }
        var answer = StateAnswer(vector: table.map { coverage[$0.number].known } ?? metadata.vector)
        if question.buckets.isEmpty {
            answer.sums = Array(repeating: DigestSum(), count: StateHasher.bucketCount)
        }
        guard let table else { return answer }
        let reader = try RowHashes(db, metadata, table, question)
        try reader.visit { key, bucket, sum in
            if question.buckets.isEmpty {
                answer.sums[Int(bucket)] += sum
            } else {
                guard answer.rows.count < Self.answeredRowCountMax else {
                    throw SyncError(
                        .notComparable,
                        "a question asks for over \(Self.answeredRowCountMax) rows of \(table.name)")
                }
                answer.rows[StateRowKey(bytes: Array(key.bytes), isText: key.isText)] = sum
            }
        }
        try db.verifyReads()
        assert(answer.sums.isEmpty || answer.rows.isEmpty, "an answer is of buckets, or of rows")
        return answer
    }
}

/// Computes the hashes of the rows of a table.
private struct RowHashes {
    private let db: Database
    private let table: SyncedTable
    private let question: StateQuestion
    private let hasher: StateHasher
    private let replicas: [Int64: ReplicaID]
    /// The number of each column in the question, by its local number.
    private let numbers: [Int: Int]
    /// The places of the columns whose values are compared, with those numbers.
    private let compared: [(ordinal: Int, number: Int)]
    private let values: ExportedTable?
    private let hasParkedValues: Bool

    init(_ db: Database, _ metadata: StoreMetadata, _ table: SyncedTable, _ question: StateQuestion) throws {
        self.db = db
        self.table = table
        self.question = question
        hasher = StateHasher(store: metadata.store)
        replicas = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        hasParkedValues = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") ?? false
        var numbers: [Int: Int] = [:]
        var compared: [(Int, Int)] = []
        for (index, column) in question.columns.enumerated() {
            guard let own = table.columns.named(column.names, by: \.name) else { continue }
            numbers[own.number] = index + 1
            let ordinal = table.columns.firstIndex { $0.number == own.number }
            if let ordinal, column.includesValues { compared.append((ordinal, index + 1)) }
        }
        self.numbers = numbers
        self.compared = compared
        values =
            compared.isEmpty
            ? nil : try ExportedTable(db, table, separate: SeparateColumns.loadAll(db)[table.number])
    }

    func visit(_ body: (RowKey, UInt8, DigestSum) throws -> Void) throws {
        let rows = try db.makeStatement(
            sql: "SELECT r, pk, cl, hlc, sid FROM _sync_row WHERE tbl = ? AND cl & 1 ORDER BY tbl, pk")
        let cells = try db.makeStatement(sql: "SELECT col, hlc, sid FROM _sync_cell WHERE r = ?")
        defer {
            rows.reset()
            cells.reset()
        }
        let raw = rows.sqliteStatement
        _ = RawBinding.int64(raw, 1, table.number)
        while try rows.step() {
            let isText = RawColumn.storageClass(raw, 1) == RawColumn.textClass
            let key = RowKey(bytes: isText ? RawColumn.text(raw, 1) : RawColumn.blob(raw, 1), isText: isText)
            let bucket = hasher.bucket(key.bytes, isText: isText)
            guard question.buckets.isEmpty || question.buckets.contains(bucket) else { continue }
            var sum = hasher.row(
                key.bytes, isText: isText, life: RawColumn.int64(raw, 2), timestamp: RawColumn.int64(raw, 3),
                replica: try replica(RawColumn.int64(raw, 4)))
            try addCells(of: RawColumn.int64(raw, 0), key, cells, to: &sum)
            try addValues(of: key, to: &sum)
            try body(key, bucket, sum)
        }
    }

    private func replica(_ number: Int64) throws -> ReplicaID {
        guard let replica = replicas[number] else {
            throw SyncError(.damagedMetadata, "a stamp names replica \(number), which is not known")
        }
        return replica
    }

    private func addCells(of row: Int64, _ key: RowKey, _ statement: Statement, to sum: inout DigestSum)
        throws
    {
        statement.reset()
        let raw = statement.sqliteStatement
        _ = RawBinding.int64(raw, 1, row)
        while try statement.step() {
            // A column that is in no digest has no name either, which damage only can cause.
            let number = numbers[Int(RawColumn.int64(raw, 0))] ?? question.columns.count + 1
            sum += hasher.cell(
                key.bytes, isText: key.isText, column: number, timestamp: RawColumn.int64(raw, 1),
                replica: try replica(RawColumn.int64(raw, 2)))
        }
    }

    private func addValues(of key: RowKey, to sum: inout DigestSum) throws {
        guard let values else { return }
        try values.load(key: key, hasParkedValues: hasParkedValues)
        defer { values.finish() }
        for column in compared where values.hasValue(column.ordinal) {
            sum += hasher.value(
                key.bytes, isText: key.isText, column: column.number, values.value(column.ordinal))
        }
    }
}
