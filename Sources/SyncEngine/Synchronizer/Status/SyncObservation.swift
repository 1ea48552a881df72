import CipherStore
import Logging
import SyncWire

/// What a synchronization tells its observation, whatever the remote was.
protocol ObservedReport {
    var pulled: SyncReport.Transfer? { get }
    var pushed: SyncReport.Transfer? { get }
    var renewedReplicas: [ReplicaID] { get }
    var divergence: Divergence? { get }
    /// Why the remote did not take what was changed here.
    var refusal: SyncError? { get }
    /// The replicas whose files were not taken in.
    var refused: [RefusedFiles] { get }
    /// Why the contact could not be noted.
    var unrecordedReason: String? { get set }
}

extension ObservedReport {
    /// The sum of both directions.
    fileprivate func total(_ count: KeyPath<SyncReport.Transfer, Int64>) -> Int64 {
        (pulled?[keyPath: count] ?? 0) + (pushed?[keyPath: count] ?? 0)
    }

    /// A remote that is no replica has nothing to be compared with.
    var divergence: Divergence? { nil }
    /// Nor has it bounds.
    var refusal: SyncError? { nil }
    /// Of a remote that is a replica, the changes are refused, and no files.
    var refused: [RefusedFiles] { [] }

    fileprivate var clockAheadMilliseconds: Int64 { pulled?.skewMilliseconds ?? 0 }
}

extension SyncReport: ObservedReport {}

/// Logs, measures and notes what a synchronization with a remote does.
struct SyncObservation {
    let synchronizer: Synchronizer
    let direction: SyncDirection
    let remote: String

    private var environment: SyncEnvironment { synchronizer.environment }

    /// Runs a synchronization under observation.
    ///
    /// - throws: ``SyncError`` of code `reservedName` before anything is done; what the body throws.
    func run<Report: ObservedReport>(_ body: () throws -> Report) throws -> Report {
        try UnnamedRemote.requireOther(remote)
        let start = environment.milliseconds()
        log(.started(direction: direction))
        do {
            var report = try body()
            let end = environment.milliseconds()
            finished(report, milliseconds: end - start)
            do {
                try synchronizer.database.write {
                    try SyncAttempts.record(
                        $0, success: remote, at: end, skew: report.clockAheadMilliseconds,
                        refusal: report.refusal)
                }
            } catch {
                // The changes are committed on both sides: that must not read as a failure.
                report.unrecordedReason = report.unrecordedReason ?? "\(error)"
            }
            if report.unrecordedReason != nil { log(.unrecorded(code: "status")) }
            try? measureStore()
            return report
        } catch {
            failed(error, start)
            throw error
        }
    }

    private func log(_ event: SyncEvent) { environment.log(event, ["remote": "\(remote)"]) }

    private var metrics: MetricsRecording? {
        environment.metrics.map { MetricsRecording(factory: $0, remote: remote) }
    }

    private func finished(_ report: some ObservedReport, milliseconds: Int64) {
        for replica in report.renewedReplicas { log(.identityRenewed(replica: replica)) }
        if let divergence = report.divergence {
            log(
                .diverged(
                    tableCount: divergence.tables.count, rowCount: divergence.rowCount,
                    isRepaired: divergence.isRepaired))
            metrics?.count(.divergences, 1)
        }
        for files in report.refused {
            log(.filesRefused(replica: files.replica, reason: files.reason.rawValue))
        }
        let transfers = [(SyncDirection.pull, report.pulled), (.push, report.pushed)]
        var rows: Int64 = 0
        var bytes: Int64 = 0
        for case (let direction, let transfer?) in transfers {
            log(.applied(direction: direction, rowCount: transfer.rowCount, byteCount: transfer.byteCount))
            rows += transfer.rowCount
            bytes += transfer.byteCount
            let dimensions = [("direction", direction.rawValue)]
            metrics?.count(.rows, transfer.rowCount, dimensions)
            metrics?.count(.bytes, transfer.byteCount, dimensions)
        }
        let conflictCount = SyncReport.conflictCount(pulled: report.pulled, pushed: report.pushed)
        if conflictCount > 0 { log(.conflictsFound(count: conflictCount)) }
        let parkedCount = report.total(\.parkedCount)
        if parkedCount > 0 { log(.rowsParked(count: parkedCount)) }
        let unparkedCount = report.total(\.unparkedCount)
        if unparkedCount > 0 { log(.rowsUnparked(count: unparkedCount)) }
        let skew = report.clockAheadMilliseconds
        if skew > 0 { log(.clockSkewed(milliseconds: skew)) }
        log(.finished(direction: direction, rowCount: rows, byteCount: bytes, milliseconds: milliseconds))
        metrics?.count(.conflicts, conflictCount)
        metrics?.time(.duration, milliseconds: milliseconds, [("outcome", "finished")])
        metrics?.gauge(.lastSuccess, environment.milliseconds() / 1000)
    }

    private func failed(_ error: any Error, _ start: Int64) {
        let end = environment.milliseconds()
        log(.failed(direction: direction, code: Self.code(error), milliseconds: end - start))
        metrics?.time(.duration, milliseconds: end - start, [("outcome", "failed")])
        // Whoever cancelled knows it, and the remote did nothing.
        guard !SyncCancellation.isReason(of: error) else { return }
        metrics?.count(.failures, 1)
        do {
            try synchronizer.database.write {
                guard let metadata = try StoreMetadata.load($0), metadata.format == MetadataSchema.version
                else { return }
                try SyncAttempts.record($0, failure: error, name: remote, at: end)
            }
        } catch {
            log(.unrecorded(code: Self.code(error)))
        }
    }

    /// What a store has to do yet, which needs a read.
    private func measureStore() throws {
        guard let metrics else { return }
        let status = try synchronizer.status()
        metrics.gauge(.parked, status.parkedCount)
        if let peer = status.peers.first(where: { $0.name == remote }) {
            metrics.gauge(.pending, peer.pendingCount)
        }
    }

    /// The kind of an error, without its text, which may name tables or files.
    private static func code(_ error: any Error) -> String {
        switch error {
        case is CancellationError: "sync.\(SyncError.Code.cancelled.rawValue)"
        case let error as SyncError: "sync.\(error.code.rawValue)"
        case let error as WireError: "wire.\(error.code.rawValue)"
        case let error as StoreError: "store.\(error.code)"
        case let error as DatabaseError: "sqlite.\(error.extendedResultCode.rawValue)"
        default: "\(type(of: error))"
        }
    }
}
