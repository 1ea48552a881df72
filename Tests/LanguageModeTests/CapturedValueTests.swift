import CipherStore
import Dispatch
import Testing

/// Code of an app in the Swift 5 language mode, where closures capture what is not sendable: it compiles.
@Suite struct CapturedValueTests {
    @Test func observationsTakeClosuresThatCaptureVariables() throws {
        let queue = try DatabaseQueue()
        let told = DispatchSemaphore(value: 0)
        var fetches = 0
        var values: [Int] = []
        let observation = ValueObservation.tracking { db -> Int in
            fetches += 1
            return try Int.fetchOne(db, sql: "SELECT 7") ?? 0
        }
        let cancellable = observation.start(
            in: queue, scheduling: .async(onQueue: DispatchQueue(label: "told")),
            onError: { _ in told.signal() },
            onChange: { value in
                values.append(value)
                told.signal()
            })
        told.wait()
        cancellable.cancel()
        #expect(values == [7])
        #expect(fetches == 1)
    }

    @Test func regionsAndConstantRegionsDoToo() throws {
        var fetches = 0
        let fetch = { (db: Database) -> Int in
            fetches += 1
            return db.changesCount
        }
        let table = DatabaseRegion(table: "t")
        _ = ValueObservation.trackingConstantRegion { db in fetch(db) }
        _ = ValueObservation.tracking(region: table, fetch: { db in fetch(db) })
        _ = ValueObservation.tracking(regions: [table], fetch: { db in fetch(db) })
        #expect(fetches == 0)
    }
}
