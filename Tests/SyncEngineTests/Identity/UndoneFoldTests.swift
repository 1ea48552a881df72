import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What is undone, or comes twice in one transaction, is no reason to take a store for a copy.
@Suite struct UndoneFoldTests {
    private struct Undo: Error {}

    let places = VirtualPlaces()
    let stores: TestStores

    init() throws { stores = try TestStores(places: places) }

    /// A store that has a mark, and edits that have no version.
    private func edited() throws -> TestReplica {
        let a = try stores.create()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        try a.insert(2, "two")
        return a
    }

    /// Such as that of a change of a table that SQLite refuses.
    @Test func aFoldInASavepointThatIsUndoneIsNoReasonForANewIdentity() throws {
        let a = try edited()
        let id = try a.replica()
        for number in UInt8(3)...4 {
            try a.queue.write { db in
                try db.inSavepoint {
                    try FoldedStore.fold(db, a.environment)
                    return .rollback
                }
                try db.execute(
                    sql: "INSERT INTO note (id, title) VALUES (?, 'more')", arguments: [key(number)])
            }
            _ = try a.peer.greet()
            #expect(try a.replica() == id)
        }
    }

    /// As when the program is killed between the commit and what comes after it.
    @Test func twoFoldsInATransactionAreNoReasonForANewIdentity() throws {
        let a = try edited()
        let id = try a.replica()
        places.refuseMarks()
        try a.queue.write { db in
            for number in UInt8(3)...5 {
                try FoldedStore.fold(db, a.environment)
                try db.execute(
                    sql: "INSERT INTO note (id, title) VALUES (?, 'more')", arguments: [key(number)])
            }
            try FoldedStore.fold(db, a.environment)
        }
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
    }

    /// The file is another one since then.
    @Test func whatIsUndoneAfterAChangeOfTheKeyIsNoReasonForANewIdentity() throws {
        let a = try edited()
        let id = try a.replica()
        places.rekey(stores.path("a.db"))
        #expect(throws: Undo.self) {
            try a.queue.write { db in
                try FoldedStore.fold(db, a.environment)
                throw Undo()
            }
        }
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
    }

    /// A process stands still between its commit and what comes after it, while another one commits the next mark.
    @Test(arguments: 1...3) func aMarkThatIsSetTooLateIsNoReasonForANewIdentity(foldCount: Int) throws {
        let a = try edited()
        let id = try a.replica()
        places.refuseMarks()
        _ = try a.peer.greet()
        let late = try #require(try a.queue.read { try SyncSetting.data($0, "place.mark") })
        places.refuseMarks(false)
        try a.queue.write { db in
            for number in 0..<UInt8(foldCount) {
                try db.execute(
                    sql: "INSERT INTO note (id, title) VALUES (?, 'more')", arguments: [key(3 + number)])
                try FoldedStore.fold(db, a.environment)
            }
        }
        #expect(places.place(of: stores.path("a.db"))?.mark != [UInt8](late))
        #expect(places.setMark([UInt8](late), of: stores.path("a.db")))
        try a.insert(9, "nine")
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
    }

    /// The rest of the transaction is committed, and nothing of it says which file the content is in now.
    @Test func aSavepointThatIsUndoneAfterAChangeOfTheKeyIsNoReasonForANewIdentity() throws {
        let a = try edited()
        let id = try a.replica()
        for number in UInt8(3)...4 {
            places.rekey(stores.path("a.db"))
            try a.queue.write { db in
                try db.inSavepoint {
                    try FoldedStore.fold(db, a.environment)
                    return .rollback
                }
                try db.execute(
                    sql: "INSERT INTO note (id, title) VALUES (?, 'more')", arguments: [key(number)])
            }
        }
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
        #expect(places.place(of: stores.path("a.db"))?.predecessors == [])
        try a.insert(5, "five")
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
    }

    /// The mark of a content that was committed is beside it, and an older content does not know it.
    @Test func anOlderContentIsNoticedAfterAFoldThatWasUndone() throws {
        let a = try edited()
        let id = try a.replica()
        try a.queue.write { db in
            try db.inSavepoint {
                try FoldedStore.fold(db, a.environment)
                return .rollback
            }
        }
        try a.queue.close()
        try stores.copy("a.db", to: "backup.db")
        let later = try stores.open("a.db")
        _ = try later.peer.greet()
        try later.queue.close()
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        _ = try restored.peer.greet()
        #expect(try restored.replica() != id)
    }
}
