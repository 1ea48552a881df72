import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What a process knows of members without reading all statements again.
@Suite struct KnownMembershipsTests {
    private func store(inviting names: [String]) throws -> (stores: TestStores, store: TestReplica) {
        let stores = try TestStores()
        let store = try stores.create()
        _ = try store.synchronizer.membership.found(MemberName("anna"))
        for name in names { _ = try store.synchronizer.membership.invite(MemberName(name), as: .writer) }
        return (stores, store)
    }

    private func state(_ store: TestReplica, _ known: KnownMemberships) throws -> MembershipState {
        try store.queue.read { db in
            let founding = try #require(try StatementLedger.founding(db))
            return try StatementLedger.state(
                db, StoreMetadata.require(db).store, founding: founding, known)
        }
    }

    @Test func onlyNewStatementsAreRead() throws {
        let (_, store) = try store(inviting: ["ben", "carl"])
        let known = KnownMemberships()
        let before = try state(store, known)
        #expect(before.members.count == 3)
        // What is kept is not looked at again, so that nobody sees that it is damaged meanwhile.
        try store.queue.write { db in try db.execute(sql: "UPDATE _sync_statement SET at = at + 1") }
        try store.queue.write { db in
            try db.execute(sql: "UPDATE _sync_statement SET content = zeroblob(100) WHERE id = 2")
        }
        #expect(try state(store, known) == before)
        let error = #expect(throws: SyncError.self) { try state(store, KnownMemberships()) }
        #expect(error?.code == .damagedMetadata)
    }

    @Test func whatComesAndWhatGoesIsSeen() throws {
        let (_, store) = try store(inviting: ["ben"])
        let known = KnownMemberships()
        let before = try state(store, known)
        _ = try store.synchronizer.membership.invite(MemberName("carl"), as: .writer)
        let ben = try #require(before.members.values.first { $0.name.text == "ben" })
        try store.synchronizer.membership.remove(ben.id)
        let after = try state(store, known)
        #expect(try after == state(store, KnownMemberships()))
        #expect(after.members.count == 3 && after.members[ben.id]?.role == nil)
        // Another program may take some away.
        try store.queue.write { db in
            try db.execute(
                sql: "DELETE FROM _sync_statement WHERE id > ?", arguments: [before.statements.count])
        }
        #expect(try state(store, known) == before)
    }

    @Test func aStatementUnderAnotherNameIsDamage() throws {
        let (_, store) = try store(inviting: ["ben"])
        try store.queue.write { db in
            try db.execute(sql: "UPDATE _sync_statement SET name = randomblob(32) WHERE id = 2")
        }
        let error = #expect(throws: SyncError.self) { try state(store, KnownMemberships()) }
        #expect(error?.code == .damagedMetadata)
    }

    @Test func noMoreIsKeptThanIsAllowed() throws {
        let (_, store) = try store(inviting: [])
        let state = try state(store, KnownMemberships())
        func isKept(_ known: KnownMemberships, _ path: String) -> Bool {
            known.state(
                of: path, state.store, founding: state.founding, within: Set(state.statements.keys)) != nil
        }
        let none = KnownMemberships(byteCountMax: 10)
        none.keep(state, of: "/a")
        #expect(!isKept(none, "/a"))
        let some = KnownMemberships()
        for number in 0..<20 { some.keep(state, of: "/\(number)") }
        #expect((0..<20).filter { isKept(some, "/\($0)") } == Array(4..<20))
        // Of each file what it said last, and nothing of another database.
        let other = StoreID(high: 1, low: 1)
        #expect(
            some.state(of: "/10", other, founding: state.founding, within: Set(state.statements.keys)) == nil)
        #expect(!isKept(some, "/10"))
    }
}
