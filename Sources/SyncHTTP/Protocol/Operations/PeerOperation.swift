import SyncWire

/// Something that a replica in another process is asked for: where, and the one way in which the question and its
/// answer are written.
struct PeerOperation<Request, Answer>: ServedOperation {
    let address: OperationAddress
    let request: OperationCoding<Request>
    let answer: OperationCoding<Answer>
    /// Carries it out where it is asked for.
    let perform: @Sendable (any ServedPeer, Request) throws -> Answer

    init(
        _ address: OperationAddress, _ request: OperationCoding<Request>, _ answer: OperationCoding<Answer>,
        _ perform: @escaping @Sendable (any ServedPeer, Request) throws -> Answer
    ) {
        (self.address, self.request, self.answer, self.perform) = (address, request, answer, perform)
    }

    var isDocument: Bool { answer.isDocument }

    func answer(_ body: [UInt8], by peer: any ServedPeer) throws -> [UInt8] {
        try answer.encode(perform(peer, request.decode(body)))
    }
}

/// An operation, whatever its types are, for those who answer.
protocol ServedOperation: Sendable {
    var address: OperationAddress { get }
    /// Whether the answer is a JSON document.
    var isDocument: Bool { get }

    /// Reads a request, carries it out, and writes the answer.
    func answer(_ body: [UInt8], by peer: any ServedPeer) throws -> [UInt8]
}

/// Where an operation is asked for.
struct OperationAddress: Sendable {
    enum Method: String {
        case get = "GET"
        case post = "POST"
    }

    /// What the message of a pipe is.
    let kind: PipeKind
    /// The method of an HTTP request.
    let method: Method
    /// The last part of an HTTP request's path.
    let path: String
    /// The most bytes of a request.
    let byteCountMax: Int

    init(_ kind: PipeKind, _ method: Method, _ path: String, upTo byteCountMax: Int = 0) {
        (self.kind, self.method, self.path, self.byteCountMax) = (kind, method, path, byteCountMax)
    }

    /// The most bytes of a document.
    static let documentByteCountMax = 4 << 20
    /// The most bytes of a frame, and of what lists the names of tables and columns as a greeting does: the content has up to
    /// 16 MiB.
    static let frameByteCountMax = 17 << 20
}

/// How a request or an answer is written.
struct OperationCoding<Value>: Sendable {
    let isDocument: Bool
    let encode: @Sendable (Value) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> Value

    /// A JSON document that stands for a value.
    static func document<Document: Codable & SendableMetatype>(
        _ document: @escaping @Sendable (Value) throws -> Document,
        _ value: @escaping @Sendable (Document) throws -> Value
    ) -> Self {
        Self(isDocument: true) {
            try JSONDocument.encode(document($0))
        } decode: {
            try value(JSONDocument.decode(Document.self, from: $0))
        }
    }

    /// Bytes that stand for a value.
    static func bytes(
        _ bytes: @escaping @Sendable (Value) throws -> [UInt8],
        _ value: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Value
    ) -> Self {
        Self(isDocument: false, encode: bytes) { try $0.withUnsafeBytes(value) }
    }
}

extension OperationCoding where Value: Codable & SendableMetatype {
    /// A JSON document.
    static var document: Self { document({ $0 }, { $0 }) }
}

extension OperationCoding where Value == Void {
    /// Nothing is said.
    static var nothing: Self {
        // What follows an empty question is not read by older programs either.
        Self(isDocument: false) {
            []
        } decode: { _ in
        }
    }
}
