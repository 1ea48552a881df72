import SyncWire
import Synchronization

extension HubStore {
    /// A bundle that is being made for a device.
    struct Making: Sendable {
        let spool: ByteSpool
        let rows: RowCounts
        /// How far the store had come when it began, where a device can't say itself how far it has come then, see
        /// ``HubStore/offeredReach(_:)``.
        let reach: VersionVector?
    }

    /// How far an export has come, and to how many devices it was offered.
    final class RowCounts: Sendable {
        private struct Counts {
            var done: Int64 = 0
            var total: Int64 = 0
            /// How many devices it was offered to before it was made.
            var offers = 0
            var isMade = false
        }

        private let counts = Mutex(Counts())

        func note(_ done: Int64, _ total: Int64) throws {
            counts.withLock { ($0.done, $0.total) = (done, total) }
        }

        var total: Int64 { counts.withLock { $0.total } }

        /// How many bytes all rows may have, when those that are done have some.
        func estimate(byteCount: Int64) -> Int64 {
            counts.withLock { counts in
                guard counts.done > 0, counts.total > counts.done else { return byteCount }
                return Int64(Double(byteCount) * Double(counts.total) / Double(counts.done))
            }
        }

        /// Counts a device that it is offered to.
        ///
        /// - returns: Whether it is made, so that the metrics can tell its size now.
        func offer() -> Bool {
            counts.withLock { counts in
                if !counts.isMade { counts.offers += 1 }
                return counts.isMade
            }
        }

        /// Says that it is made.
        ///
        /// - returns: To how many devices it was offered before, of which the metrics know nothing yet.
        func end() -> Int {
            counts.withLock { counts in
                counts.isMade = true
                return counts.offers
            }
        }
    }
}
