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
}
