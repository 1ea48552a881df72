import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Remotes that a store remembers.
@Suite struct RememberedRemoteTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test func aPlaceIsRememberedOnceByItsLastName() throws {
        let a = try stores.create()
        try a.synchronizer.remember(remote: .init(name: "b.db", location: "/x/b.db"))
        try a.synchronizer.remember(remote: .init(name: "./b.db", location: "/x/b.db"))
        try a.synchronizer.remember(remote: .init(name: "dir:y", location: "dir:/y"))
        #expect(try a.synchronizer.rememberedRemotes().map(\.name) == ["./b.db", "dir:y"])
        let before = try a.everything()
        try a.synchronizer.remember(remote: .init(name: "dir:y", location: "dir:/y"))
        #expect(try a.everything() == before)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    @Test func itIsForgottenByNameOrPlaceWithWhatBecameOfIt() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.sync(b)
        let name = b.transport.name
        try a.synchronizer.remember(remote: .init(name: name, location: "/x/b.db"))
        #expect(try a.synchronizer.forget(remote: "/x/b.db"))
        #expect(try a.synchronizer.rememberedRemotes().isEmpty)
        #expect(try a.synchronizer.status().remotes.isEmpty)
        #expect(try !a.synchronizer.forget(remote: name))
    }

    @Test func aCloneDoesNotHaveThem() throws {
        let a = try stores.create()
        try a.synchronizer.remember(remote: .init(name: "b.db", location: "/x/b.db"))
        let b = try stores.clone(a, as: "b.db")
        #expect(try b.synchronizer.rememberedRemotes().isEmpty)
        #expect(try a.synchronizer.rememberedRemotes().count == 1)
    }

    @Test func aCopyDoesNotRepeatWhatFailedElsewhere() throws {
        let a = try stores.create()
        try a.queue.write { db in
            try SyncAttempts.record(db, success: "reached", at: 1, skew: 0)
            for name in ["reached", "never"] {
                try SyncAttempts.record(db, failure: SyncError(.otherStore, "no"), name: name, at: 2)
            }
        }
        let b = try stores.clone(a, as: "b.db")
        let remotes = try b.synchronizer.status().remotes
        #expect(remotes.map(\.name) == ["reached"])
        #expect(remotes.first?.lastError == nil && remotes.first?.failureCount == 0)
        #expect(try a.synchronizer.status().remotes.count == 2)
    }
}
