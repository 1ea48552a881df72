#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
        import OpenCombineDispatch
    #endif

    extension DatabaseReader {
        /// Makes a publisher of what a read gives. Each subscription reads once.
        ///
        /// ```swift
        /// let players = dbPool.readPublisher { db in try Player.fetchAll(db) }
        /// ```
        ///
        /// - parameters:
        ///     - scheduler: Where the value is told; by default, on the main queue.
        ///     - value: What is read, in one snapshot of the database.
        public func readPublisher<Output: Sendable>(
            receiveOn scheduler: some Scheduler = DatabasePublishers.mainScheduler,
            value: @escaping @Sendable (Database) throws -> Output
        ) -> DatabasePublishers.Read<Output> {
            DatabasePublishers.Read(
                upstream: DatabasePublishers.once(receiveOn: scheduler) { [self] completion in
                    asyncRead(value, completion: completion)
                })
        }
    }

    extension DatabaseWriter {
        /// Makes a publisher of what a transaction gives. Each subscription writes once.
        ///
        /// ```swift
        /// let newCount = dbPool.writePublisher { db in
        ///     try player.insert(db)
        ///     return try Player.fetchCount(db)
        /// }
        /// ```
        ///
        /// - parameters:
        ///     - scheduler: Where the value is told; by default, on the main queue.
        ///     - updates: What runs in the transaction.
        public func writePublisher<Output: Sendable>(
            receiveOn scheduler: some Scheduler = DatabasePublishers.mainScheduler,
            updates: @escaping @Sendable (Database) throws -> Output
        ) -> DatabasePublishers.Write<Output> {
            DatabasePublishers.Write(
                upstream: DatabasePublishers.once(receiveOn: scheduler) { [self] completion in
                    asyncWrite(updates) { _, result in completion(result) }
                })
        }

        /// Makes a publisher of what is read after a transaction, in the state that it left. Each
        /// subscription writes and reads once.
        ///
        /// With a pool, the read runs beside the writes that follow.
        ///
        /// - parameters:
        ///     - scheduler: Where the value is told; by default, on the main queue.
        ///     - updates: What runs in the transaction.
        ///     - value: What is read after it. Its second argument is the result of `updates`.
        public func writePublisher<T: Sendable, Output: Sendable>(
            receiveOn scheduler: some Scheduler = DatabasePublishers.mainScheduler,
            updates: @escaping @Sendable (Database) throws -> T,
            thenRead value: @escaping @Sendable (Database, T) throws -> Output
        ) -> DatabasePublishers.Write<Output> {
            DatabasePublishers.Write(
                upstream: DatabasePublishers.once(receiveOn: scheduler) { [self] completion in
                    asyncWriteWithoutTransaction { [self] db in
                        switch Result(catching: { try db.inWriteTransaction(updates) }) {
                        case .failure(let error): completion(.failure(error))
                        case .success(let updated):
                            concurrentRead({ db in try value(db, updated) }, completion: completion)
                        }
                    }
                })
        }
    }

    extension DatabaseMigrator {
        /// Makes a publisher that tells when the migrations have run. Each subscription migrates.
        ///
        /// - parameters:
        ///     - writer: The database.
        ///     - scheduler: Where the end is told; by default, on the main queue.
        public func migratePublisher(
            _ writer: any DatabaseWriter,
            receiveOn scheduler: some Scheduler = DatabasePublishers.mainScheduler
        ) -> DatabasePublishers.Migrate {
            DatabasePublishers.Migrate(
                upstream: DatabasePublishers.once(receiveOn: scheduler) { completion in
                    asyncMigrate(writer) { result in completion(result.map { _ in }) }
                })
        }
    }
#endif
