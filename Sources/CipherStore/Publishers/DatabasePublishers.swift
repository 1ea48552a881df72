#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
        import OpenCombineDispatch
    #endif
    import Dispatch

    /// The publishers of databases, where there is Combine, or OpenCombine by the package's trait
    /// `OpenCombine`.
    public enum DatabasePublishers {
        #if canImport(Combine)
            /// The scheduler of the main queue, where publishers tell what there is unless they are told
            /// otherwise.
            public static var mainScheduler: DispatchQueue { .main }
        #else
            /// The scheduler of the main queue, where publishers tell what there is unless they are told
            /// otherwise.
            public static var mainScheduler: DispatchQueue.OCombine { DispatchQueue.main.ocombine }
        #endif

        /// Reads once for each subscription: ``DatabaseReader/readPublisher(receiveOn:value:)``.
        public struct Read<Output>: Publisher {
            /// Any error.
            public typealias Failure = any Error

            let upstream: AnyPublisher<Output, any Error>

            /// Begins a read for a subscriber.
            public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
                upstream.receive(subscriber: subscriber)
            }
        }

        /// Writes once for each subscription: ``DatabaseWriter/writePublisher(receiveOn:updates:)``.
        public struct Write<Output>: Publisher {
            /// Any error.
            public typealias Failure = any Error

            let upstream: AnyPublisher<Output, any Error>

            /// Begins a write for a subscriber.
            public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
                upstream.receive(subscriber: subscriber)
            }
        }

        /// Migrates once for each subscription: ``DatabaseMigrator/migratePublisher(_:receiveOn:)``.
        public struct Migrate: Publisher {
            /// Nothing.
            public typealias Output = Void
            /// Any error.
            public typealias Failure = any Error

            let upstream: AnyPublisher<Void, any Error>

            /// Begins a migration for a subscriber.
            public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
                upstream.receive(subscriber: subscriber)
            }
        }

        /// Observes values for each subscription: ``ValueObservation/publisher(in:scheduling:)``.
        public struct Value<Output: Sendable>: Publisher {
            /// Any error.
            public typealias Failure = any Error

            let start: ObservationSubscription<Output>.Start

            /// Observes the database for a subscriber.
            public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
                subscriber.receive(
                    subscription: ObservationSubscription(AnySubscriber(subscriber), start: start))
            }
        }

        /// Observes transactions for each subscription: ``DatabaseRegionObservation/publisher(in:)``.
        public struct DatabaseRegion: Publisher {
            /// The writing connection.
            public typealias Output = Database
            /// Any error.
            public typealias Failure = any Error

            let start: RegionSubscription.Start

            /// Observes the database for a subscriber.
            public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
                subscriber.receive(subscription: RegionSubscription(AnySubscriber(subscriber), start: start))
            }
        }

        /// Makes a publisher that does something for each subscription, and tells its result.
        ///
        /// - parameters:
        ///     - scheduler: Where the result is told.
        ///     - start: Starts what is to be done. It calls the function that it is given once.
        static func once<Output: Sendable>(
            receiveOn scheduler: some Scheduler,
            _ start: @escaping (_ completion: @escaping @Sendable (Result<Output, any Error>) -> Void) -> Void
        ) -> AnyPublisher<Output, any Error> {
            Deferred {
                Future { promise in
                    // A promise may be kept on any thread; its type does not say so.
                    nonisolated(unsafe) let promise = promise
                    start { promise($0) }
                }
            }
            .receive(on: scheduler)
            .eraseToAnyPublisher()
        }
    }
#endif
