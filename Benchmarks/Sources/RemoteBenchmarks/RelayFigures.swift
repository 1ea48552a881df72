import Foundation
import SyncEngine

/// Many rows through a relay, in a channel without members and in one with an admin and a member.
func measureRelayTransfer(_ options: RemoteOptions) throws -> [RemoteResult] {
    try [false, true].flatMap { try measureRelayTransfer(options, hasMembers: $0) }
}

private func measureRelayTransfer(
    _ options: RemoteOptions, hasMembers: Bool
) throws -> [RemoteResult] {
    let folder = try WorkFolder()
    let hub = try RelayHub(folder, hasMembers: hasMembers)
    // It joins while there is nothing that a snapshot could bring it.
    let to = try hub.join("to")
    try Stores.insert(options.rowCount, into: hub.path)
    let before = try hub.usage()
    let push = try relayExchange(.push, hub.path)
    let pull = try relayExchange(.pull, to)
    let byteCount = try hub.byteCount()
    let relay = try hub.end()
    guard try Stores.count(to) == options.rowCount else {
        throw BenchmarkError(description: "rows are missing in \(to)")
    }
    let rows = Double(options.rowCount)
    let total = push.seconds + pull.seconds
    let kind = hasMembers ? ", members" : ""
    let seconds = relay.processorSeconds - before.processorSeconds
    return [
        RemoteResult("push of new rows to a relay\(kind)", rows / push.seconds, "rows/s", push.seconds),
        RemoteResult("pull of them from it\(kind)", rows / pull.seconds, "rows/s", pull.seconds),
        RemoteResult("both, end to end\(kind)", rows / total, "rows/s", total, atLeast: 60_000),
        RemoteResult("peak of memory, push\(kind)", push.usage.peakMegabytes, "MB", atMost: 200),
        RemoteResult("peak of memory, pull\(kind)", pull.usage.peakMegabytes, "MB", atMost: 200),
        RemoteResult("peak of memory, relay\(kind)", relay.peakMegabytes, "MB", atMost: 200),
        RemoteResult("processor time, push\(kind)", push.usage.processorSeconds, "s"),
        RemoteResult("processor time, pull\(kind)", pull.usage.processorSeconds, "s"),
        RemoteResult("processor time, relay\(kind)", seconds, "s"),
        RemoteResult("bytes of the pull\(kind)", Double(pull.bytes) / 1_000_000, "MB"),
        RemoteResult("bytes on the relay's disk\(kind)", Double(byteCount) / 1_000_000, "MB"),
    ]
}

/// Synchronizes a store through its relay, in a process of its own.
private func relayExchange(_ direction: SyncDirection, _ path: String) throws -> Role.Exchanged {
    let child = try ChildProcess(Role.relayExchange.rawValue, [direction.rawValue, path])
    let result = try child.next(Role.Exchanged.self)
    child.wait()
    return result
}

/// Commits of one device through a relay to another one, which watches.
func measureRelayLive(_ options: RemoteOptions) throws -> [RemoteResult] {
    let folder = try WorkFolder()
    let hub = try RelayHub(folder)
    let to = try hub.join("to")
    let found = try latencies(options.commitCount, from: hub.path, .relayCommit, to: to, .relayWatch)
    let relay = try hub.end()
    return latencyResults("a commit through a relay", found, atMost: 150) + [
        RemoteResult("processor time, relay", relay.processorSeconds, "s")
    ]
}

/// A relay of which many devices wait to be told of changes.
func measureRelayWatches(_ options: RemoteOptions) throws -> [RemoteResult] {
    // Those that it starts get the same bound.
    OpenFiles.allowMany()
    let folder = try WorkFolder()
    let hub = try RelayHub(folder)
    _ = try hub.join("to")
    let before = try hub.usage()
    let watching = try ChildProcess(
        Role.relayWatches.rawValue, [hub.path, String(options.watchCount)])
    _ = try watching.next(Role.Connected.self)
    let open = try hub.usage()
    try watching.end()
    watching.wait()
    _ = try hub.end()
    let count = Double(options.watchCount)
    let (megabytes, seconds) = (
        open.peakMegabytes - before.peakMegabytes, open.processorSeconds - before.processorSeconds
    )
    return [
        RemoteResult(
            "memory of a relay, \(options.watchCount) watches", open.peakMegabytes, "MB", atMost: 150),
        RemoteResult("… before them", before.peakMegabytes, "MB"),
        RemoteResult("… for each of them", megabytes * 1024 / count, "KB"),
        RemoteResult("processor time to open one", seconds * 1000 / count, "ms"),
    ]
}

/// How many files a process may have open.
private enum OpenFiles {
    /// Each connection is one, and the usual bound is 1,024.
    static func allowMany() {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(resource, &limit)
    }
}
