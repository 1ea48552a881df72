import CipherStore
import SyncEngine
import SyncWire

/// Errors as problem documents, and back: what fails at the server reads at the device as it would
/// if both were one program.
enum ProblemCoding {
    private static let prefix = "urn:cipherstore:problem:"

    /// What a device is told. Errors of the server's own files say no more than that it failed.
    static func problem(_ error: any Error) -> Message.Problem {
        switch error {
        case let error as RemoteError: make("remote", error.code.rawValue, status(error.code), error.message)
        case let error as SyncError: problem(error)
        case let error as WireError: make("wire", error.code.rawValue, 400, error.message)
        default: problem(RemoteError(kind(of: error), "the server \(reason(error))"))
        }
    }

    /// What a device makes of a problem document.
    static func error(_ problem: Message.Problem) -> any Error {
        let text = String(problem.detail.prefix(2000))
        let name = problem.type.hasPrefix(prefix) ? problem.type.dropFirst(prefix.count) : ""
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return RemoteError(.failed, "the server answered: \(text)") }
        switch parts[0] {
        case "remote": return RemoteError(RemoteError.Code(rawValue: parts[1]) ?? .failed, text)
        case "sync":
            if let code = SyncError.Code(rawValue: parts[1]) {
                var error = SyncError(code, "the server: \(text)")
                error.rows = rows(problem)
                return error
            }
        case "wire":
            if let code = WireError.Code(rawValue: parts[1]) { return WireError(code, "the server: \(text)") }
        default: break
        }
        return RemoteError(.failed, text)
    }

    private static func problem(_ error: SyncError) -> Message.Problem {
        var problem = make("sync", error.code.rawValue, 409, error.message)
        if !error.rows.isEmpty { problem.rows = ByteText.base64(StateRows.encode(error.rows)) }
        return problem
    }

    /// The rows that a server names. Those that can't be read are none: they are only left out by it.
    private static func rows(_ problem: Message.Problem) -> [StateRows] {
        guard let bytes = problem.rows.flatMap(ByteText.bytes(base64:)) else { return [] }
        return (try? bytes.withUnsafeBytes { try StateRows.decode($0) }) ?? []
    }

    private static func make(
        _ family: String, _ code: String, _ status: Int, _ detail: String
    ) -> Message.Problem {
        Message.Problem(type: "\(prefix)\(family):\(code)", title: code, status: status, detail: detail)
    }

    private static func kind(of error: any Error) -> RemoteError.Code {
        switch error {
        case let error as StoreError where error.code == .full: .full
        case let error as StoreError where error.code == .busy: .busy
        case let error as DatabaseError where error.saysDiskIsFull: .full
        case let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode): .busy
        default: .failed
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch kind(of: error) {
        case .full: "has no space left; nothing was applied"
        case .busy: "is busy; try again"
        default: "failed; its log says why"
        }
    }

    private static func status(_ code: RemoteError.Code) -> Int {
        switch code {
        case .unknownDevice, .sessionEnded, .invalidSignature: 401
        case .revokedDevice, .readOnlyDevice, .invalidInvite, .invalidLink, .otherReplica: 403
        case .noSuchStore, .notFound: 404
        case .tooSlow: 408
        case .tooLarge: 413
        case .malformed, .invalidAddress, .unsupportedVersion: 400
        case .busy: 503
        case .full: 507
        default: 500
        }
    }
}
