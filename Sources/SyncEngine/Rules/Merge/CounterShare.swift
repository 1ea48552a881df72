import SyncWire

/// What one file has added to a counter of a row: its sum after each fold that changed it.
///
/// The sum alone would do if one file wrote under one identity. Where two did, a copy and its
/// original, the sums of both hold what was counted before the copy was made. What they were after
/// each fold tells how much that is: up to the last entry that both have, they are one.
///
/// As a value it is a blob: a 1, the identity under which it was counted, and the entries, oldest
/// first, each its sequence, its timestamp as a difference to the entry before (both `uint`), a
/// random number (4 bytes), and the sum (`int`).
struct CounterShare: Equatable {
    /// The sum after one fold.
    struct Entry: Hashable {
        let sequence: Int64
        let timestamp: Int64
        /// Tells folds of two files apart that have all else in common.
        let nonce: UInt32
        let sum: Int64
    }

    private static let version: UInt8 = 1
    /// So many entries are kept at most. Of the older ones every second goes then.
    static let entryCountMax = 64
    private static let decodedEntryCountMax = 1024

    /// The identity under which the file counted.
    let origin: ReplicaID
    private(set) var entries: [Entry]

    init(origin: ReplicaID, entries: [Entry] = []) {
        self.origin = origin
        self.entries = entries
    }

    /// - returns: nil for a value that is no share with entries.
    init?(_ value: WireValue?) {
        guard case .blob(let bytes)? = value, let share = try? Self.decode(bytes) else { return nil }
        self = share
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) throws -> CounterShare? {
        var reader = WireReader(bytes)
        guard try reader.byte() == version else { return nil }
        var share = CounterShare(origin: try reader.identifier())
        var timestamp: Int64 = 0
        while !reader.isAtEnd {
            let sequence = Int64(truncatingIfNeeded: try reader.unsigned())
            timestamp &+= Int64(truncatingIfNeeded: try reader.unsigned())
            let nonce = try reader.fixed32()
            guard share.entries.count < decodedEntryCountMax else { return nil }
            share.entries.append(
                Entry(sequence: sequence, timestamp: timestamp, nonce: nonce, sum: try reader.signed()))
        }
        return share.entries.isEmpty ? nil : share
    }

    /// The value.
    var bytes: [UInt8] {
        assert(!entries.isEmpty, "a share without entries is no value")
        var writer = WireWriter(capacity: 64)
        writer.byte(Self.version)
        writer.raw(origin.bytes)
        var timestamp: Int64 = 0
        for entry in entries {
            writer.unsigned(UInt64(bitPattern: entry.sequence))
            writer.unsigned(UInt64(bitPattern: entry.timestamp &- timestamp))
            writer.fixed32(entry.nonce)
            writer.signed(entry.sum)
            timestamp = entry.timestamp
        }
        return Array(writer.bytes)
    }

    /// The last entry, to be compared.
    fileprivate var end: (Int64, Int64, UInt32) {
        (entries.last?.timestamp ?? 0, entries.last?.sequence ?? 0, entries.last?.nonce ?? 0)
    }

    /// What was added.
    var sum: Int64 { entries.last?.sum ?? 0 }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        defer { assert(entries.last == entry, "what is thinned out is older") }
        guard entries.count > Self.entryCountMax else { return }
        let old = Self.entryCountMax / 2
        entries = entries[..<old].enumerated().filter { $0.offset % 2 == 1 }.map(\.element) + entries[old...]
    }

    /// What it was at a change of its replica; nil when nothing was added until then.
    ///
    /// The last entry becomes the stamp of a cell, and whoever sent the share may have written anything into it: entries that no
    /// stamp can be are left out. In a total they count still, as everywhere.
    func upTo(_ sequence: Int64) -> CounterShare? {
        let kept = entries.filter {
            $0.sequence >= 1 && $0.sequence <= sequence
                && $0.timestamp >= 0 && $0.timestamp <= AdmissionLimits.timestampMax
        }
        return kept.isEmpty ? nil : CounterShare(origin: origin, entries: kept)
    }

    /// The owner of the column to which a replica moves what was counted under a forked identity.
    static func branch(of origin: ReplicaID, by replica: ReplicaID) -> ReplicaID {
        var hash = ChainHash(after: origin)
        hash.add(replica.bytes)
        return hash.value
    }
}

/// Adds up shares so that what is in several of them counts once.
struct CounterTotal {
    private var seen: [ReplicaID: Set<CounterShare.Entry>] = [:]
    private(set) var sum: Int64 = 0

    /// Takes a share in: a number of an older program, or one with entries. What is neither adds nothing.
    ///
    /// - returns: What it added to the total.
    @discardableResult
    mutating func add(_ value: WireValue?) -> Int64 {
        if case .integer(let number)? = value {
            sum &+= number
            return number
        }
        return CounterShare(value).map { add($0) } ?? 0
    }

    /// Takes several shares in. Their order is their own, so that the total is the same everywhere, also
    /// where entries are missing.
    mutating func add(_ values: [WireValue?]) {
        var shares: [CounterShare] = []
        for value in values {
            if let share = CounterShare(value) { shares.append(share) } else { add(value) }
        }
        if shares.count > 1 { shares.sort { $0.end < $1.end } }
        for share in shares { add(share) }
    }

    @discardableResult
    private mutating func add(_ share: CounterShare) -> Int64 {
        let known = seen[share.origin] ?? []
        let common = share.entries.last { known.contains($0) }
        let added = share.sum &- (common?.sum ?? 0)
        seen[share.origin] = known.union(share.entries)
        sum &+= added
        return added
    }
}

extension MergePlan.Conflict {
    /// The same with another value.
    func losing(_ value: WireValue) -> MergePlan.Conflict {
        .init(column: column, lost: value, lostStamp: lostStamp, winner: winner, reason: reason)
    }
}
