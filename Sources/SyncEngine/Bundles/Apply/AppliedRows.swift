import CipherStore
import SyncWire

/// Takes rows in and out of tables of which this replica holds some, while a bundle is applied.
///
/// A row goes at once when the sender knows all that was written to it here. Else it waits, marked as
/// left, until its changes are there: a bundle that knows them says what became of it.
final class AppliedRows {
    /// What a bundle says of such a table.
    struct Part {
        let table: Int64
        /// What the rows of the bundle take into account.
        let target: VersionVector
        /// Whether the bundle has all rows that are wanted, so that others are not among them.
        let isFull: Bool

        /// Checks that the bundle has what is wanted now, from a sender that knows all that is known here.
        init(
            _ db: Database, _ header: BundleHeader, _ part: ReplicaFacts.Part, _ name: String,
            _ partial: PartialTable, _ before: Coverage
        ) throws {
            guard
                let restriction = header.facts.restrictions.first(where: {
                    $0.table.isSameIdentifier(as: name)
                })
            else {
                throw AppliedRows.unsupported(name)
            }
            let aliases = try NameAliases(db)
            let columns = try SyncedTable.loadAll(db).first { $0.number == partial.number }?.columns ?? []
            let own = columns.first { $0.name.isSameIdentifier(as: restriction.column) }?.number
            let column = own ?? aliases.column(named: restriction.column, in: partial.number)
            let wanted = partial.wantsEverything ? nil : partial.wanted
            guard restriction.revision == partial.revision,
                try restriction.receiver == StoreMetadata.require(db).replicaID(), column == partial.column,
                restriction.values.map(Set.init) == wanted,
                partial.known.covers(part.base), partial.isDominated(by: part.target)
            else {
                throw SyncError(
                    .changedMeanwhile,
                    "the choice of rows of table \(name) was changed meanwhile; synchronize again")
            }
            if wanted == nil {
                // From here on, the vector of all tables stands for this one too.
                var known = part.target
                known.join(partial.own)
                guard known.covers(before.whole.known), known.covers(header.target) else {
                    throw SyncError(
                        .changedMeanwhile, "the sender does not know all of table \(name); synchronize again")
                }
            }
            table = partial.number
            target = part.target
            isFull = part.base.sequences.isEmpty
        }
    }

    static func unsupported(_ table: String) -> SyncError {
        SyncError(
            .scopeUnsupported,
            """
            the bundle has all rows of table \(table), of which this replica holds some only: synchronize with a \
            store, or a server, that can send these
            """)
    }

    private let db: Database
    private let versions: VersionTable
    private let remover: RowRemover
    private let parking: Parking
    private let parts: [Int64: Part]
    private let mentioned: Resync?
    private let requireTime: () throws -> Void
    private let partials: [Int64: PartialTable]
    /// The tables that have marked rows, or may get some before the bundle's rows come.
    private var marked: Set<Int64>

    /// - parameters:
    ///     - mentioned: Keeps the rows that the bundle has, when it has all of some table that are wanted.
    ///     - settlement: Hears of the rows that are taken out.
    ///     - requireTime: Asked for each row that may go. Throws when the application takes longer than it may.
    init(
        _ db: Database, _ parts: [Part], _ partials: [Int64: PartialTable], _ versions: VersionTable,
        _ parking: Parking, _ settlement: Settlement, mentioned: Resync?,
        requireTime: @escaping () throws -> Void
    ) {
        self.db = db
        self.versions = versions
        self.parking = parking
        self.partials = partials
        marked = Set(partials.values.filter(\.hasLeftRows).map(\.number))
        self.parts = Dictionary(parts.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        remover = RowRemover(db: db, versions: versions, parking: parking, settlement: settlement)
        self.mentioned = mentioned
        self.requireTime = requireTime
    }

    /// Marks local deletions that may have hit rows already outside our scope. We deleted them without seeing their
    /// latest values, so they must be fetched before the deletion counts. Rows that the bundle has lose their mark.
    func begin() throws {
        for part in parts.values {
            // Where nothing was left to take out, all rows were inside, and the bundle tells those that left.
            guard let partial = partials[part.table], !partial.wantsEverything,
                part.isFull || partial.swept == 0
            else { continue }
            for replica in try StoreMetadata.require(db).replicas
            where partial.own[replica.id] > part.target[replica.id] {
                let isMarked = try PartialTable.markDeleted(
                    db, part.table, by: replica.sid, after: part.target[replica.id])
                if isMarked { marked.insert(part.table) }
            }
        }
    }

    /// Notes a row that the bundle has, which is among the wanted ones, or deleted.
    func mention(_ table: Int64, _ key: RowKey) throws {
        guard let part = parts[table] else { return }
        if part.isFull { try mentioned?.mention(table, key) }
        if marked.contains(table) { try remover.unmark(table, key) }
    }

    /// What was known of a row here. Of one that left, and waited, no values came since: what it gets now is new,
    /// whatever was heard of it.
    func known(_ table: Int64, _ key: RowKey) throws -> VersionVector? {
        guard let partial = partials[table], try partial.hasLeft(db, key) else { return nil }
        return partial.shown
    }

    /// Takes out a row that is no longer among the wanted ones.
    func leave(_ table: AppliedTable, _ key: RowKey) throws {
        let number = table.table.number
        guard let part = parts[number], let partial = partials[number] else {
            throw SyncError(
                .invalidBundle, "the bundle says that a row left a table of which all rows are here")
        }
        try takeOut(table, key, partial, part)
    }

    private func takeOut(
        _ table: AppliedTable, _ key: RowKey, _ partial: PartialTable, _ part: Part
    ) throws {
        let number = table.table.number
        assert(partial.number == number && part.table == number)
        guard let local = try versions.load(number, key) else { return try remover.unmark(number, key) }
        // A deletion waits too: whoever gets it must not take it for one that knew what the row became.
        guard local.version.stamps.allSatisfy(part.target.contains) else {
            return try remover.mark(number, key)
        }
        guard local.version.isAlive else { return try remover.unmark(number, key) }
        try remover.remove(local, table, key, partial)
    }

    /// Takes out the rows that the bundle does not have, where it has all that are wanted; those of
    /// which the sender knows all changes that they waited for, which would be in it if they had come back;
    /// and those that are outside by what is known here. What is new of these does not come, so they must
    /// not stay here as if it had.
    func finish(_ tables: [AppliedTable]) throws {
        for table in tables {
            guard let part = parts[table.table.number], let partial = partials[table.table.number],
                !partial.wantsEverything
            else { continue }
            let candidates = RowCandidates(db: db, table: table, partial: partial, parking: parking)
            if try candidates.mayExist() {
                for key in try candidates.keys() {
                    try requireTime()
                    try withExtendedLifetime(key) {
                        let key = RowKey(key.value)
                        guard let local = try versions.load(part.table, key), local.version.isAlive,
                            try candidates.isOutside(key, local.version),
                            !isOnlyHere(key, local.version, part)
                        else { return }
                        try takeOut(table, key, partial, part)
                    }
                }
            }
            var keys = try DatabaseValue.fetchAll(
                db, sql: "SELECT pk FROM _sync_left WHERE tbl = ?", arguments: [part.table])
            if part.isFull, let mentioned {
                keys += try mentioned.deletedRows([part.table], knownTo: part.target).map(\.key)
            }
            for key in keys {
                try requireTime()
                let owner = OwnedValue.make(key)
                try withExtendedLifetime(owner) { try takeOut(table, RowKey(owner.value), partial, part) }
            }
        }
    }

    /// Whether nobody else can have a row, because it was inserted here and the sender does not know that. It
    /// goes when its changes are known and its value is not wanted then. A mark would take it out in any case:
    /// the sender does not send back what was inserted here.
    private func isOnlyHere(_ key: RowKey, _ version: RowVersion, _ part: Part) -> Bool {
        version.life == 1 && !part.target.contains(version.base) && !ExportedRows.mayComeTwice(key)
    }

    /// Moves on what is known, once all rows are here.
    func conclude() throws {
        for part in parts.values {
            guard let partial = partials[part.table] else { continue }
            try LostColumns.forget(db, of: part.table)
            if partial.wantsEverything {
                // What was written here meanwhile is this replica's, which knows it anyway.
                try PartialTable.remove(db, part.table)
                try Coverage.raise(
                    db, part.table, to: Coverage.Part(known: part.target, floor: VersionVector()))
                continue
            }
            try partial.take(db, answer: part.target)
            try partial.setIncomplete(db)
            try partial.setSwept(db, 0)
            try partial.setHeld(db)
            try partial.catchUp(db)
        }
    }
}

extension RowVersion {
    /// Who wrote the row and its columns.
    var stamps: [Stamp] { [base] + cells.values }
}
