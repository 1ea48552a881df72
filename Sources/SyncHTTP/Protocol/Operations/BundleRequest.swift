import SyncEngine
import SyncWire

/// What a bundle is asked for, and how that is written.
enum BundleRequest: Equatable, Sendable {
    /// What a replica does not know.
    case changes(TransferRequest)
    /// All of some rows, which repair a divergence.
    case rows([StateRows])

    private static let changesAddress = OperationAddress(
        .changes, .post, "downloads", upTo: OperationAddress.frameByteCountMax)
    private static let rowsAddress = OperationAddress(
        .rows, .post, "repairs", upTo: OperationAddress.frameByteCountMax)

    /// The most bytes of a request that is sent to a path.
    static func byteCountMax(of path: String) -> Int {
        [rowsAddress, changesAddress].first { $0.path == path }?.byteCountMax
            ?? OperationAddress.documentByteCountMax
    }

    var address: OperationAddress {
        switch self {
        case .changes: Self.changesAddress
        case .rows: Self.rowsAddress
        }
    }

    func encode() throws -> [UInt8] {
        switch self {
        case .changes(let request): try JSONDocument.encode(Message.Transfer(request))
        case .rows(let rows): StateRows.encode(rows)
        }
    }

    /// Reads a request that came to a path.
    init(_ body: [UInt8], at path: String) throws {
        self = try path == Self.rowsAddress.path ? .rows(body) : .changes(body)
    }

    /// Reads a request of a pipe.
    init(_ body: [UInt8], of kind: PipeKind) throws {
        self = try kind == Self.rowsAddress.kind ? .rows(body) : .changes(body)
    }

    private static func changes(_ body: [UInt8]) throws -> Self {
        .changes(try JSONDocument.decode(Message.Transfer.self, from: body).value())
    }

    private static func rows(_ body: [UInt8]) throws -> Self {
        .rows(try body.withUnsafeBytes { try StateRows.decode($0) })
    }
}

/// A bundle that another process makes, on its way here.
protocol BundleFetch: AnyObject {
    /// Waits until it can be handed out.
    ///
    /// - parameter whole: Whether all of it has to be here.
    func wait(whole: Bool, progress: SyncProgressHandler?) throws

    /// Hands out all frames.
    ///
    /// - returns: About how many rows they have, and their bytes.
    /// - throws: `SourceStalled` when the rest takes too long: then it is to be waited for, and handed out from the
    ///   beginning.
    func handOut(_ sink: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> TransferSummary

    /// Ends it, however far it is.
    func close()
}
