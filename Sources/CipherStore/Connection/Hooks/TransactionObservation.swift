import Synchronization

/// One observer of a connection.
final class TransactionObservation {
    let extent: Database.TransactionObservationExtent

    /// Whether no more changes are told in this transaction.
    var isStopped = false

    /// Whether it was told something in this transaction.
    var isTouched = false

    /// Whether it has nothing to do with a transaction that has not touched it, so that a thousand of them cost
    /// the commits nothing that concern none.
    let isQuiet: Bool

    /// When it was added, among others.
    var number = 0

    private weak var weakObserver: (any TransactionObserver)?
    private var strongObserver: (any TransactionObserver)?

    /// The observer, if it watches a region, and unless it is gone or was removed.
    private(set) weak var regionObserver: RegionObserver?

    init(_ observer: any TransactionObserver, extent: Database.TransactionObservationExtent) {
        self.extent = extent
        let regionObserver = observer as? RegionObserver
        isQuiet = extent == .observerLifetime && regionObserver != nil
        self.regionObserver = regionObserver
        weakObserver = observer
        if extent != .observerLifetime { strongObserver = observer }
    }

    /// The observer, unless it is gone or was removed.
    var observer: (any TransactionObserver)? { strongObserver ?? weakObserver }

    /// Notes that a transaction was committed, before any observer is told.
    func noteCommit() { regionObserver?.noteCommit() }

    /// Ends the observation.
    func end() {
        weakObserver = nil
        strongObserver = nil
        regionObserver = nil
    }
}

/// How many observers are gone that the broker does not look at when a transaction ends.
final class GoneCounter: Sendable {
    let value = Atomic<Int>(0)
}
