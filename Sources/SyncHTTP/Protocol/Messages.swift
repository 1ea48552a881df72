import Crypto
import SyncEngine
import SyncWire

/// The JSON documents of the protocol; `Schemas/openapi.yaml` describes them.
enum Message {
    /// The version of the protocol.
    static let version = 1

    /// The codec of chunks that this program writes and reads besides plain ones.
    static let codec = "deflate"

    struct Hello: Codable {
        let versions: [Int]
        let software: String
    }

    struct Challenge: Codable {
        let challenge: String
    }

    struct EnrolmentRequest: Codable {
        let invite: String
        let key: String
        let challenge: String
        let signature: String
    }

    struct Enrolment: Codable {
        let label: String
        let readOnly: Bool
        /// What the device may exchange; nothing when that is everything.
        let scope: Scope?

        init(_ device: Device) {
            (label, readOnly, scope) = (device.label, device.isReadOnly, device.names.map(Scope.init))
        }
    }

    struct SessionRequest: Codable {
        let key: String
        let challenge: String
        let signature: String
    }

    struct Session: Codable {
        let session: String
        let label: String
        let readOnly: Bool
        let scope: Scope?
        /// The codecs of chunks that the server reads; nothing for plain ones alone.
        let codecs: [String]?
    }

    struct Forks: Codable {
        struct Item: Codable {
            let replica: String
            let common: Int64
        }

        let forks: [Item]

        init(_ forks: [Fork]) {
            self.forks = forks.map { Item(replica: $0.replica.description, common: $0.common) }
        }

        init(items: [Item]) { forks = items }

        func values() throws -> [Fork] {
            try forks.map { Fork(replica: try Message.identifier($0.replica), common: max(0, $0.common)) }
        }
    }

    /// That a replica is to get a new identity.
    struct Renewal: Codable {
        /// Random, and the same when the request is repeated. Older programs send none through a pipe, where nothing is
        /// repeated.
        let request: String?
        let forks: [Forks.Item]
    }

    /// What a replica knows.
    struct Knowledge: Codable {
        /// The replica. A server goes by the device that signed the request; older programs send it through pipes only.
        let replica: String?
        let vector: [String: Int64]

        init(_ replica: ReplicaID, _ vector: VersionVector) {
            self.replica = replica.description
            self.vector = Vector(vector).vector
        }

        func known() throws -> VersionVector { try Vector(entries: vector).value() }
    }

    struct StateRequest: Codable {
        let kind: String

        init(_ kind: StateKind) {
            switch kind {
            case .kept: self.kind = "kept"
            case .recomputed: self.kind = "recomputed"
            }
        }

        func value() throws -> StateKind {
            switch kind {
            case "kept": return .kept
            case "recomputed": return .recomputed
            default: throw RemoteError(.malformed, "digests are kept or recomputed")
            }
        }
    }

    struct Vector: Codable {
        let vector: [String: Int64]

        init(entries: [String: Int64]) { vector = entries }

        init(_ vector: VersionVector) {
            self.vector = Dictionary(
                vector.sequences.map { ($0.key.description, $0.value) }, uniquingKeysWith: max)
        }

        func value() throws -> VersionVector {
            var result = VersionVector()
            for (replica, sequence) in vector {
                guard sequence > 0 else { throw RemoteError(.malformed, "a sequence is not positive") }
                result[try Message.identifier(replica)] = sequence
            }
            return result
        }
    }

    /// How tables are made.
    struct Definitions: Codable {
        let tables: [SharedTable]
    }

    struct SnapshotRequest: Codable {
        let recipient: String
    }

    struct Download: Codable {
        var download: String
        /// How many bytes it has; about how many, while it is still being made.
        let byteCount: Int64
        let rowCount: Int64
        /// All of it in base64, when it is small: then nothing waits to be fetched.
        var content: String?
        /// Whether it is still being made: then it ends with the first answer that has no bytes.
        var isOpen: Bool?

        /// - throws: ``RemoteError`` of code `malformed` for numbers that count nothing.
        func checkCounts() throws {
            for count in [byteCount, rowCount] { try Message.check(count: count) }
        }
    }

    struct Upload: Codable {
        let bundle: String
        let firstMissingChunk: UInt32
        let isComplete: Bool
        /// All that the bundle brings is known to the server: it needs not be sent.
        let isKnown: Bool
        /// What its application did, when that was asked for and all of it was in the request.
        var application: Application?
    }

    struct Application: Codable {
        let rowCount: Int64
        let conflictCount: Int64
        /// Older servers don't tell it.
        let sharedConflictCount: Int64?
        let parkedCount: Int64
        let unparkedCount: Int64
        let skewMilliseconds: Int64

        init(_ summary: ApplySummary) {
            rowCount = summary.rowCount
            conflictCount = summary.conflictCount
            sharedConflictCount = summary.sharedConflictCount
            parkedCount = summary.parkedCount
            unparkedCount = summary.unparkedCount
            skewMilliseconds = summary.skewMilliseconds
        }

        /// - throws: ``RemoteError`` of code `malformed` for numbers that count nothing.
        func summary() throws -> ApplySummary {
            let counts = [rowCount, conflictCount, sharedConflictCount ?? 0, parkedCount, unparkedCount]
            for count in counts + [skewMilliseconds] { try Message.check(count: count) }
            var summary = ApplySummary()
            summary.rowCount = rowCount
            summary.conflictCount = conflictCount
            summary.sharedConflictCount = sharedConflictCount ?? 0
            summary.parkedCount = parkedCount
            summary.unparkedCount = unparkedCount
            summary.skewMilliseconds = skewMilliseconds
            return summary
        }
    }

    /// A failure, as RFC 9457 has it.
    struct Problem: Codable, Equatable {
        let type: String
        let title: String
        let status: Int
        let detail: String
        /// The rows that are not taken from a device, as in a request for repairs, in Base64.
        var rows: String?
    }

    /// The most that anything is counted to: a `Double` holds it, and sums of such numbers have room.
    static let countMax: Int64 = 1 << 53

    /// Throws for a number of the other side's that counts nothing: it would end this process when it is reckoned with.
    static func check(count: Int64) throws {
        guard (0...countMax).contains(count) else {
            throw RemoteError(.malformed, "\(count) is no number of anything")
        }
    }

    static func identifier(_ text: String) throws -> Identifier128 {
        guard let bytes = ByteText.bytes(hex: text),
            let value = bytes.withUnsafeBytes({ Identifier128(bytes: $0) })
        else { throw RemoteError(.malformed, "\(text.prefix(40).debugDescription) is no identifier") }
        return value
    }

    static func bytes(_ text: String, count: Int, _ what: String) throws -> [UInt8] {
        guard let bytes = ByteText.bytes(base64: text), bytes.count == count else {
            throw RemoteError(.malformed, "\(what) has not \(count) bytes")
        }
        return bytes
    }
}

extension Message.Renewal {
    /// A request that has not been made before.
    init(_ forks: [Fork]) {
        request = ByteText.hex(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        self.forks = Message.Forks(forks).forks
    }
}
