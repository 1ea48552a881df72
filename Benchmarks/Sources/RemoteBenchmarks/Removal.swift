import Foundation
import SyncEngine

/// The removal of one of many members, in a process of its own.
enum Removal {
    /// How many members are removed, one after the other.
    private static let removalCount = 5

    /// What was measured: processor times in seconds.
    struct Measured: Codable {
        /// How long all were invited, by the clock on the wall.
        let invitingSeconds: Double
        let lastInvitation: Double
        let reading: Double
        let removals: [Double]
        let statementByteCount: Int
        let usage: Usage
    }

    /// Founds members in a store, invites the others, and removes some.
    static func measure(_ path: String, _ count: Int) throws {
        let membership = try Synchronizer(existing: Stores.open(path)).membership
        let start = monotonicSeconds()
        _ = try membership.found(Membership.Name("member 0"))
        var invitation = 0.0
        for number in 1..<count {
            invitation = try processorSeconds {
                _ = try membership.invite(Membership.Name("member \(number)"), as: .writer)
            }
        }
        let invitingSeconds = monotonicSeconds() - start
        var bytes = 0
        let reading = try processorSeconds {
            bytes = try membership.state()?.statements.values.reduce(0) { $0 + $1.bytes.count } ?? 0
        }
        let others = try (membership.members() ?? []).filter { !$0.isOwn }
        guard others.count == count - 1 else {
            throw BenchmarkError(description: "\(others.count + 1) of \(count) members are there")
        }
        let removals = try others.prefix(removalCount).map { known in
            try processorSeconds { try membership.remove(known.member.id) }
        }
        try Role.say(
            Measured(
                invitingSeconds: invitingSeconds, lastInvitation: invitation, reading: reading,
                removals: removals, statementByteCount: bytes, usage: .now))
    }

    private static func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
        let before = Usage.now.processorSeconds
        try body()
        return Usage.now.processorSeconds - before
    }
}

/// The removal of one of many members: the statement, a new epoch, and its key for the devices of all who are left.
func measureRemoval(_ options: RemoteOptions) throws -> [RemoteResult] {
    let folder = try WorkFolder()
    let path = folder.file("members.db")
    try Stores.create(path)
    let child = try ChildProcess(Role.removal.rawValue, [path, String(options.memberCount)])
    let found = try child.next(Removal.Measured.self)
    child.wait()
    return [
        RemoteResult(
            "removal of one of \(options.memberCount) members", percentile(found.removals, 0.5) * 1000, "ms",
            atMost: 200),
        RemoteResult("… knowing what was said of them, once it was read", found.reading * 1000, "ms"),
        RemoteResult(
            "the last invitation, and the time of all", found.lastInvitation * 1000, "ms",
            found.invitingSeconds),
        RemoteResult("statements about members", Double(found.statementByteCount) / 1_000_000, "MB"),
        RemoteResult("peak of memory", found.usage.peakMegabytes, "MB"),
    ]
}
