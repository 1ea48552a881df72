#if os(Linux)
    import Foundation
    import SyncHTTP
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Lets a server or its client be killed, or its disk be full, in the middle of a synchronization both ways.
    ///
    /// The stores lie in folders of their own, so that faults hit one side only. Each run works on a copy of the
    /// files, whose replicas get new identities by that.
    @Suite(.serialized) struct RemoteFaultTests {
        private static let (hub, phone) = ("hub/hub.db", "phone/phone.db")

        /// A store and a device of it; both have rows that the other lacks.
        private static func makePair() throws -> Workplace {
            let place = try Workplace()
            for folder in ["hub", "phone"] {
                try FileManager.default.createDirectory(
                    atPath: place.path(folder), withIntermediateDirectories: false)
            }
            try place.makeStore(hub, "a", rows: 0..<80)
            let server = try ServerProcess(place, [hub], "a", ["--plaintext-on-loopback"])
            let port = try #require(server.port, "\(server.errors)")
            let queue = try place.open(hub, "a")
            let link = try DeviceRegister(Synchronizer(existing: queue)).invite(
                label: "phone", address: ServerAddress(host: "127.0.0.1", port: port, trust: .loopback))
            try Synchronizer.join(
                link, at: place.path(phone), passphrase: Passphrase(Workplace.passphrase("b")))
            #expect(server.stop() == 0)
            try StoreProbe.insert(200..<240, into: queue)
            try queue.write { try $0.execute(sql: "DELETE FROM person WHERE stars < 5") }
            try queue.close()
            let other = try place.open(phone, "b")
            try StoreProbe.insert(300..<330, into: other)
            try other.close()
            return place
        }

        private static func union(_ place: Workplace) throws -> [String] {
            let (own, other) = (try place.rows(hub, "a"), try place.rows(phone, "b"))
            return (own + other.suffix(30)).sorted()
        }

        /// Tells the device where its server listens this time.
        private static func point(_ place: Workplace, to server: ServerProcess) throws {
            let port = try #require(server.port, "\(server.errors)")
            let queue = try place.open(phone, "b")
            try queue.write { try $0.execute(sql: "UPDATE _sync_remote SET port = ?", arguments: [port]) }
            try queue.close()
        }

        /// Synchronizes from the process of the tests.
        private static func synchronize(_ place: Workplace) throws {
            let queue = try place.open(phone, "b")
            defer { try? queue.close() }
            let synchronizer = try Synchronizer(existing: queue)
            var options = HTTPTransport.Options()
            (options.pauseSeconds, options.pauseSecondsMax) = (0.01, 0.05)
            _ = try synchronizer.run(.both, RemoteBook(synchronizer).transport(options: options))
        }

        /// Serves without a fault, synchronizes, and checks that both sides have everything, once.
        private static func finish(_ place: Workplace, _ union: [String], _ comment: Comment) throws {
            let server = try ServerProcess(place, [hub], "a", ["--plaintext-on-loopback"])
            try point(place, to: server)
            try synchronize(place)
            #expect(server.stop() == 0, comment)
            for (name, passphrase) in [(hub, "a"), (phone, "b")] {
                let queue = try place.open(name, passphrase)
                #expect(try StoreProbe.problems(queue) == [], comment)
                #expect(try StoreProbe.rows(queue) == union, comment)
                #expect(try Synchronizer(existing: queue).conflicts().isEmpty, comment)
                try queue.close()
            }
        }

        // MARK: The client

        /// Runs `syncctl sync` of the device with a fault, while a server runs.
        private static func runClient(
            _ place: Workplace, _ interposer: Interposer, _ fault: Fault?
        ) throws -> (result: CommandResult, callCount: Int?) {
            let server = try ServerProcess(place, [hub], "a", ["--plaintext-on-loopback"])
            try point(place, to: server)
            let run = try interposer.run(
                ["sync", place.path(phone), "--passphrase-file", place.secret("b")],
                below: place.path("phone/"), fault: fault)
            #expect(server.stop() == 0)
            return run
        }

        @Test(arguments: [Fault.Mode.kill, .torn, .full])
        func aClientThatFailsLosesNothing(mode: Fault.Mode) throws {
            let prepared = try Self.makePair()
            let (interposer, union) = (try Interposer(), try Self.union(prepared))
            let rehearsal = try prepared.copy()
            let (result, calls) = try Self.runClient(rehearsal, interposer, nil)
            #expect(result.status == 0, "\(result.errors)")
            let count = try #require(calls)
            try Self.finish(rehearsal, union, "without a fault")
            var failureCount = 0
            for call in FaultCampaign.calls(of: count, limit: 30, least: 3) {
                let place = try prepared.copy()
                let (result, _) = try Self.runClient(place, interposer, Fault(mode: mode, call: call))
                let comment: Comment = "\(mode) at call \(call): \(result.status) \(result.errors)"
                // A run can make fewer calls than the one before.
                if result.status != 0 { failureCount += 1 }
                if mode != .full {
                    #expect(result.status == -SIGKILL || result.status == 0, comment)
                } else if result.status != 0 && result.status != 3 {
                    #expect(result.status == 1, comment)
                    #expect(
                        result.errors.contains("the disk is full") || result.errors.contains("no space left"),
                        comment)
                }
                try Self.finish(place, union, comment)
            }
            #expect(failureCount > 0, "some of the faults are in the midst of the synchronization")
        }

        // MARK: The server

        /// Synchronizes with a server that has a fault.
        ///
        /// - returns: The calls of the server, if it came to its end, and why the synchronization failed.
        private static func runServer(
            _ place: Workplace, _ interposer: Interposer, _ fault: Fault?
        ) throws -> (callCount: Int?, error: (any Error)?) {
            let count = place.path("count")
            let server = try ServerProcess(
                place, [hub], "a", ["--plaintext-on-loopback"],
                environment: interposer.environment(below: place.path("hub/"), fault: fault, count: count))
            // It can fail before it listens.
            guard server.port != nil else { return (nil, nil) }
            try point(place, to: server)
            var failure: (any Error)?
            do {
                try synchronize(place)
            } catch {
                failure = error
            }
            server.stop()
            let text = try? place.folder.text("count").trimmingCharacters(in: .newlines)
            try? FileManager.default.removeItem(atPath: count)
            return (text.flatMap { Int($0) }, failure)
        }

        @Test(arguments: [Fault.Mode.kill, .torn, .full])
        func aServerThatFailsLosesNothing(mode: Fault.Mode) throws {
            let prepared = try Self.makePair()
            let (interposer, union) = (try Interposer(), try Self.union(prepared))
            let rehearsal = try prepared.copy()
            let (calls, error) = try Self.runServer(rehearsal, interposer, nil)
            #expect(error == nil)
            let count = try #require(calls)
            try Self.finish(rehearsal, union, "without a fault")
            var failureCount = 0
            for call in FaultCampaign.calls(of: count, limit: 30, least: 3) {
                let place = try prepared.copy()
                let (_, error) = try Self.runServer(place, interposer, Fault(mode: mode, call: call))
                if error != nil { failureCount += 1 }
                try Self.finish(place, union, "\(mode) at call \(call): \(error.map { "\($0)" } ?? "")")
            }
            #expect(failureCount > 0, "some of the faults are in the midst of the synchronization")
        }
    }
#endif
