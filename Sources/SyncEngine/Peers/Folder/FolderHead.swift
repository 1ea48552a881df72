import CipherStore
import Foundation
import SyncMembers
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
        /// The SHA-256 of the file, in a store with members.
        var sha256: String?

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
    /// The version of a head that a device has signed.
    static let signedVersion = 2
    static let kind = SealedFileKind(rawValue: 2)
    /// The most bundles of others that it complains about.
    static let complaintCountMax = 1000
    /// The most statements about members that it names.
    static let statementCountMax = 256
    /// More than any head takes: before it has as many, its bundles are replaced by one of everything.
    static let byteCountMax = 16 << 20

    private(set) var format = Self.version
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
    /// Bundles of others that it can't take in, because two files made changes under one number. Heads of programs from
    /// before have none.
    private var forked: [String]?
    /// The hashes of the chains of others, at what ``vector`` says of them, by their ids. Heads of programs from before have
    /// none.
    private var tops: [String: String]?
    /// Points of the replica's chain, newest first: they show two files that go on under its identity. Heads of programs
    /// from before have none.
    private var chain: [Point]?
    /// The device that has signed the head, in a store with members.
    private var device: String?
    /// The statements about members that the replica knows and no other one rests upon, in a store with members.
    private var statements: [String]?
    /// What heads of others show of statements that the replica finds nowhere: their names, and salts of epochs.
    private var lacking: [String]?

    /// What was signed, and the signature, of a head that was read.
    struct Signed: Equatable {
        let content: Data
        let signature: [UInt8]
    }

    private(set) var signed: Signed?
    /// The salt of the file that it was read from, which tells the epoch.
    private(set) var salt: [UInt8]?

    /// When it was written, which its file says.
    private(set) var writtenMilliseconds: Int64 = 0

    private enum CodingKeys: String, CodingKey {
        case format, storeID, replicaID, generation, vector, bundles, snapshot, unreadable, forked, tops,
            chain, device, statements, lacking
    }

    init(_ greeting: Greeting, vector: VersionVector? = nil) {
        storeID = greeting.store.description
        replicaID = greeting.replica.description
        self.vector = Self.encode(vector ?? greeting.vector)
    }

    var store: StoreID? { Identifier128(hexadecimal: storeID) }
    var replica: ReplicaID? { Identifier128(hexadecimal: replicaID) }

    /// The device that has signed it.
    var deviceID: DeviceID? { device.flatMap { Identifier128(hexadecimal: $0) } }

    /// Says which device will sign it; nil for none.
    mutating func prepare(for device: DeviceID?) {
        self.device = device?.description
        format = device == nil ? Self.version : Self.signedVersion
    }

    /// The bundles of others that it can't take in, because two files made changes under one number, as paths in the folder.
    /// Who has their changes tells them again.
    var untaken: Set<String> {
        get { Set(forked ?? []) }
        set { forked = newValue.isEmpty ? nil : Array(newValue.sorted().prefix(Self.complaintCountMax)) }
    }

    /// The most bytes that it takes with one more bundle, after which the replica knows as much as a vector.
    func byteCount(withOneTo target: VersionVector) -> Int {
        let files = bundles + (snapshot.map { [$0] } ?? [])
        let listed = files.reduce(2 * target.sequences.count) { $0 + $1.base.count + $1.target.count }
        // An identifier and a sequence; of what the head itself knows, the hash of the chain besides.
        return listed * 56 + target.sequences.count * 128 + (chain?.count ?? 0) * 128
            + (files.count + 1) * 256
    }

    /// Says what the replica knows, with what shows whether others mean the same by it.
    mutating func tell(_ vector: VersionVector, _ chains: [ReplicaID: [ChainPoint]]) {
        self.vector = Self.encode(vector)
        let known = chains.filter { $0.key != replica && $0.value.first?.sequence == vector[$0.key] }
        let hashes = known.compactMap { id, points in
            points.first.map { (id.description, $0.hash.description) }
        }
        tops = hashes.isEmpty ? nil : Dictionary(hashes, uniquingKeysWith: { one, _ in one })
    }

    /// Says which statements about members the replica knows, and what it misses.
    mutating func tell(statements: [StatementID], lacking: [String]) {
        self.statements = statements.prefix(Self.statementCountMax).map(\.description)
        self.lacking = lacking.isEmpty ? nil : Array(lacking.prefix(Self.statementCountMax))
    }

    /// The statements about members that the replica knows and no other one rests upon.
    var knownStatements: [StatementID] {
        (statements ?? []).prefix(Self.statementCountMax).compactMap { StatementID(hexadecimal: $0) }
    }

    /// What the replica misses: names of statements, and salts of epochs.
    var lackedNames: ArraySlice<String> { (lacking ?? []).prefix(Self.statementCountMax) }

    /// Takes over what another head says that its replica knows.
    mutating func know(as other: FolderHead) {
        (vector, tops, statements) = (other.vector, other.tops, other.statements)
    }

    /// The last points of chains of which the replica knows as much as another one, and something else.
    func lastPoints(
        unlike other: FolderHead
    ) -> [(replica: ReplicaID, sequence: Int64, hash: Identifier128)] {
        (tops ?? [:]).compactMap { id, hash in
            // Most are equal, and there may be a million of them.
            guard let known = other.tops?[id], known != hash, let sequence = vector[id],
                sequence == other.vector[id], sequence > 0,
                let replica = ReplicaID(hexadecimal: id), let hash = Identifier128(hexadecimal: hash)
            else { return nil }
            return (replica, sequence, hash)
        }
    }

    /// The last point of another replica's chain that the replica knows; nil where the head does not tell it.
    func lastPoint(of other: ReplicaID) -> (sequence: Int64, hash: Identifier128)? {
        let id = other.description
        guard let hash = tops?[id].flatMap({ Identifier128(hexadecimal: $0) }), let sequence = vector[id],
            sequence > 0, sequence <= AdmissionLimits.sequenceMax
        else { return nil }
        return (sequence, hash)
    }

    /// Notes what its file says.
    mutating func note(writtenMilliseconds: Int64, signed: Signed?, salt: [UInt8]?) {
        (self.writtenMilliseconds, self.signed, self.salt) = (writtenMilliseconds, signed, salt)
    }

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
