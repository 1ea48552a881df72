import Synchronization

/// What a server did and has, as the text that Prometheus reads.
///
/// Series are few whatever devices do: their labels are routes, statuses and directions, and no names of devices, stores
/// or tables.
final class ServerMetrics: Sendable {
    /// What is counted, with its name, kind and meaning.
    enum Metric: String, CaseIterable, Sendable {
        case requests = "cipherstore_requests_total"
        case requestSeconds = "cipherstore_request_seconds_total"
        case streamsOpened = "cipherstore_streams_opened_total"
        case bundles = "cipherstore_bundles_total"
        case rows = "cipherstore_rows_total"
        case bytes = "cipherstore_bundle_bytes_total"
        case conflicts = "cipherstore_conflicts_total"
        case parked = "cipherstore_rows_parked_total"
        case connectionsClosed = "cipherstore_connections_closed_total"
        case streams = "cipherstore_streams"
        case sessions = "cipherstore_sessions"
        case stores = "cipherstore_stores"
        case upSeconds = "cipherstore_up_seconds"

        var isGauge: Bool {
            switch self {
            case .streams, .sessions, .stores, .upSeconds: true
            default: false
            }
        }

        var help: String {
            switch self {
            case .requests: "Requests that were answered, by route and status."
            case .requestSeconds: "How long their answers took to begin, in seconds, by route."
            case .streamsOpened: "Streams of live changes that were opened."
            case .bundles: "Bundles, by direction: applied here (in) or offered (out), once for each device."
            case .rows: "Rows of bundles, by direction."
            case .bytes: "Bytes of bundles, by direction."
            case .conflicts: "Values of devices or of this store that lost when bundles were applied."
            case .parked: "Rows of bundles that could not be written yet."
            case .connectionsClosed: "Connections that were closed: their address had as many as it may."
            case .streams: "Streams of live changes that are open."
            case .sessions: "Sessions that are open."
            case .stores: "Stores that are served."
            case .upSeconds: "How long the server has been running, in seconds."
            }
        }
    }

    private struct Series: Hashable {
        let metric: Metric
        let labels: String
    }

    private let start = ContinuousClock.now
    private let values = Mutex<[Series: Double]>([:])

    /// Adds to a count.
    ///
    /// - parameter labels: Names and values, of which there may be few.
    func count(_ metric: Metric, _ labels: [(name: String, value: String)] = [], by amount: Double = 1) {
        let text = labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
        values.withLock { $0[Series(metric: metric, labels: text), default: 0] += amount }
    }

    /// Counts a bundle.
    ///
    /// - parameter direction: `in` or `out`.
    func count(bundle direction: String, rows: Int64, bytes: Int64) {
        let labels = [(name: "direction", value: direction)]
        count(.bundles, labels)
        count(.rows, labels, by: Double(rows))
        count(.bytes, labels, by: Double(bytes))
    }

    /// The text.
    ///
    /// - parameter gauges: What there is now.
    func text(_ gauges: [Metric: Double]) -> String {
        var series = values.withLock { $0 }
        for (metric, value) in gauges { series[Series(metric: metric, labels: "")] = value }
        series[Series(metric: .upSeconds, labels: "")] = (ContinuousClock.now - start) / .seconds(1)
        var lines: [String] = []
        for metric in Metric.allCases {
            lines.append("# HELP \(metric.rawValue) \(metric.help)")
            lines.append("# TYPE \(metric.rawValue) \(metric.isGauge ? "gauge" : "counter")")
            let own = series.filter { $0.key.metric == metric }
            for (key, value) in own.sorted(by: { $0.key.labels < $1.key.labels }) {
                let labels = key.labels.isEmpty ? "" : "{\(key.labels)}"
                lines.append("\(metric.rawValue)\(labels) \(Self.number(value))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
