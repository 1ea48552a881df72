import SyncWire

/// How a fold gives stamps to log entries, as SQL.
struct StampRule {
    let floor: Int64
    let now: Int64
    let replica: Int64

    /// The first timestamp that no store takes in.
    static let end = AdmissionLimits.timestampMax + 1

    /// The stamp of a log entry's time.
    func sql(_ milliseconds: String) -> String {
        "max(\(floor), min(\(milliseconds), \(now)) << 16)"
    }
}
