#if compiler(>=6.3)
    import Foundation
    import Testing

    @testable import CipherStore

    /// Observations of a file that another process writes to.
    @Suite(.serialized, .timeLimit(.minutes(20))) struct OtherProcessObservationTests {
        /// The values of an observation, for a thread that waits.
        private final class Told: Sendable {
            private let condition = NSCondition()
            private nonisolated(unsafe) var values: [Result<Int, any Error>] = []
            private let cancellable = LockedBox<AnyDatabaseCancellable?>(nil)

            init(_ reader: any DatabaseReader, writes: Bool = false) {
                var observation = ValueObservation.tracking { db in
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM a") ?? 0
                }
                observation.requiresWriteAccess = writes
                cancellable.value = observation.start(
                    in: reader, scheduling: .async(onQueue: DispatchQueue(label: "told")),
                    onError: { [self] in add(.failure($0)) }, onChange: { [self] in add(.success($0)) })
            }

            private func add(_ value: Result<Int, any Error>) {
                condition.withLock {
                    values.append(value)
                    condition.broadcast()
                }
            }

            /// Waits for a value, whatever comes before it.
            func expect(_ expected: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
                try condition.withLock {
                    while true {
                        if case .failure(let error) = values.last { throw error }
                        if case .success(expected) = values.last { return }
                        guard condition.wait(until: .now + 120) else {
                            Issue.record("\(expected) does not come", sourceLocation: sourceLocation)
                            return
                        }
                    }
                }
            }

            /// Waits for the error that ends the observation.
            func failure() -> (any Error)? {
                condition.withLock {
                    while true {
                        if case .failure(let error) = values.last { return error }
                        guard condition.wait(until: .now + 120) else { return nil }
                    }
                }
            }

            func cancel() { cancellable.value?.cancel() }
        }

        private static let create = "CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER)"
        private static let insert = "INSERT INTO a VALUES (1)"

        /// Inserts in the other process. Without a WAL, a reader of this process is in the way of a commit for a moment.
        private static func insert(_ process: ForeignProcess, _ path: String, _ kind: StoreKind) throws {
            while true {
                do {
                    return try process.execute(insert, path, kind)
                } catch let problem as ForeignProcess.Problem where problem.description.contains("locked") {
                    continue
                }
            }
        }

        @Test(arguments: StoreKind.all, [false, true])
        func commitsOfAnotherProcessAreSeen(_ kind: StoreKind, writes: Bool) async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            try await ForeignProcess.run(folder) { process in
                let writer = try kind.open(path)
                try writer.write { try $0.execute(sql: Self.create) }
                let told = Told(writer, writes: writes)
                try told.expect(0)
                for number in 1...3 {
                    try Self.insert(process, path, kind)
                    try told.expect(number)
                }
                // Those of both come after each other.
                try writer.write { try $0.execute(sql: Self.insert) }
                try Self.insert(process, path, kind)
                try told.expect(5)
                told.cancel()
            }
        }

        @Test(arguments: StoreKind.all) func aProcessThatOnlyReadsSeesThem(_ kind: StoreKind) async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            try await ForeignProcess.run(folder) { process in
                // The writer keeps the WAL for those who can't make one.
                let writer = try kind.open(path)
                try writer.write { try $0.execute(sql: Self.create) }
                var configuration = kind.passphrase.map(Configuration.keyed) ?? Configuration()
                configuration.readonly = true
                let reader: any DatabaseReader =
                    kind.isPool
                    ? try DatabasePool(path: path, configuration: configuration)
                    : try DatabaseQueue(path: path, configuration: configuration)
                let told = Told(reader)
                try told.expect(0)
                try Self.insert(process, path, kind)
                try told.expect(1)
                told.cancel()
                withExtendedLifetime(writer) {}
            }
        }

        @Test func commitsBetweenTheFirstFetchAndTheWatchAreSeen() async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            let kind = StoreKind(isPool: true, isEncrypted: true)
            try await ForeignProcess.run(folder) { process in
                let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
                try pool.write { try $0.execute(sql: Self.create) }
                // While the writer is held, the observation fetches and can't watch yet.
                let told: Told = try pool.writeWithoutTransaction { _ in
                    let told = Told(pool)
                    try told.expect(0)
                    try Self.insert(process, path, kind)
                    return told
                }
                try told.expect(1)
                told.cancel()
            }
        }

        @Test func theyAreSeenAfterTheKeyWasChanged() async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            let kind = StoreKind(isPool: true, isEncrypted: true)
            try await ForeignProcess.run(folder) { process in
                let pool = try DatabasePool(path: path, configuration: .keyed("other"))
                try pool.write { try $0.execute(sql: Self.create) }
                let told = Told(pool)
                try told.expect(0)
                // The process opens the new file, which has the name of the old one.
                try pool.changePassphrase("secret")
                try Self.insert(process, path, kind)
                try told.expect(1)
                try Self.insert(process, path, kind)
                try told.expect(2)
                told.cancel()
            }
        }

        @Test func aFileThatIsReplacedIsAnError() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
            try pool.write { try $0.execute(sql: Self.create) }
            let told = Told(pool)
            try told.expect(0)
            let other = try DatabaseQueue(path: folder.file("b.db"), configuration: .keyed("secret"))
            try other.write { try $0.execute(sql: Self.create) }
            try other.close()
            #expect(rename(folder.file("b.db"), path) == 0)
            #expect(told.failure() is StoreError)
        }

        @Test func anotherConnectionOfThisProcessIsSeen() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
            try pool.write { try $0.execute(sql: Self.create) }
            let told = Told(pool)
            try told.expect(0)
            let other = try DatabaseQueue(path: path, configuration: .keyed("secret"))
            try other.write { try $0.execute(sql: Self.insert) }
            try told.expect(1)
            told.cancel()
        }

        @Test func theWatchEndsWithTheLastObservationAndBeginsAnew() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
            try pool.write { try $0.execute(sql: Self.create) }
            #expect(pool.writer.otherCommits.isEmpty)
            let other = try DatabaseQueue(path: path, configuration: .keyed("secret"))
            for round in 0..<3 {
                let (first, second) = (Told(pool), Told(pool))
                try first.expect(round)
                try second.expect(round)
                #expect(!pool.writer.otherCommits.isEmpty)
                first.cancel()
                #expect(!pool.writer.otherCommits.isEmpty)
                try other.write { try $0.execute(sql: Self.insert) }
                try second.expect(round + 1)
                second.cancel()
                #expect(pool.writer.otherCommits.isEmpty)
            }
        }

        @Test func itCanBeTurnedOff() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("a.db")
            var configuration = Configuration.keyed("secret")
            configuration.observesOtherConnections = false
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.write { try $0.execute(sql: Self.create) }
            let told = Told(pool)
            try told.expect(0)
            #expect(pool.writer.otherCommits.isEmpty)
            told.cancel()
        }

        #if os(Linux)
            @Test func noDescriptorOfTheStoreIsOpenedForTheWatch() throws {
                let folder = try TemporaryFolder()
                let path = folder.file("a.db")
                let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
                try queue.write { try $0.execute(sql: Self.create) }
                func descriptors() throws -> [String] {
                    let directory = "/proc/self/fd"
                    return try FileManager.default.contentsOfDirectory(atPath: directory).compactMap {
                        try? FileManager.default.destinationOfSymbolicLink(atPath: directory + "/" + $0)
                    }.filter { $0.hasPrefix(folder.path) }.sorted()
                }
                let before = try descriptors()
                let told = Told(queue)
                try told.expect(0)
                var patient = Configuration.keyed("secret")
                // The observation reads now and then.
                patient.busyMode = .timeout(10)
                let other = try DatabaseQueue(path: path, configuration: patient)
                try other.write { try $0.execute(sql: Self.insert) }
                try other.close()
                try told.expect(1)
                #expect(try descriptors() == before)
                told.cancel()
            }
        #endif
    }
#endif
