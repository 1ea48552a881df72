/// What the relay's page shows, as `Schemas/relay/page-v1.md` has it. Times are milliseconds of Unix time.
///
/// There is nothing in it that tells channels, files or clients apart, and its size has a bound whatever clients do.
struct RelayPageDocument: Encodable, Sendable {
    /// The version of its form.
    static let version = 1
    /// The most bytes of a document.
    static let byteCountMax = 64 << 10

    struct Relay: Encodable, Sendable {
        /// The version of the program.
        let version: String?
        let started: Int64
        let upSeconds: Int64
        /// Whether a token is needed to make a channel.
        let needsAdmission: Bool
    }

    struct Storage: Encodable, Sendable {
        /// What kind it is; not where it lies.
        let kind: String
        let channelsMax: Int64?
        let channelFilesMax: Int64?
        let channelBytesMax: Int64?
        /// Nothing when the storage can't be used.
        let holds: Holdings?
    }

    struct Holdings: Encodable, Sendable {
        let channels: Int64
        let files: Int64
        /// The bytes of all files.
        let fileBytes: Int64
        /// The bytes on the disk.
        let diskBytes: Int64

        init(_ figures: RelayStorageFigures) {
            channels = figures.channelCount
            files = figures.fileCount
            fileBytes = figures.byteCount
            diskBytes = figures.storageByteCount
        }
    }

    struct Certificate: Encodable, Sendable {
        /// The SHA-256 of it.
        let fingerprint: String
        /// Whether clients know it by its fingerprint, and not by an authority.
        let isPinned: Bool
        /// Nothing when it is valid at all times.
        let from: Int64?
        let until: Int64?
    }

    /// How much there is of what has a bound.
    struct Load: Encodable, Sendable {
        let count: Int
        let max: Int
    }

    struct Loads: Encodable, Sendable {
        let connections: Load
        let watches: Load
        /// Bytes of requests in memory.
        let memory: Load
    }

    struct Answer: Encodable, Sendable {
        let status: Int
        let count: Int64
    }

    /// What became of the requests of a kind.
    struct Requests: Encodable, Sendable {
        let kind: String
        /// How long an answer took to begin, on average.
        let microseconds: Int64
        let answers: [Answer]
    }

    let version = RelayPageDocument.version
    let now: Int64
    let relay: Relay
    let storage: Storage
    /// Nothing without TLS.
    let certificate: Certificate?
    let loads: Loads
    let requests: [Requests]
    let traffic: [RelayTraffic.Series]

    private enum CodingKeys: String, CodingKey {
        case version, now, relay, storage, certificate, loads, requests, traffic
    }
}
