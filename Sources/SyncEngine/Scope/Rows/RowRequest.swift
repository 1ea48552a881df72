import CipherStore
import SyncWire

/// What a replica that holds some rows of a table asks for.
public struct RowRequest: Equatable, Sendable {
    /// What it knows of the table, by its names.
    public var partial: ReplicaFacts.Partial
    /// The scope column, by its name and other names.
    public var columns: [String]
    /// The values whose rows it wants; nil for all rows.
    public var values: [ScopeValue]?
    /// The values of which it has the rows, as of what it knows.
    public var heldValues: [ScopeValue]
    /// Who asks.
    public var receiver: ReplicaID
    /// Rises whenever something else is asked for, so that no late answer is taken for that to another question.
    public var revision: Int64

    /// Makes a request.
    public init(
        partial: ReplicaFacts.Partial, columns: [String], values: [ScopeValue]?, heldValues: [ScopeValue],
        receiver: ReplicaID, revision: Int64
    ) {
        self.receiver = receiver
        self.revision = revision
        self.partial = partial
        self.columns = columns
        self.values = values
        self.heldValues = heldValues
    }
}

extension RowRequest {
    /// What this store asks for, of each table that it holds in part.
    static func loadAll(_ db: Database) throws -> [RowRequest] {
        let metadata = try StoreMetadata.require(db)
        let coverage = try Coverage.load(db, metadata)
        let replica = try metadata.replicaID()
        guard !coverage.partials.isEmpty else { return [] }
        let facts = try coverage.partialFacts(db)
        let aliases = try NameAliases(db)
        return try SyncedTable.loadAll(db).compactMap { table in
            guard let partial = coverage.partials[table.number],
                let column = table.columns.first(where: { $0.number == partial.column }),
                let fact = facts.first(where: { $0.names.first == table.name })
            else { return nil }
            return RowRequest(
                partial: fact,
                columns: [column.name] + aliases.names(ofColumn: column.number, in: table.number),
                values: partial.wantsEverything ? nil : partial.wanted.sorted(),
                heldValues: partial.held.sorted(), receiver: replica, revision: partial.revision)
        }
    }
}

extension TransferRequest {
    /// Asks for rows of the tables that can be exchanged, and leaves the others out that are held in part.
    mutating func ask(_ exchange: RowExchange?, _ requests: [RowRequest]) {
        for request in requests {
            let table = exchange?.tables.first { $0.names == request.partial.names }
            if table?.mayPull == true {
                rows.append(request)
            } else {
                leftOut.append(request.partial.names)
            }
        }
    }
}

extension ScopeValue {
    /// A value that was fetched; nil of a floating-point number.
    init?(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double: return nil
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Array(data))
        }
    }
}
