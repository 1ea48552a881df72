import CoreMetrics

/// The metrics of synchronizations. `docs/observability.md` lists them; a test compares.
///
/// All have the dimension `remote`, the name of the transport.
public enum SyncMetric: String, CaseIterable, Sendable {
    /// How long synchronizations took; with the dimension `outcome`: `finished` or `failed`.
    case duration = "sync.duration"
    /// The rows that were moved; with the dimension `direction`.
    case rows = "sync.rows"
    /// The bytes that were moved; with the dimension `direction`.
    case bytes = "sync.bytes"
    /// The values that lost against writes that did not know them.
    case conflicts = "sync.conflicts"
    /// The synchronizations that found that both sides knew the same and did not hold the same.
    case divergences = "sync.divergences"
    /// The synchronizations that failed.
    case failures = "sync.failures"
    /// When one last succeeded, in seconds of Unix time.
    case lastSuccess = "sync.last_success"
    /// The local changes that the remote does not have.
    case pending = "sync.pending"
    /// The rows that wait here.
    case parked = "sync.parked"

    /// What records it.
    public var kind: String {
        switch self {
        case .duration: "timer"
        case .rows, .bytes, .conflicts, .divergences, .failures: "counter"
        case .lastSuccess, .pending, .parked: "gauge"
        }
    }
}

/// Records the metrics of the synchronizations with one remote.
struct MetricsRecording {
    let factory: any MetricsFactory
    let remote: String

    func count(_ metric: SyncMetric, _ amount: Int64, _ dimensions: [(String, String)] = []) {
        guard amount > 0 else { return }
        factory.makeCounter(label: metric.rawValue, dimensions: [("remote", remote)] + dimensions)
            .increment(by: amount)
    }

    func gauge(_ metric: SyncMetric, _ value: Int64) {
        factory.makeRecorder(label: metric.rawValue, dimensions: [("remote", remote)], aggregate: false)
            .record(value)
    }

    func time(_ metric: SyncMetric, milliseconds: Int64, _ dimensions: [(String, String)]) {
        factory.makeTimer(label: metric.rawValue, dimensions: [("remote", remote)] + dimensions)
            .recordNanoseconds(max(0, milliseconds) * 1_000_000)
    }
}
