#if os(Linux)
    import Foundation
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Ctrl-C in the middle of a command: exit code 130, and nothing of the command was done.
    @Suite struct InterruptTests {
        private static func makePair() throws -> Workplace {
            let place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<100)
            try place.makeReplica("b.db", "b", of: "a.db", "a")
            let a = try place.open("a.db", "a")
            try StoreProbe.insert(200..<260, into: a)
            try a.close()
            return place
        }

        private static func own(_ place: Workplace) -> [String] { ["--passphrase-file", place.secret("a")] }

        /// Interrupts a command in the middle of the calls that change files of a name, and checks
        /// that everything is as it was.
        private func interrupt(
            callsBelow name: String, countingReads: Bool = false, _ arguments: (Workplace) -> [String]
        ) throws {
            let interposer = try Interposer()
            let rehearsal = try Self.makePairWithFile()
            let (_, count) = try interposer.run(
                arguments(rehearsal), below: rehearsal.path(name), countsReads: countingReads)
            let call = (try #require(count) + 1) / 2

            let place = try Self.makePairWithFile()
            let names = try place.contents()
            let (result, _) = try interposer.run(
                arguments(place) + ["--json"], below: place.path(name),
                fault: Fault(mode: .interrupt, call: call),
                countsReads: countingReads)
            #expect(result.status == 130, "\(result.errors)")
            #expect(try result.errorDocument()["code"] as? Int == 130)
            #expect(result.output.isEmpty)
            #expect(try place.rows("a.db", "a").count == 160)
            #expect(try place.rows("b.db", "b").count == 100)
            let queue = try place.open("a.db", "a")
            #expect(try !StoreProbe.hasTable(queue, "pet"))
            try queue.close()
            #expect(try place.contents() == names)
        }

        /// The stores, and a file that is read in several pieces.
        private static func makePairWithFile() throws -> Workplace {
            let place = try makePair()
            let line = String(repeating: "x", count: 100)
            try place.folder.write(
                "name,age\n" + (0..<10_000).map { "\(line),\($0)\n" }.joined(), to: "pet.csv")
            return place
        }

        @Test func anImport() throws {
            try interrupt(callsBelow: "pet.csv", countingReads: true) {
                ["import", $0.path("a.db"), $0.path("pet.csv"), "--track"] + Self.own($0)
            }
        }

        @Test(arguments: ["push", "sync"]) func anExchange(command: String) throws {
            try interrupt(callsBelow: "a.db") {
                [command, $0.path("a.db"), "-r", $0.path("b.db"), "--remote-passphrase-file", $0.secret("b")]
                    + Self.own($0)
            }
        }

        @Test func aRekey() throws {
            try interrupt(callsBelow: "a.db.rekey") {
                ["rekey", $0.path("a.db"), "--new-passphrase-file", $0.secret("c")] + Self.own($0)
            }
        }

        @Test func aClone() throws {
            try interrupt(callsBelow: "copy.db.copy") {
                [
                    "init", $0.path("copy.db"), "--clone", $0.path("a.db"), "--clone-passphrase-file",
                    $0.secret("a"),
                ]
                    + ["--passphrase-file", $0.secret("c")]
            }
        }

        @Test func anEncryptedExport() throws {
            try interrupt(callsBelow: "copy.db.copy") {
                [
                    "export", $0.path("a.db"), "--to", $0.path("copy.db"), "--to-passphrase-file",
                    $0.secret("c"),
                ]
                    + Self.own($0)
            }
        }

        @Test func theSecondCtrlCEndsTheProcessAtOnce() throws {
            let place = try Self.makePairWithFile()
            let interposer = try Interposer()
            let (result, _) = try interposer.run(
                ["import", place.path("a.db"), place.path("pet.csv")] + Self.own(place),
                below: place.path("pet.csv"),
                fault: Fault(mode: .interruptTwice, call: 3), countsReads: true)
            #expect(result.status == 130)
            #expect(result.errors.isEmpty)
            let queue = try place.open("a.db", "a")
            #expect(try !StoreProbe.hasTable(queue, "pet"))
            try queue.close()
        }
    }
#endif
