import CipherStore
import SyncWire

/// What a store has to hold to use a mailbox: all tables, as whoever reads what lies there takes it for everything.
extension StorePeer {
    /// Throws when the store leaves out tables with a mailbox, or holds some rows only of one.
    ///
    /// One that has more changes of some tables than of all reads what lies there: so it gets the others.
    ///
    /// - parameter name: The name of the mailbox.
    /// - throws: ``SyncError`` of code `scopeUnsupported`; `DatabaseError`.
    func requireNoChoice(_ greeting: Greeting, with name: String) throws {
        guard try exchangesAllTables(with: name) && greeting.facts.partials.isEmpty else {
            throw SyncError(
                .scopeUnsupported,
                """
                a folder holds all tables or none, and this replica exchanges some only, or holds some rows of \
                one: synchronize all tables with a store
                """)
        }
    }

    /// Throws unless the store can write to a mailbox, too: nothing in its tables comes of changes of which it has
    /// those of some tables only.
    ///
    /// - throws: As ``requireNoChoice(_:with:)``.
    func requireAllTables(_ greeting: Greeting, with name: String) throws {
        try requireNoChoice(greeting, with: name)
        guard try canTellAllTables() else {
            throw SyncError(
                .scopeUnsupported,
                """
                a folder holds all tables or none, and this replica has changes of other replicas in some tables only: \
                it writes there once the folder has brought it their other changes, or synchronize all tables with a store
                """)
        }
    }

    /// Whether nothing in the tables comes of changes of which this store has those of some tables only.
    func canTellAllTables() throws -> Bool {
        try database.read { db in
            let coverage = try Coverage.load(db, StoreMetadata.require(db)).leavingOutBareClaims(db)
            return coverage.parts.values.allSatisfy { coverage.whole.known.covers($0.known) }
        }
    }
}
