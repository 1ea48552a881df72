import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// A file that is not the one that it was is noticed when it is opened.
@Suite struct StoreFenceTests {
    let places = VirtualPlaces()
    let stores: TestStores

    init() throws { stores = try TestStores(places: places) }

    @Test func aFileThatStaysKeepsItsIdentity() throws {
        let a = try stores.create()
        let id = try a.replica()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        try a.queue.close()
        let again = try stores.open("a.db")
        try again.insert(2, "two")
        _ = try again.peer.greet()
        #expect(try again.replica() == id)
    }

    @Test func aRenamedFileKeepsItsIdentity() throws {
        let a = try stores.create()
        let id = try a.replica()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        try a.queue.close()
        try FileManager.default.moveItem(atPath: stores.path("a.db"), toPath: stores.path("moved.db"))
        places.move(stores.path("a.db"), to: stores.path("moved.db"))
        let moved = try stores.open("moved.db", copyOf: "a.db")
        _ = try moved.peer.greet()
        #expect(try moved.replica() == id)
    }

    @Test(arguments: [true, false]) func aCopyOfALiveFileIsAReplicaOfItsOwn(withWAL: Bool) throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.insert(2, "two")
        try a.meet(b)
        try a.insert(3, "three")
        for suffix in withWAL ? ["", "-wal"] : [""] {
            try FileManager.default.copyItem(
                atPath: stores.path("a.db") + suffix, toPath: stores.path("copy.db") + suffix)
        }
        let copy = try stores.open("copy.db", copyOf: "a.db")
        try copy.insert(4, "of the copy")
        try a.insert(5, "of the original")
        _ = try copy.peer.greet()
        #expect(try copy.replica() != a.replica())
        try expectEqual([a, copy, b])
        #expect(try a.titles() == ["one", "two", "three", "of the copy", "of the original"])
    }

    @Test(arguments: [true, false]) func aSynchronizationTellsOnceOfACopy(isLocal: Bool) throws {
        let a = try stores.create()
        try a.insert(1, "one")
        let b = try stores.clone(a, as: "b.db")
        try a.meet(b)
        try stores.copy("a.db", to: "copy.db")
        let copy = try stores.open("copy.db", copyOf: "a.db")
        let (local, remote) = isLocal ? (copy, b) : (b, copy)
        #expect(try local.meet(remote).renewedReplicas == [copy.replica()])
        #expect(try local.meet(remote).renewedReplicas == [])
        #expect(try b.meet(a).renewedReplicas == [])
    }

    @Test func aSharedFolderTellsOfACopyToo() throws {
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let a = try stores.create()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        let id = try a.replica()
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        let copy = try stores.open("copy.db", copyOf: "a.db")
        #expect(try copy.synchronizer.run(.both, folder).renewedReplica == id)
        #expect(try copy.synchronizer.run(.both, folder).renewedReplica == nil)
    }

    /// The new identity counts in a column of shares of its own.
    @Test(arguments: [false, true]) func whatACopyCountsIsAddedOnce(isRestored: Bool) throws {
        let a = try stores.create()
        try a.synchronizer.setPolicies([.counter("note", "stars")])
        try a.execute("INSERT INTO note (id, title, stars) VALUES (?, 'one', 5)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        func add(_ number: Int, _ replica: TestReplica) throws {
            try replica.execute("UPDATE note SET stars = stars + \(number)")
        }
        try add(10, a)
        try add(1000, b)
        try a.meet(b)
        try stores.copy("a.db", to: "copy.db")
        // What the copy can't know.
        try add(100, a)
        try a.meet(b)
        if isRestored { try a.queue.close() }
        let copy = try stores.open("copy.db", copyOf: "a.db")
        try add(20_000, copy)
        _ = try copy.peer.greet()
        try add(30_000, copy)
        try expectEqual(isRestored ? [b, copy] : [a, b, copy])
        for replica in isRestored ? [b, copy] : [a, b, copy] {
            let stars: Int? = try replica.value("SELECT stars FROM note")
            #expect(stars == 51_115)
        }
    }

    @Test func aCopyIsNoticedBeforeItsChangesGetNumbers() throws {
        let a = try stores.create()
        let id = try a.replica()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        // A program without the engine writes to the copy first.
        let queue = try DatabaseQueue(
            path: stores.path("copy.db"), configuration: TestStores.configuration("a.db"))
        try queue.write {
            try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'x')", arguments: [key(2)])
        }
        try queue.close()
        let copy = try stores.open("copy.db", copyOf: "a.db")
        _ = try copy.peer.greet()
        #expect(try copy.vector()[id] == 1)
        #expect(try copy.vector()[copy.replica()] == 2)
    }

    @Test func aReaderChangesNothing() throws {
        let a = try stores.create()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        let queue = try DatabaseQueue(
            path: stores.path("copy.db"), configuration: TestStores.configuration("a.db"))
        let before = try queue.read { try StoreMetadata.require($0).replicaID() }
        let synchronizer = try Synchronizer(existing: queue, environment: stores.clock.environment)
        _ = try synchronizer.status()
        _ = try synchronizer.replicas()
        #expect(try queue.read { try StoreMetadata.require($0).replicaID() } == before)
    }

    @Test func anOlderContentInTheSameFileIsNoticed() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.insert(1, "one")
        try a.meet(b)
        try a.queue.close()
        try stores.copy("a.db", to: "backup.db")
        let later = try stores.open("a.db")
        let id = try later.replica()
        try later.insert(2, "lost")
        try later.meet(b)
        try later.insert(3, "lost too")
        try later.meet(b)
        try later.queue.close()
        // The file stays the same one, as with cp onto it.
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        try restored.insert(4, "new")
        _ = try restored.peer.greet()
        #expect(try restored.replica() != id)
        try expectEqual([restored, b])
        #expect(try b.titles() == ["one", "lost", "lost too", "new"])
    }

    @Test func aMachineThatIsNewMakesANewReplicaOnce() throws {
        let a = try stores.create()
        let first = try a.replica()
        places.setMachine("two")
        _ = try a.peer.greet()
        let second = try a.replica()
        #expect(second != first)
        places.setMachine("one")
        _ = try a.peer.greet()
        places.setMachine("two")
        _ = try a.peer.greet()
        #expect(try a.replica() == second)
    }

    @Test func whereNothingCanBeNotedTheFileAloneCounts() throws {
        places.refuseMarks()
        let a = try stores.create()
        let id = try a.replica()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
        places.replace(stores.path("a.db"))
        _ = try a.peer.greet()
        #expect(try a.replica() != id)
    }

    @Test func aFoldThatIsUndoneIsNoReasonForANewIdentity() throws {
        let a = try stores.create()
        let id = try a.replica()
        try a.insert(1, "one")
        struct Undo: Error {}
        #expect(throws: Undo.self) {
            try a.queue.write { db in
                try FoldedStore.fold(db, a.environment)
                throw Undo()
            }
        }
        _ = try a.peer.greet()
        try a.insert(2, "two")
        _ = try a.peer.greet()
        #expect(try a.replica() == id)
    }
}

/// The same with the files of this machine.
@Suite struct SystemPlacesTests {
    let stores: TestStores

    init() throws { stores = try TestStores(places: SystemPlaces()) }

    @Test func copiesAreTakenApartAndRenamedFilesAreNot() throws {
        let a = try stores.create()
        let id = try a.replica()
        try a.insert(1, "one")
        _ = try a.peer.greet()
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        try FileManager.default.moveItem(atPath: stores.path("a.db"), toPath: stores.path("moved.db"))
        let moved = try stores.open("moved.db", copyOf: "a.db")
        _ = try moved.peer.greet()
        #expect(try moved.replica() == id)
        let copy = try stores.open("copy.db", copyOf: "a.db")
        _ = try copy.peer.greet()
        #expect(try copy.replica() != id)
    }

    @Test func aFileThatIsPutBackWhereAnotherWasIsNoticed() throws {
        let a = try stores.create()
        let id = try a.replica()
        _ = try a.peer.greet()
        try a.queue.close()
        try stores.copy("a.db", to: "backup.db")
        // The file system may well give the new file the number of the old one.
        try stores.copy("backup.db", to: "a.db")
        let restored = try stores.open("a.db")
        _ = try restored.peer.greet()
        #expect(try restored.replica() != id)
    }

    @Test func aChangeOfTheKeyIsNoCopy() throws {
        let path = stores.path("a.db")
        let a = try stores.create()
        let id = try a.replica()
        _ = try a.peer.greet()
        try a.queue.close()
        guard FilePlace.setMark([1], at: stores.folder) else { return }
        var passphrase = "passphrase of a.db"
        for round in 1...3 {
            for change in 1...2 {
                let next = "passphrase \(round) \(change)"
                try StoreRekey.run(path: path, from: Passphrase(passphrase), to: Passphrase(next))
                passphrase = next
            }
            let current = passphrase
            var configuration = Configuration()
            configuration.prepareDatabase { try $0.usePassphrase(current) }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let synchronizer = try Synchronizer(existing: queue, environment: stores.clock.environment)
            _ = try StorePeer(queue, stores.clock.environment, closes: false).greet()
            #expect(try synchronizer.status().replica == id)
            try queue.close()
        }
    }
}
