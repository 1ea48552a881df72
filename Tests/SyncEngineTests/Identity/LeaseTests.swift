import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// How long a replica may be silent before nobody waits for it any more.
@Suite struct LeaseTests {
    private static let day: Int64 = 24 * 60 * 60 * 1000

    @Test func aReplicaThatIsMetAndHasNothingNewIsNotRetired() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "x")
        let b = try stores.clone(a, as: "b.db")
        for _ in 1...10 {
            try a.meet(b)
            stores.clock.advance(milliseconds: 10 * Self.day)
        }
        for replica in [a, b] {
            #expect(try replica.synchronizer.compact().retiredReplicas.isEmpty)
            let seen = try replica.synchronizer.replicas().compactMap(\.lastSeenMilliseconds).max() ?? 0
            #expect(replica.environment.milliseconds() - seen == 10 * Self.day)
        }
        // It is when nobody meets it.
        stores.clock.advance(milliseconds: 90 * Self.day)
        #expect(try a.synchronizer.compact().retiredReplicas == [b.replica()])
    }
}
