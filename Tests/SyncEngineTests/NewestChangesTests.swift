import CipherStore
import Foundation
import Testing

@testable import SyncEngine

@Suite struct NewestChangesTests {
    @Test func theNewestOfAllReplicasAreThoseOfASortedList() throws {
        let stores = try TestStores(seed: 5)
        let a = try stores.create()
        try a.insert(1, "first")
        let others = try ["b", "c"].map { try stores.clone(a, as: $0) }
        for turn in 0..<12 {
            let replica = ([a] + others)[turn % 3]
            switch turn % 4 {
            case 0: try replica.insert(UInt8(10 + turn), "title \(turn)")
            case 1: try replica.execute("UPDATE note SET stars = stars + 1")
            case 2: try replica.execute("UPDATE note SET title = ?, body = 'x'", ["\(turn)"])
            default: try replica.execute("DELETE FROM note WHERE id = (SELECT max(id) FROM note)")
            }
            if turn % 5 == 4 { try a.sync(others[turn % 2]) }
        }
        for other in others { try a.sync(other) }
        let all = try a.synchronizer.history(limit: 1000)
        #expect(all.count > 8)
        #expect(Set(all.map(\.replica)).count == 3)
        let times = all.map(\.milliseconds)
        #expect(times == times.sorted(by: >))
        for limit in [0, 1, 2, 7, all.count - 1, all.count, all.count + 1] {
            let newest = try a.synchronizer.history(limit: limit)
            #expect(newest.map { "\($0)" } == all.prefix(limit).map { "\($0)" })
        }
        #expect(try a.synchronizer.history(limit: -1).isEmpty)
    }
}
