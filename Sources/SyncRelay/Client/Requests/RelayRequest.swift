import Foundation
import SyncBucket

/// A request to a relay.
struct RelayRequest {
    /// What is counted as one kind.
    enum Kind: String, CaseIterable, Sendable {
        case channel, list, get, put, remove, invitation, watch
    }

    /// What is sent along.
    enum Body {
        case none
        case document(Data)
        case file(Spool)
    }

    var kind: Kind
    var method: String
    /// Begins with a slash, and is encoded.
    var path: String
    /// What proves that one may; nil for what everybody may.
    var token: RelayToken?
    var headers: [(name: String, value: String)] = []
    var body = Body.none
    /// The longest answer.
    var answerByteCountMax = 64 << 10
    /// The statuses, beside those of success, that the caller makes sense of.
    var accepted: Set<Int> = []

    /// The least speed that a transfer is given time for.
    private static let bytesPerSecond: Int64 = 16 << 10

    /// What is sent along, on its way; nil when it is nothing.
    var sent: RequestBody? {
        switch body {
        case .none: nil
        case .document(let data): RequestBody(data)
        case .file(let spool): RequestBody(spool)
        }
    }

    /// How long it may take in all, in seconds.
    var seconds: Int64 {
        let byteCount =
            switch body {
            case .none: 0
            case .document(let data): data.count
            case .file(let spool): spool.byteCount
            }
        return 60 + Int64(byteCount + answerByteCountMax) / Self.bytesPerSecond
    }
}

/// What came back.
struct RelayAnswer: Sendable {
    let status: Int
    /// By names in lower case; of several of one name the first.
    private let headers: [String: String]
    let body: Data

    init(status: Int, headers: [(name: String, value: String)], body: Data) {
        self.status = status
        self.headers = Dictionary(
            headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        self.body = body
    }

    func header(_ name: String) -> String? { headers[name] }

    /// The position that names a version of a file; nil where there is none.
    var version: RelayPosition? {
        guard let tag = header("etag"), tag.count >= 3, tag.hasPrefix("\""), tag.hasSuffix("\"") else {
            return nil
        }
        return RelayPosition(tag.dropFirst().dropLast()).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The document.
    ///
    /// - throws: ``RelayError`` of code `failed` for what is none.
    func document<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try RelayJSON.decode(type, from: Array(body))
        } catch {
            throw RelayError(.failed, "the relay answers what can't be right: is it a relay?")
        }
    }
}

/// What sends requests. It repeats none.
protocol RelayCarrier: Sendable {
    /// Sends a request, and waits for the whole answer.
    ///
    /// - parameter check: Called several times a second while it waits; an error that it throws ends the request.
    /// - throws: ``RelayCarrierFailure``; ``RelayError`` of code `wrongCertificate`; what `check` throws.
    func send(_ request: RelayRequest, check: () throws -> Void) throws -> RelayAnswer
}

/// Why no answer came, in words without a final period. The request may have been carried out.
struct RelayCarrierFailure: Error {
    let reason: String
    /// Whether another attempt may bring one.
    var mayPass = true
}
