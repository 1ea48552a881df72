import CipherStore
import SyncWire

/// The tables that a device may exchange with this store: what the side that serves decides.
///
/// A table keeps its place here when it is renamed. Whatever names a table that is not among them, or that
/// nobody knows, is refused.
package struct TableAccess: Sendable {
    /// The tables, each by its name and its other names.
    package let tables: [[String]]
    private let numbers: Set<Int64>
    private let names: TableNames

    init(_ db: Database, numbers: [Int64]) throws {
        let all = try SyncedTable.loadAll(db)
        let aliases = try NameAliases(db)
        self.numbers = Set(numbers)
        names = TableNames(all, aliases)
        tables = all.filter { numbers.contains($0.number) }.map {
            [$0.name] + aliases.names(ofTable: $0.number)
        }
    }

    /// Whether a table is one of them.
    package func permits(_ table: [String]) -> Bool {
        names.number(of: table).map(numbers.contains) ?? false
    }

    /// Throws unless a table is one of them.
    ///
    /// - throws: ``SyncError`` of code `outsideScope`.
    package func require(_ table: [String]) throws {
        guard permits(table) else { throw refusal("table \((table.first ?? "").debugDescription) is not") }
    }

    private func refusal(_ what: String) -> SyncError {
        let list = tables.compactMap(\.first).sorted().joined(separator: ", ")
        return SyncError(
            .outsideScope,
            "\(what) among the tables that are exchanged with this device, which are: \(list)")
    }

    /// Throws when a request asks for anything else.
    ///
    /// - throws: ``SyncError`` of code `outsideScope`.
    package func check(_ request: TransferRequest) throws {
        guard let wanted = request.tables else { throw refusal("not all tables are") }
        for table in wanted + request.rows.map(\.partial.names) { try require(table) }
    }

    /// Throws when a bundle brings anything else, or claims anything of other tables.
    ///
    /// - parameter vector: What is known here of all tables.
    /// - throws: ``SyncError`` of code `outsideScope`.
    package func check(_ header: BundleHeader, knowing vector: VersionVector) throws {
        let declarations = NameDeclarations(header)
        for table in header.tables where !MetadataSchema.isReserved(table.name) {
            let others = declarations.names(ofTable: table.name)
            try require([table.name] + others)
            let number = names.number(of: [table.name] + others)
            for name in others {
                guard let other = names.number(of: [name]) else { continue }
                // Two tables would become one.
                if other != number { throw refusal("table \(name.debugDescription) is not") }
            }
        }
        let isKnown = header.target.sequences.allSatisfy {
            $0.key == header.sender || vector[$0.key] >= $0.value
        }
        guard isKnown, vector.covers(header.facts.floor) else {
            throw SyncError(
                .outsideScope,
                """
                the bundle speaks of changes of other replicas in all tables, which this device may not: these replicas \
                have to be synchronized with the server first
                """)
        }
    }

    /// What a device may hear of what this replica says of itself.
    package func restricted(_ greeting: Greeting) -> Greeting {
        var facts = greeting.facts
        facts.parts = restricted(facts.parts)
        facts.digest = facts.digest.map(restricted)
        return Greeting(
            store: greeting.store, replica: greeting.replica, vector: greeting.vector,
            ownSequence: greeting.ownSequence, facts: facts)
    }

    /// What a device may hear of what this replica holds.
    package func restricted(_ state: ReplicaState) -> ReplicaState {
        ReplicaState(
            vector: state.vector, parts: restricted(state.parts), digest: restricted(state.digest))
    }

    private func restricted(_ parts: [ReplicaFacts.Part]) -> [ReplicaFacts.Part] {
        parts.compactMap { part in
            var part = part
            part.tables = part.tables.filter(permits)
            return part.tables.isEmpty ? nil : part
        }
    }

    private func restricted(_ digest: StateDigest) -> StateDigest {
        StateDigest(tables: digest.tables.filter { permits($0.names) })
    }
}

extension Synchronizer {
    /// The numbers of tables, by which a choice survives that they are renamed.
    ///
    /// - throws: ``SyncError`` of code `noSuchTable`.
    package func tableNumbers(_ names: [String]) throws -> [Int64] {
        try database.read { db in
            Set(try ScopeStore(db: db).resolve(names).map(\.number)).sorted()
        }
    }

    /// What a device may exchange that may exchange some tables only.
    package func access(toTables numbers: [Int64]) throws -> TableAccess {
        try database.read { try TableAccess($0, numbers: numbers) }
    }
}
