#if canImport(Combine) || OpenCombine
    import Dispatch

    extension ValueObservation {
        /// Makes a publisher of the observed values. Each subscription is an observation of its own.
        ///
        /// It tells a first value, and never completes without an error. A subscriber that demands less
        /// than there is gets the latest value when it demands again.
        ///
        /// ```swift
        /// let publisher = ValueObservation.tracking { db in try Player.fetchAll(db) }
        ///     .publisher(in: dbPool, scheduling: .immediate)
        /// ```
        ///
        /// - parameters:
        ///     - reader: The database, which is kept open.
        ///     - scheduler: Where values are told; by default, on the main queue.
        public func publisher(
            in reader: any DatabaseReader,
            scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main)
        ) -> DatabasePublishers.Value<Reducer.Value> {
            DatabasePublishers.Value { onError, onChange in
                start(in: reader, scheduling: scheduler, onError: onError, onChange: onChange)
            }
        }
    }

    extension SharedValueObservation {
        /// Makes a publisher of the observed values. Each subscription shares the observation.
        public func publisher() -> DatabasePublishers.Value<Element> {
            DatabasePublishers.Value { [self] onError, onChange in
                start(onError: onError, onChange: onChange)
            }
        }
    }

    extension DatabaseRegionObservation {
        /// Makes a publisher of the writing connection, after each transaction that changed the region.
        ///
        /// It tells on the connection's own queue, and the connection must not be kept. A subscriber
        /// that demands nothing misses transactions.
        ///
        /// - parameter writer: The database.
        public func publisher(in writer: any DatabaseWriter) -> DatabasePublishers.DatabaseRegion {
            DatabasePublishers.DatabaseRegion { onError, onChange in
                start(in: writer, onError: onError, onChange: onChange)
            }
        }
    }
#endif
