import CipherStore
import Foundation
import SyncWire

/// What a replica says about its files in a folder. Encrypted, like all of them.
struct FolderHead: Codable, Equatable {
    /// A file of the replica's subfolder.
    struct File: Codable, Equatable {
        let name: String
        /// What a receiver has to know already: sequences by replica.
        let base: [String: Int64]
        /// What it knows afterwards.
        let target: [String: Int64]
        let byteCount: Int

        var baseVector: VersionVector { FolderHead.decode(base) }
        var targetVector: VersionVector { FolderHead.decode(target) }
    }

    /// A point of the replica's chain.
    struct Point: Codable, Equatable {
        let sequence: Int64
        let previous: Int64
        let hash: String
    }

    static let version = 1
    static let kind = SealedFileKind(rawValue: 2)
    /// More than any head takes: one of 64 bundles and 1,000 replicas has 6 MB.
    static let byteCountMax = 16 << 20

    var format = Self.version
    private let storeID: String
    private let replicaID: String
    /// Grows with each head that the replica writes.
    var generation: Int64 = 0
    /// What the replica knows.
    var vector: [String: Int64]
    /// Its bundles, oldest first.
    var bundles: [File] = []
    /// A snapshot of its file.
    var snapshot: File?
    /// Bundles of others that are complete by their size and could not be read, as paths in the folder.
    var unreadable: [String] = []
    /// Points of the replica's chain, newest first: they show two files that go on under its identity. Heads of programs
    /// from before have none.
    private var chain: [Point]?

    /// When it was written, which its file says.
    private(set) var writtenMilliseconds: Int64 = 0

    private enum CodingKeys: String, CodingKey {
        case format, storeID, replicaID, generation, vector, bundles, snapshot, unreadable, chain
    }

    init(_ greeting: Greeting, vector: VersionVector? = nil) {
        storeID = greeting.store.description
        replicaID = greeting.replica.description
        self.vector = Self.encode(vector ?? greeting.vector)
    }

    var store: StoreID? { Identifier128(hexadecimal: storeID) }
    var replica: ReplicaID? { Identifier128(hexadecimal: replicaID) }

    /// The points of the replica's chain that it tells.
    var points: [ChainPoint] {
        get {
            (chain ?? []).prefix(WireLimits().chainPointCountMax).compactMap { point in
                guard let hash = Identifier128(hexadecimal: point.hash), point.previous >= 0,
                    point.previous < point.sequence, point.sequence <= AdmissionLimits.sequenceMax
                else { return nil }
                return ChainPoint(sequence: point.sequence, previous: point.previous, hash: hash)
            }.sorted { $0.sequence > $1.sequence }
        }
        set {
            chain = newValue.map {
                Point(sequence: $0.sequence, previous: $0.previous, hash: $0.hash.description)
            }
        }
    }

    static func encode(_ vector: VersionVector) -> [String: Int64] {
        Dictionary(vector.sequences.map { ($0.key.description, $0.value) }, uniquingKeysWith: max)
    }

    static func decode(_ vector: [String: Int64]) -> VersionVector {
        var result = VersionVector()
        for (text, sequence) in vector {
            guard let replica = Identifier128(hexadecimal: text) else { continue }
            result[replica] = min(sequence, AdmissionLimits.sequenceMax)
        }
        return result
    }

    /// Reads a head.
    ///
    /// - throws: ``StoreError`` for the file; ``SyncError`` of code `invalidBundle` for its content.
    static func read(_ file: MailboxPath, _ folder: MailboxTransport) throws -> FolderHead {
        let path = folder.place.location(of: file)
        let file = try SealedFileReader(
            folder.place.open(file), path: path, kind: kind, opening: folder.secret)
        guard file.byteCount <= byteCountMax else {
            throw SyncError(.invalidBundle, "\(path): longer than \(byteCountMax) bytes")
        }
        var data = Data()
        while let piece = try file.next() { data.append(piece) }
        do {
            var head = try JSONDecoder().decode(FolderHead.self, from: data)
            guard head.format == version else {
                throw SyncError(
                    .metadataTooNew,
                    "\(path): the folder has format \(head.format), and this program knows \(version)")
            }
            guard head.store != nil, head.replica != nil else {
                throw SyncError(.invalidBundle, "\(path): names no replica")
            }
            head.writtenMilliseconds = file.createdMilliseconds ?? 0
            return head
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError(.invalidBundle, "\(path): its content is not that of a head")
        }
    }

    /// Writes the head in the place of the one before.
    func write(_ file: MailboxPath, _ folder: MailboxTransport, store: StoreID, now: Int64) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(self)
        _ = try folder.place.write(file, replacing: true) { sink in
            let file = try SealedFileWriter(
                kind: Self.kind, lock: folder.lock(store),
                now: Date(timeIntervalSince1970: Double(now) / 1000), output: sink)
            try data.withUnsafeBytes { try file.write($0) }
            try file.end()
        }
    }
}

extension Identifier128 {
    /// Reads the 32 hexadecimal digits of ``description``.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

/// The names of a replica's files in a folder.
struct FolderPaths {
    static let headName = "head"
    static let bundleSuffix = ".bundle"
    static let snapshotSuffix = ".csa"

    let replica: ReplicaID

    init(_ replica: ReplicaID) { self.replica = replica }

    /// The subfolder of the replica.
    var folder: String { replica.description }

    func file(_ name: String) -> MailboxPath { MailboxPath(folder: folder, name: name) }

    /// A name that was never used before: bundles never change.
    static func bundleName(_ number: Int64, _ random: UInt64) -> String {
        digits(number) + "-" + hexadecimal(random) + bundleSuffix
    }

    static func snapshotName(_ milliseconds: Int64, _ random: UInt64) -> String {
        digits(milliseconds) + "-" + hexadecimal(random) + snapshotSuffix
    }

    /// The number in the name of a bundle; nil for other names, such as those that Dropbox and
    /// Syncthing give to conflicting copies, and for temporary ones.
    static func number(ofBundle name: String) -> Int64? {
        guard name.hasSuffix(bundleSuffix) else { return nil }
        return number(name.dropLast(bundleSuffix.count))
    }

    static func isSnapshot(_ name: String) -> Bool {
        name.hasSuffix(snapshotSuffix) && number(name.dropLast(snapshotSuffix.count)) != nil
    }

    private static func number(_ stem: Substring) -> Int64? {
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, parts[1].utf8.count == 16,
            parts[0].utf8.allSatisfy({ (48...57).contains($0) }), parts[1].allSatisfy(\.isHexDigit)
        else { return nil }
        return Int64(parts[0])
    }

    private static func digits(_ number: Int64) -> String {
        let text = String(max(0, number))
        return String(repeating: "0", count: max(0, 16 - text.count)) + text
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// Whether a name is that of a file that a writer did not finish, which a ``LocalFolder`` gives.
    static func isLeftover(_ name: String) -> Bool {
        let marks = [".sealed-", ".archive-"].compactMap { name.range(of: $0) }
        guard let mark = marks.first else { return false }
        let stem = String(name[..<mark.lowerBound])
        return (stem == headName || number(ofBundle: stem) != nil || isSnapshot(stem))
            && name[mark.upperBound...].prefix(1).allSatisfy(\.isHexDigit)
    }
}
