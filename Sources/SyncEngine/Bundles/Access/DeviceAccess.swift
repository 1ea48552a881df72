import CipherStore
import SyncWire

/// What a device may exchange with this store: what the side that serves decides, whatever the device's program does.
///
/// Tables keep their place here when they are renamed, and so do scope columns. Whatever names a table that is not
/// among them, or that nobody knows, is refused. Of a table of which the device may have some rows, it is sent what it
/// would get if it had chosen them, and no more; ``UploadedRows`` looks at what it brings.
package struct DeviceAccess {
    /// The rows of a table that a device may exchange.
    struct Rows {
        let table: SyncedTable
        let column: SyncedTable.Column
        let values: Set<ScopeValue>
    }

    /// The rows, by the number of the table.
    let rows: [Int64: Rows]
    let names: TableNames
    /// The tables by number; nil for all.
    private let numbers: Set<Int64>?
    private let aliases: NameAliases
    private let ownNames: [String]
    private let separate: [Int64: SeparateColumns]
    private let policies: [PolicyStore.Entry]

    /// Finds what bounds speak of.
    ///
    /// - throws: ``SyncError`` of code `unsuitableScope` when a scope column is gone, or merged by a policy of its own:
    ///   then nobody can say which rows are the device's.
    init(_ db: Database, _ bounds: AccessBounds) throws {
        let all = try SyncedTable.loadAll(db)
        separate = try SeparateColumns.loadAll(db)
        aliases = try NameAliases(db)
        names = TableNames(all, aliases)
        numbers = bounds.tables.map { Set($0) }
        ownNames = all.filter { bounds.tables?.contains($0.number) == true }.map(\.name).sorted()
        let policies = try PolicyStore.loadAll(db)
        self.policies = policies
        var rows: [Int64: Rows] = [:]
        for bound in bounds.rows {
            let table = all.first { $0.number == bound.table && $0.isTracked }
            let column = table?.columns.first { $0.number == bound.column && $0.isPresent }
            let isMerged = policies.contains {
                $0.table == bound.table && $0.column == bound.column && $0.policy.kind != .lastWriter
            }
            guard let table, let column, !isMerged, rows[bound.table] == nil else {
                throw SyncError(
                    .unsuitableScope,
                    """
                    the column is gone, or has a merge policy, by which the rows of a table are told that this device \
                    may exchange; the device needs another scope
                    """)
            }
            rows[bound.table] = Rows(table: table, column: column, values: Set(bound.values))
        }
        self.rows = rows
    }

    // MARK: Tables

    /// Whether a table is one of the device's: the one that the first name means which is known here. A former name that
    /// follows may be another table's by now, of which the device need not hear.
    func permits(_ table: [String]) -> Bool {
        guard let numbers else { return true }
        return names.number(of: table).map(numbers.contains) ?? false
    }

    /// Whether the device may have all rows of a table.
    private func permitsAllRows(_ table: [String]) -> Bool {
        permits(table) && names.number(of: table).flatMap { rows[$0] } == nil
    }

    /// Throws unless the device may have all rows of a table: others can't be compared.
    ///
    /// - returns: The number of the table, by which it is read: names are not looked up a second time. nil when nobody
    ///   knows it.
    /// - throws: ``SyncError`` of code `outsideScope`.
    @discardableResult
    package func requireAllRows(_ table: [String]) throws -> Int64? {
        let number = try require(table)
        if let number, let bound = rows[number] { throw Self.refusal(bound) }
        return number
    }

    /// - returns: The number of the table; nil when nobody knows it.
    @discardableResult
    private func require(_ table: [String]) throws -> Int64? {
        guard permits(table) else { throw refusal("table \((table.first ?? "").debugDescription) is not") }
        return names.number(of: table)
    }

    private func refusal(_ what: String) -> SyncError {
        let more =
            ownNames.count > Self.namedCountMax ? " and \(ownNames.count - Self.namedCountMax) more" : ""
        let names = ownNames.prefix(Self.namedCountMax).joined(separator: ", ") + more
        return SyncError(
            .outsideScope,
            "\(what) among the tables that are exchanged with this device, which are: \(names)")
    }

    /// So many tables are named to somebody who is refused.
    private static let namedCountMax = 20

    private static func refusal(_ bound: Rows) -> SyncError {
        SyncError(
            .outsideScope,
            """
            of table \(bound.table.name), only the rows with some values of column \(bound.column.name) are exchanged \
            with this device
            """)
    }

    // MARK: What a device asks for

    /// Throws when a request asks for anything else.
    ///
    /// - throws: ``SyncError`` of code `outsideScope`.
    package func check(_ request: TransferRequest) throws {
        if numbers != nil, request.tables == nil { throw refusal("not all tables are") }
        for table in (request.tables ?? []) + request.rows.map(\.partial.names) { try require(table) }
        let leftOut = restricted(request).leftOut
        for (number, bound) in rows {
            // The same names as where the bundle is made: what is not asked for, or is left out, does not come.
            let isAsked = request.tables?.contains { names.number(of: $0) == number } != false
            guard isAsked, !leftOut.contains(where: { names.number(of: $0) == number }) else {
                continue
            }
            let requests = request.rows.filter { names.number(of: $0.partial.names) == number }
            let isWithin = requests.allSatisfy { rows in
                let column = ExportedRows.column(rows.columns, of: bound.table, aliases)
                guard let values = rows.values, column?.number == bound.column.number else { return false }
                return bound.values.isSuperset(of: values)
            }
            guard isWithin, !requests.isEmpty else { throw Self.refusal(bound) }
        }
    }

    /// A request as it is answered: what a device leaves out comes back to it with the names that are used here, which it
    /// may not learn of other tables.
    func restricted(_ request: TransferRequest) -> TransferRequest {
        var request = request
        request.leftOut = request.leftOut.filter(permits)
        return request
    }

    // MARK: What a device hears

    /// What a device may hear of what this replica says of itself.
    package func restricted(_ greeting: Greeting) -> Greeting {
        var facts = greeting.facts
        facts.parts = restricted(facts.parts)
        facts.partials = facts.partials.filter { permits($0.names) }
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

    /// A digest is one of all rows of a table.
    private func restricted(_ digest: StateDigest) -> StateDigest {
        StateDigest(tables: digest.tables.filter { permitsAllRows($0.names) })
    }

    // MARK: What a device brings

    /// Throws when a bundle brings anything else, names what is not known here, or claims anything of others.
    ///
    /// - parameters:
    ///     - known: The names that are known here.
    ///     - coverage: What is known here.
    /// - throws: ``SyncError`` of code `outsideScope`.
    func check(_ header: BundleHeader, _ known: KnownNames, _ coverage: Coverage) throws {
        let declarations = NameDeclarations(header)
        for table in header.tables where !MetadataSchema.isReserved(table.name) {
            try check(table, declarations, known, sender: header.sender)
            if let number = names.number(of: [table.name]), let bound = rows[number], header.facts.isRepair {
                throw Self.refusal(bound)
            }
        }
        if let name = known.reused(ofTables: header.tables.map(\.name)).first {
            throw Self.unknown("a new table \(name.debugDescription)")
        }
        try PolicyDeclarations(header).requireKnown(
            known, policies, separate, sender: header.sender)
        let vector = coverage.whole.known
        guard isKnown(header.target, header, vector), vector.covers(header.facts.floor) else {
            throw SyncError(
                .outsideScope,
                """
                the bundle speaks of changes of other replicas in all tables, which this device may not: these replicas \
                have to be synchronized with the server first
                """)
        }
        for part in header.facts.parts {
            for table in part.tables {
                let known = names.number(of: table).map { coverage[$0] } ?? coverage.whole
                guard isKnown(part.target, header, known.known), known.floor.covers(part.floor) else {
                    throw SyncError(
                        .outsideScope,
                        """
                        the bundle speaks of changes of other replicas in table \((table.first ?? "").debugDescription), \
                        which this device may not: these replicas have to be synchronized with the server first
                        """)
                }
            }
        }
    }

    /// Throws unless all names of a table are known here: what a device with bounds brings stays within what there is.
    /// The share of a counter that is the device's own is the exception.
    private func check(
        _ table: BundleHeader.Table, _ declarations: NameDeclarations, _ known: KnownNames, sender: ReplicaID
    ) throws {
        try require([table.name])
        guard let number = known.number(ofTable: table.name) else {
            throw Self.unknown("table \(table.name.debugDescription)")
        }
        for name in declarations.names(ofTable: table.name) where known.number(ofTable: name) != number {
            throw Self.unknown(
                "\(name.debugDescription), another name of table \(table.name.debugDescription),")
        }
        if let column = known.reused(table.columns, of: number).first {
            throw Self.unknown(
                "a new column \(column.debugDescription) of table \(table.name.debugDescription)")
        }
        for column in table.columns {
            let share = SeparateColumns.parse(column)
            guard let found = known.column(column, of: number) else {
                if let share, share.replica == sender,
                    let shown = known.column(share.column, of: number),
                    separate[number]?.isShown(shown.number) == true
                {
                    continue
                }
                throw Self.unknown(
                    "column \(column.debugDescription) of table \(table.name.debugDescription)")
            }
            for name in declarations.names(ofColumn: column, in: table.name)
            where known.column(name, of: number)?.number != found.number {
                throw Self.unknown(
                    "\(name.debugDescription), another name of column \(column.debugDescription),")
            }
        }
    }

    private static func unknown(_ what: String) -> SyncError {
        SyncError(
            .outsideScope,
            "\(what) is not known at the server, and this device may not bring it: change the server's schema first"
        )
    }

    /// Whether somebody claims only what this store has, and changes of its own.
    private func isKnown(_ target: VersionVector, _ header: BundleHeader, _ known: VersionVector) -> Bool {
        target.sequences.allSatisfy { $0.key == header.sender || known[$0.key] >= $0.value }
    }

    /// A bundle of a device without what it says of others, which would change what is known here about them, and
    /// without what it forgot: that others know all of it is not for a device to say that has some of it.
    func restricted(_ header: BundleHeader) -> BundleHeader {
        var facts = header.facts
        facts.floor = VersionVector()
        facts.parts = facts.parts.map {
            ReplicaFacts.Part(tables: $0.tables, base: $0.base, target: $0.target, floor: VersionVector())
        }
        facts.known = [:]
        facts.retirements = []
        facts.acknowledged = facts.acknowledged.filter { $0.key == header.sender }
        facts.chains = facts.chains.filter { $0.key == header.sender }
        // The policies that it may name are known.
        let tables = header.tables.filter { $0.name != PolicyDeclarations.policies }
        return BundleHeader(
            store: header.store, sender: header.sender, base: header.base, target: header.target,
            replicas: header.replicas, tables: tables, facts: facts)
    }
}
