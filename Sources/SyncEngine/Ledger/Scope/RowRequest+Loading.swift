import CipherStore
import SyncWire

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
                let fact = facts.first(where: { $0.names.first?.isSameIdentifier(as: table.name) == true })
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
        let count = rows.count + leftOut.count
        defer { assert(rows.count + leftOut.count == count + requests.count) }
        for request in requests {
            let table = exchange?.tables.first {
                $0.names.elementsEqual(request.partial.names) { $0.isSameIdentifier(as: $1) }
            }
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
