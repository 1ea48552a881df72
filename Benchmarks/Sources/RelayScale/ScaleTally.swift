/// What a day was.
struct ScaleTally {
    private(set) var requests = [Int](repeating: 0, count: RequestKind.allCases.count)
    private(set) var byteCount = 0.0
    private(set) var processorSeconds = 0.0
    /// The processor time of each minute.
    private var minutes = [Double](repeating: 0, count: 1_442)
    /// The requests of each second.
    private var seconds = [Int32](repeating: 0, count: 86_530)
    /// The writes of each minute.
    private var writes = [Int32](repeating: 0, count: 1_442)
    private(set) var durations = Durations()
    /// From an edit until another device that is in use has it.
    var arrivals = Durations()
    var editCount = 0
    var openWatches = 0
    var openWatchesMax = 0

    mutating func note(_ kind: RequestKind, at time: Double, seconds cost: Double, took: Double) {
        requests[kind.rawValue] += 1
        byteCount += kind.byteCount
        processorSeconds += cost
        minutes[min(Int(time / 60), minutes.count - 1)] += cost
        if kind == .writing { writes[min(Int(time / 60), writes.count - 1)] += 1 }
        guard kind != .line else { return }
        seconds[min(Int(time), seconds.count - 1)] += 1
        durations.add(took)
    }

    /// All but lines to watches.
    var requestCount: Int { requests.reduce(0, +) - requests[RequestKind.line.rawValue] }
    /// How many processors the busiest minute would keep busy.
    var busiestProcessors: Double { (minutes.max() ?? 0) / 60 }
    var requestsOfBusiestSecond: Int { Int(seconds.max() ?? 0) }
    var commitsOfBusiestMinute: Double { Double(writes.max() ?? 0) }
}
