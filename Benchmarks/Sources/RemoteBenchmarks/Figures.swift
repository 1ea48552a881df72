import Foundation
import SyncEngine
import SyncHTTP

/// What can be measured.
enum RemoteFigure: String, CaseIterable {
    /// Many rows from one device to the server and to another device.
    case transfer
    /// The same, compressed.
    case compressed
    /// Many devices at a time.
    case devices
    /// Many devices that know the same, at a time and one after the other.
    case shared
    /// Commits from one device to another, both connected.
    case live
    /// Many rows from one device through a relay to another one.
    case relayTransfer = "relay-transfer"
    /// Commits from one device through a relay to another one.
    case relayLive = "relay-live"
    /// Many devices that wait for what a relay tells.
    case relayWatches = "relay-watches"
    /// The removal of one of many members.
    case removal

    func measure(_ options: RemoteOptions) throws -> [RemoteResult] {
        switch self {
        case .transfer: try measureTransfer(options, .never)
        case .compressed: try measureTransfer(options, .always)
        case .devices: try measureDevices(options)
        case .shared: try measureShared(options)
        case .live: try measureLive(options)
        case .relayTransfer: try measureRelayTransfer(options)
        case .relayLive: try measureRelayLive(options)
        case .relayWatches: try measureRelayWatches(options)
        case .removal: try measureRemoval(options)
        }
    }
}

private func measureTransfer(
    _ options: RemoteOptions, _ compression: HTTPTransport.Compression
) throws -> [RemoteResult] {
    let folder = try WorkFolder()
    let hub = try Hub(folder)
    let (from, to) = (try hub.join("from"), try hub.join("to"))
    try Stores.insert(options.rowCount, into: from)
    let push = try exchange(.push, from, compression)
    let pull = try exchange(.pull, to, compression)
    let server = try hub.end()
    for path in [hub.path, to] where try Stores.count(path) != options.rowCount {
        throw BenchmarkError(description: "rows are missing in \(path)")
    }
    let rows = Double(options.rowCount)
    let peak = [push.usage, pull.usage, server].map(\.peakMegabytes).max() ?? 0
    let total = push.seconds + pull.seconds
    let kind = compression == .always ? ", compressed" : ""
    // What is compressed is for networks, and measured on none.
    let bar: Double? = compression == .always ? nil : 70_000
    return [
        RemoteResult("push of new rows to the server\(kind)", rows / push.seconds, "rows/s", push.seconds),
        RemoteResult("pull of them by another device\(kind)", rows / pull.seconds, "rows/s", pull.seconds),
        RemoteResult("both, end to end\(kind)", rows / total, "rows/s", total, atLeast: bar),
        RemoteResult("bytes of the pull\(kind)", Double(pull.bytes) / 1_000_000, "MB"),
        RemoteResult("peak of memory, server", server.peakMegabytes, "MB", atMost: 200),
        RemoteResult("peak of memory, any process", peak, "MB", atMost: 200),
        RemoteResult("processor time, server", server.processorSeconds, "s"),
    ]
}

private func measureDevices(_ options: RemoteOptions) throws -> [RemoteResult] {
    let folder = try WorkFolder()
    let hub = try Hub(folder)
    let paths = try (0..<options.deviceCount).map { try hub.join("device-\($0)") }
    for path in paths { try Stores.insert(options.changeCount, into: path) }
    var results: [RemoteResult] = []
    for direction in [SyncDirection.push, .pull] {
        let child = try ChildProcess("devices", [direction.rawValue] + paths)
        let found = try child.next(Role.ManyExchanged.self)
        child.wait()
        let name = "\(direction.rawValue) by \(options.deviceCount) devices at a time"
        results += [
            RemoteResult(name, Double(found.rows) / found.seconds, "rows/s", found.seconds),
            RemoteResult("… median of a device", percentile(found.each, 0.5) * 1000, "ms"),
            RemoteResult("… 95th percentile", percentile(found.each, 0.95) * 1000, "ms"),
            RemoteResult("… processor time, devices", found.usage.processorSeconds, "s"),
        ]
    }
    let server = try hub.end()
    for path in [hub.path] + paths where try Stores.count(path) != paths.count * options.changeCount {
        throw BenchmarkError(description: "rows are missing in \(path)")
    }
    return results + [
        RemoteResult("processor time, server", server.processorSeconds, "s"),
        RemoteResult("peak of memory, server", server.peakMegabytes, "MB", atMost: 200),
    ]
}

/// When empty devices pull all rows.
private enum Turns {
    case never
    case oneAfterTheOther
    case atATime
}

private func measureShared(_ options: RemoteOptions) throws -> [RemoteResult] {
    let rowCount = (options.deviceCount - 1) * options.changeCount
    // What the server does for the devices besides is in all three.
    let idle = try serverSeconds(options, rowCount, .never)
    let pulls = try [Turns.oneAfterTheOther, .atATime].map { turns in
        let seconds = try serverSeconds(options, rowCount, turns) - idle
        return seconds / Double(options.deviceCount * rowCount)
    }
    return [
        RemoteResult(
            "server, a row of \(options.deviceCount) devices, one after the other", pulls[0] * 1e6, "µs"),
        RemoteResult("… of devices at a time", pulls[1] * 1e6, "µs"),
        RemoteResult("… as a part of that", pulls[1] / pulls[0] * 100, "%", atMost: 50),
    ]
}

/// The processor time of a server whose devices, which know nothing, pull as many rows each.
private func serverSeconds(_ options: RemoteOptions, _ rowCount: Int, _ turns: Turns) throws -> Double {
    let folder = try WorkFolder()
    let hub = try Hub(folder)
    let from = try hub.join("from")
    try Stores.insert(rowCount, into: from)
    // The devices join while there is nothing that a snapshot could bring them.
    let paths = try (0..<options.deviceCount).map { try hub.join("device-\($0)") }
    _ = try exchange(.push, from, .automatic)
    switch turns {
    case .never: return try hub.end().processorSeconds
    case .oneAfterTheOther: for path in paths { _ = try exchange(.pull, path, .automatic) }
    case .atATime:
        let child = try ChildProcess("devices", [SyncDirection.pull.rawValue] + paths)
        _ = try child.next(Role.ManyExchanged.self)
        child.wait()
    }
    let server = try hub.end()
    for path in paths where try Stores.count(path) != rowCount {
        throw BenchmarkError(description: "rows are missing in \(path)")
    }
    return server.processorSeconds
}

private func measureLive(_ options: RemoteOptions) throws -> [RemoteResult] {
    let folder = try WorkFolder()
    let hub = try Hub(folder)
    let (from, to) = (try hub.join("from"), try hub.join("to"))
    let found = try latencies(options.commitCount, from: from, .commit, to: to, .watch)
    _ = try hub.end()
    return latencyResults("a commit at another device", found, atMost: 100)
}

/// Has one process commit rows, and another one tell how long they took to arrive, in seconds.
func latencies(
    _ count: Int, from: String, _ commit: Role, to: String, _ watch: Role
) throws -> [Double] {
    let watching = try ChildProcess(watch.rawValue, [to])
    _ = try watching.next(Role.Connected.self)
    let committing = try ChildProcess(commit.rawValue, [from, String(count)])
    _ = try committing.next(Role.Connected.self)
    Thread.sleep(forTimeInterval: 1)
    try watching.end()
    let latencies = try watching.next(Role.Arrived.self).latencies
    try committing.end()
    committing.wait()
    watching.wait()
    guard latencies.count == count else {
        throw BenchmarkError(description: "\(latencies.count) of \(count) commits arrived")
    }
    return latencies
}

func latencyResults(_ name: String, _ latencies: [Double], atMost bar: Double) -> [RemoteResult] {
    [
        RemoteResult("\(name), median", percentile(latencies, 0.5) * 1000, "ms"),
        RemoteResult("… 95th percentile", percentile(latencies, 0.95) * 1000, "ms", atMost: bar),
        RemoteResult("… longest", (latencies.max() ?? 0) * 1000, "ms"),
    ]
}

func percentile(_ values: [Double], _ fraction: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int((Double(sorted.count) * fraction).rounded(.up)) - 1)]
}
