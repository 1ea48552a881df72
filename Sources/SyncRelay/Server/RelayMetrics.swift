import Synchronization

/// What a relay did and has, as the text that Prometheus reads.
///
/// Series are few whatever clients do: their labels are kinds of requests, statuses and directions, and nothing that tells
/// channels or clients apart.
final class RelayMetrics: Sendable {
    /// What is counted, with its name, kind and meaning.
    enum Metric: String, CaseIterable, Sendable {
        case requests = "cipherstore_relay_requests_total"
        case requestSeconds = "cipherstore_relay_request_seconds_total"
        case bytes = "cipherstore_relay_file_bytes_total"
        case watchesOpened = "cipherstore_relay_watches_opened_total"
        case connectionsClosed = "cipherstore_relay_connections_closed_total"
        case watches = "cipherstore_relay_watches"
        case channels = "cipherstore_relay_channels"
        case files = "cipherstore_relay_files"
        case fileBytes = "cipherstore_relay_file_bytes"
        case storageBytes = "cipherstore_relay_storage_bytes"
        case upSeconds = "cipherstore_relay_up_seconds"

        var isGauge: Bool {
            switch self {
            case .requests, .requestSeconds, .bytes, .watchesOpened, .connectionsClosed: false
            default: true
            }
        }

        var help: String {
            switch self {
            case .requests: "Requests that were answered, by kind and status."
            case .requestSeconds: "How long their answers took to begin, in seconds, by kind."
            case .bytes: "Bytes of files, by direction: written by clients (in) or read by them (out)."
            case .watchesOpened: "Watches that were opened."
            case .connectionsClosed: "Connections that were closed: their address had as many as it may."
            case .watches: "Watches that are open."
            case .channels: "Channels."
            case .files: "Files in all channels."
            case .fileBytes: "Bytes of these files."
            case .storageBytes: "Bytes that the storage takes on its disk."
            case .upSeconds: "How long the relay has been running, in seconds."
            }
        }
    }

    private struct Label: Hashable {
        let name: String
        let value: String
    }

    private struct Series: Hashable {
        let metric: Metric
        let labels: [Label]

        /// The labels as Prometheus reads them.
        var text: String { labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",") }
    }

    private let start = ContinuousClock.now
    private let values = Mutex<[Series: Double]>([:])

    /// Adds to a count.
    ///
    /// - parameter labels: Names and values, of which there may be few.
    func count(_ metric: Metric, _ labels: [(name: String, value: String)] = [], by amount: Double = 1) {
        let series = Series(metric: metric, labels: labels.map { Label(name: $0.name, value: $0.value) })
        values.withLock { $0[series, default: 0] += amount }
    }

    /// What was counted of a metric, with the values of its labels in their order.
    func counts(of metric: Metric) -> [(labels: [String], amount: Double)] {
        values.withLock { values in
            values.filter { $0.key.metric == metric }.map { ($0.key.labels.map(\.value), $0.value) }
        }
    }

    /// Counts bytes of files.
    ///
    /// - parameter direction: `in` or `out`.
    func count(bytes: Int, _ direction: String) {
        count(.bytes, [("direction", direction)], by: Double(bytes))
    }

    /// The text.
    ///
    /// - parameter gauges: What there is now.
    func text(_ gauges: [Metric: Double]) -> String {
        var series = values.withLock { $0 }
        for (metric, value) in gauges { series[Series(metric: metric, labels: [])] = value }
        series[Series(metric: .upSeconds, labels: [])] = (ContinuousClock.now - start) / .seconds(1)
        var lines: [String] = []
        for metric in Metric.allCases {
            lines.append("# HELP \(metric.rawValue) \(metric.help)")
            lines.append("# TYPE \(metric.rawValue) \(metric.isGauge ? "gauge" : "counter")")
            let own = series.filter { $0.key.metric == metric }
            let texts = own.map { (labels: $0.key.text, value: $0.value) }
            for (labels, value) in texts.sorted(by: { $0.labels < $1.labels }) {
                let label = labels.isEmpty ? "" : "{\(labels)}"
                lines.append("\(metric.rawValue)\(label) \(Self.number(value))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
