#if os(Linux)
    import Foundation
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Kills `syncctl sync` before its calls that change a file, or lets the disk fill, while rows come and
    /// go: nothing that was written is lost, and the next synchronization ends where this one would have.
    @Suite(.serialized) struct RowScopeFaultTests {
        private static func makePair() throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<60)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let b = try place.open("b.db", "b")
            let values = (1...20).map { ScopeValue.integer($0) }
            try Synchronizer(existing: b).setScope(
                .rows(of: "person", where: "stars", in: values), ofRemote: "a")
            try synchronize(b, place)
            try b.write {
                try $0.execute(
                    sql: """
                        UPDATE person SET name = 'late' WHERE stars = 3;
                        UPDATE person SET stars = 600 WHERE stars = 10;
                        """)
            }
            try b.close()
            let a = try place.open("a.db", "a")
            try a.write {
                try $0.execute(
                    sql: """
                        UPDATE person SET stars = 500 WHERE stars <= 5;
                        UPDATE person SET stars = 1 WHERE stars = 40;
                        """)
            }
            try a.close()
            return place
        }

        private static func synchronize(_ b: DatabaseQueue, _ place: Workplace) throws {
            _ = try Synchronizer(existing: b).run(
                .both, ProbeTransport(path: place.path("a.db"), passphrase: Workplace.passphrase("a")))
        }

        private static func stars(_ store: String, _ name: String, _ place: Workplace) throws -> [Int] {
            let queue = try place.open(store, name)
            defer { try? queue.close() }
            #expect(try StoreProbe.problems(queue) == [])
            #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
            return try queue.read { try Int.fetchAll($0, sql: "SELECT stars FROM person ORDER BY stars") }
        }

        @Test(arguments: [Fault.Mode.kill, .full])
        func aSynchronizationThatWasCutOffGoesOnWhereItWas(mode: Fault.Mode) async throws {
            let expected = [1] + Array(6...9) + Array(11...20)
            let campaign = try FaultCampaign(Self.makePair()) {
                [
                    "sync", $0.path("b.db"), "--remote", $0.path("a.db"), "--passphrase-file", $0.secret("b"),
                    "--remote-passphrase-file", $0.secret("a"),
                ]
            }
            let (count, left) = try campaign.rehearse { try Self.stars("b.db", "b", $0) }
            #expect(left == expected)
            let calls = FaultCampaign.calls(of: count, limit: mode == .kill ? 60 : 40)
            try await campaign.run(mode, at: calls) { run in
                if mode == .kill {
                    #expect(run.result.status == -SIGKILL, run.comment)
                } else {
                    // What was exchanged stays exchanged, also when the contact can't be noted any more.
                    let text = run.result.errors
                    #expect(
                        [0, 3].contains(run.result.status) || text.contains("the disk is full")
                            || text.contains("no space left"), run.comment)
                }
                _ = try Self.stars("a.db", "a", run.place)
                _ = try Self.stars("b.db", "b", run.place)
                let b = try run.place.open("b.db", "b")
                try Self.synchronize(b, run.place)
                try b.close()
                #expect(try Self.stars("b.db", "b", run.place) == expected, run.comment)
                #expect(try Self.stars("a.db", "a", run.place).filter { $0 == 600 }.count == 1, run.comment)
                let names = try run.place.rows("a.db", "a")
                #expect(names.count == 60 && names.contains { $0.contains("late") }, run.comment)
            }
        }
    }
#endif
