#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
        import OpenCombineDispatch
    #endif
    import Foundation
    import Testing

    @testable import CipherStore

    /// Combine's publishers, or OpenCombine's.
    @Suite(.timeLimit(.minutes(20))) struct PublisherTests {
        private struct Failure: Error {}

        private let folder: TemporaryFolder
        private let pool: DatabasePool

        init() throws {
            folder = try TemporaryFolder()
            pool = try DatabasePool(path: folder.file("a.db"))
            try pool.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
        }

        private static let count: @Sendable (Database) throws -> Int = {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t") ?? 0
        }

        private static let insert: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "INSERT INTO t VALUES (1)")
        }

        /// What a subscriber is told. It demands one value after the other.
        private final class Recorder<Input: Sendable>: Subscriber, @unchecked Sendable {
            typealias Failure = any Error

            private let events: AsyncStream<Result<Input, any Error>?>
            private let continuation: AsyncStream<Result<Input, any Error>?>.Continuation
            /// Set while the publisher is subscribed, and read after.
            private var subscription: (any Subscription)?

            init(_ publisher: some Publisher<Input, any Error>, demand: Subscribers.Demand = .unlimited) {
                (events, continuation) = AsyncStream.makeStream()
                publisher.subscribe(self)
                request(demand)
            }

            func receive(subscription: any Subscription) { self.subscription = subscription }

            func receive(_ input: Input) -> Subscribers.Demand {
                continuation.yield(.success(input))
                return .none
            }

            func receive(completion: Subscribers.Completion<any Error>) {
                if case .failure(let error) = completion { continuation.yield(.failure(error)) }
                continuation.yield(nil)
                continuation.finish()
            }

            func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }

            func cancel() {
                subscription?.cancel()
                continuation.finish()
            }

            /// The next value, or nil at the end.
            func next() async throws -> Input? {
                var iterator = events.makeAsyncIterator()
                return try await iterator.next()??.get()
            }
        }

        #if canImport(Combine)
            private let scheduler = DispatchQueue(label: "told")
        #else
            private let scheduler = DispatchQueue(label: "told").ocombine
        #endif

        @Test func readsAndWritesTellTheirResultAndComplete() async throws {
            let write = Recorder(pool.writePublisher(receiveOn: scheduler, updates: Self.insert).map { 1 })
            #expect(try await write.next() == 1)
            #expect(try await write.next() == nil)
            let reader = pool.readPublisher(receiveOn: scheduler, value: Self.count)
            // Each subscription reads anew.
            for count in 1...2 {
                let read = Recorder(reader)
                #expect(try await read.next() == count)
                #expect(try await read.next() == nil)
                try await pool.write(Self.insert)
            }
            let both = Recorder(
                pool.writePublisher(receiveOn: scheduler, updates: { db in try Self.insert(db) }) { db, _ in
                    try Self.count(db)
                })
            #expect(try await both.next() == 4)
        }

        @Test func anErrorEndsAPublisher() async throws {
            let read = Recorder(
                pool.readPublisher(receiveOn: scheduler) { _ -> Int in throw Failure() })
            await #expect(throws: Failure.self) { try await read.next() }
            let write = Recorder(
                pool.writePublisher(receiveOn: scheduler) { db -> Int in
                    try Self.insert(db)
                    throw Failure()
                })
            await #expect(throws: Failure.self) { try await write.next() }
            #expect(try await pool.read(Self.count) == 0)
        }

        // MARK: Reads that can't be trusted

        /// In the place of SQLite's function, by which the end of a read looks whether it can be trusted.
        private struct FailingCount: DatabaseAggregate {
            func step(_ dbValues: [DatabaseValue]) throws { throw Failure() }
            func finalize() -> (any DatabaseValueConvertible)? { nil }
        }

        /// Reads, and lets the check at the end of the read fail.
        private static let untrusted: @Sendable (Database) throws -> Int = { db in
            let count = try Self.count(db)
            db.add(function: DatabaseFunction("count", argumentCount: 0, aggregate: FailingCount.self))
            return count
        }

        private func makePool() throws -> DatabasePool {
            let pool = try DatabasePool(path: folder.file("b.db"), configuration: .keyed("secret"))
            try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a INTEGER)") }
            return pool
        }

        @Test func whatCantBeTrustedIsNotTold() async throws {
            let pool = try makePool()
            let readers: [any DatabaseReader] = [
                try pool.makeSnapshot(), try pool.makeSnapshotPool(), AnyDatabaseReader(pool),
                try DatabaseQueue(path: pool.path, configuration: .keyed("secret")),
            ]
            for reader in readers {
                let read = Recorder(reader.readPublisher(receiveOn: scheduler, value: Self.untrusted))
                let error = await #expect(throws: DatabaseError.self) { try await read.next() }
                #expect(error?.storeError?.code == .damaged)
            }
        }

        @Test func whatIsReadAfterATransactionIsToldWhenItCanBeTrusted() async throws {
            let pool = try makePool()
            let queue = try DatabaseQueue(path: folder.file("c.db"), configuration: .keyed("secret"))
            try await queue.write { try $0.execute(sql: "CREATE TABLE t (a INTEGER)") }
            let writers: [any DatabaseWriter] = [pool, queue]
            for writer in writers {
                let write = Recorder(
                    writer.writePublisher(receiveOn: scheduler, updates: { db in try Self.insert(db) }) {
                        db, _ in try Self.untrusted(db)
                    })
                let error = await #expect(throws: DatabaseError.self) { try await write.next() }
                #expect(error?.storeError?.code == .damaged)
            }
        }

        @Test func aReadOfASnapshotThatMayBeReentrantIsChecked() throws {
            let snapshot = try makePool().makeSnapshot()
            let error = #expect(throws: DatabaseError.self) {
                try snapshot.unsafeReentrantRead(Self.untrusted)
            }
            #expect(error?.storeError?.code == .damaged)
        }

        // MARK: Migrations and observations

        @Test func aMigrationTellsItsEnd() async throws {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { try $0.execute(sql: "CREATE TABLE u (a)") }
            let migration = Recorder(migrator.migratePublisher(pool, receiveOn: scheduler).map { 1 })
            #expect(try await migration.next() == 1)
            #expect(try await migration.next() == nil)
            #expect(try await pool.read { try $0.tableExists("u") })
        }

        @Test func anObservationTellsTheLatestValueWhenItIsDemanded() async throws {
            let observation = ValueObservation.tracking { try Self.count($0) }
            let recorder = Recorder(
                observation.publisher(
                    in: pool, scheduling: .async(onQueue: DispatchQueue(label: "told"))),
                demand: .max(1))
            #expect(try await recorder.next() == 0)
            for _ in 0..<3 { try await pool.write(Self.insert) }
            // What is demanded late may have been told early: the count is one of those since.
            var last = 0
            while last < 3 {
                recorder.request(.max(1))
                let count = try #require(try await recorder.next())
                #expect(count > last)
                last = count
            }
            recorder.cancel()
            #expect(try await recorder.next() == nil)
        }

        @Test @MainActor func anImmediateValueIsThereWhenTheSubscriptionIs() throws {
            let values = LockedBox<[Int]>([])
            let cancellable = ValueObservation.tracking { try Self.count($0) }
                .publisher(in: pool, scheduling: .immediate)
                .sink(
                    receiveCompletion: { _ in }, receiveValue: { value in values.change { $0.append(value) } }
                )
            #expect(values.value == [0])
            cancellable.cancel()
        }

        @Test func aSharedObservationTellsItsErrorAndStartsAnew() async throws {
            let fails = LockedBox(true)
            let shared = ValueObservation.tracking { db in
                if fails.value { throw Failure() }
                return try Self.count(db)
            }.shared(in: pool, scheduling: .async(onQueue: DispatchQueue(label: "told")))
            let first = Recorder(shared.publisher())
            await #expect(throws: Failure.self) { try await first.next() }
            fails.value = false
            #expect(try await Recorder(shared.publisher()).next() == 0)
        }

        @Test func aRegionIsToldOnTheWritingConnection() throws {
            let counts = LockedBox<[Int]>([])
            let cancellable = DatabaseRegionObservation(tracking: DatabaseRegion(table: "t"))
                .publisher(in: pool)
                .sink(
                    receiveCompletion: { _ in },
                    receiveValue: { db in
                        let count = (try? Self.count(db)) ?? -1
                        counts.change { $0.append(count) }
                    })
            try pool.write(Self.insert)
            try pool.write { try $0.execute(sql: "CREATE TABLE u (a)") }
            try pool.write(Self.insert)
            cancellable.cancel()
            try pool.write(Self.insert)
            #expect(counts.value == [1, 2])
        }
    }
#endif
