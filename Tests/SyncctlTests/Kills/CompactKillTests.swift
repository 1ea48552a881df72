#if os(Linux)
    import Foundation
    import Synchronization
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Kills `syncctl compact` before its calls that change the file: it has forgotten all of what
    /// it may forget, or nothing, and what the others know goes on to fit.
    @Suite(.serialized) struct CompactKillTests {
        private static func makePair() throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<600)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let a = try place.open("a.db", "a")
            try a.write { try $0.execute(sql: "DELETE FROM person WHERE stars >= 100") }
            _ = try Synchronizer(existing: a).run(
                .both, ProbeTransport(path: place.path("b.db"), passphrase: Workplace.passphrase("b")))
            try a.close()
            // An edit that nobody else has.
            let b = try place.open("b.db", "b")
            try b.write { try $0.execute(sql: "UPDATE person SET name = 'late' WHERE stars = 7") }
            try b.close()
            return place
        }

        private static func deletionCount(_ place: Workplace) throws -> Int {
            let queue = try place.open("a.db", "a")
            defer { try? queue.close() }
            #expect(try StoreProbe.problems(queue) == [])
            #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
            return try queue.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM _sync_row WHERE NOT cl & 1") ?? -1
            }
        }

        @Test func aKilledCompactionForgotEverythingOrNothing() async throws {
            let prepared = try Self.makePair()
            let rows = try prepared.rows("a.db", "a")
            #expect(rows.count == 100)
            let campaign = try FaultCampaign(prepared) {
                ["compact", $0.path("a.db"), "--history-count", "10", "--passphrase-file", $0.secret("a")]
            }
            let (count, left) = try campaign.rehearse { try Self.deletionCount($0) }
            #expect(left == 0)
            for (mode, limit) in [(Fault.Mode.kill, 60), (.torn, 20)] {
                let outcomes = Mutex<[Int: Bool]>([:])
                let calls = FaultCampaign.calls(of: count, limit: limit)
                try await campaign.run(mode, at: calls) { run in
                    #expect(run.result.status == -SIGKILL, run.comment)
                    let deletions = try Self.deletionCount(run.place)
                    #expect(deletions == 0 || deletions == 500, run.comment)
                    outcomes.withLock { $0[run.fault.call] = deletions == 0 }
                    #expect(try run.place.rows("a.db", "a") == rows, run.comment)
                    let a = try run.place.open("a.db", "a")
                    _ = try Synchronizer(existing: a).run(
                        .both,
                        ProbeTransport(path: run.place.path("b.db"), passphrase: Workplace.passphrase("b")))
                    try a.close()
                    let both = try run.place.rows("a.db", "a")
                    #expect(both.count == 100 && both.contains { $0.contains("\"late\"") }, run.comment)
                    #expect(try run.place.rows("b.db", "b") == both, run.comment)
                    #expect(try run.place.contents() == ["a.db", "b.db"], run.comment)
                }
                let order = outcomes.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
                #expect(order == order.sorted { !$0 && $1 }, "what was forgotten stays forgotten")
                if mode == .kill { #expect(Set(order) == [false, true]) }
            }
        }
    }
#endif
