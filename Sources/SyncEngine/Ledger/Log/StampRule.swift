import SyncWire

/// How a fold gives stamps to log entries, as SQL.
///
/// None of them is beyond the latest timestamp, whatever the clock showed, and whatever another program wrote into the log.
struct StampRule {
    let floor: Int64
    let now: Int64
    let replica: Int64

    /// The first timestamp that no store takes in.
    static let end = AdmissionLimits.timestampMax + 1

    /// The rule for what waits in the log.
    ///
    /// - parameter now: The present, see ``SyncEnvironment/stampMilliseconds()``.
    init(_ metadata: StoreMetadata, now: Int64) {
        assert(now <= AdmissionLimits.millisecondsMax, "what is stamped now could not be sent")
        floor = metadata.nextTimestamp
        self.now = min(now, AdmissionLimits.millisecondsMax)
        replica = metadata.selfNumber
        assert(floor <= AdmissionLimits.timestampMax)
    }

    /// The stamp of a log entry's time.
    func sql(_ milliseconds: String) -> String {
        "max(\(floor), min(max(\(milliseconds), 0), \(now)) << 16)"
    }

    /// The same of one time.
    func stamp(_ milliseconds: Int64) -> Int64 { max(floor, min(max(milliseconds, 0), now) << 16) }
}
