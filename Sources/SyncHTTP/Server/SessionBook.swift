import Crypto
import Foundation
import SyncWire
import Synchronization

/// The challenges and sessions of a server.
///
/// A challenge costs a MAC and no memory, so that strangers can't fill the server with them. A session
/// is in memory only: after a restart devices open new ones.
final class SessionBook: Sendable {
    /// A device that proved its key.
    struct Session: Sendable {
        let token: [UInt8]
        let store: StoreID
        let key: [UInt8]
        fileprivate var number: UInt64 = 0
        fileprivate var usedMilliseconds: Int64
    }

    static let challengeByteCount = 56
    static let tokenByteCount = 32
    /// The sessions of one device. The one that was used longest ago ends when there are more.
    static let deviceCountMax = 16
    /// How long a challenge can be answered.
    static let challengeMilliseconds: Int64 = 60_000
    /// How long a session waits for the next request.
    static let idleMilliseconds: Int64 = 15 * 60_000

    private struct State {
        var sessions: [[UInt8]: Session] = [:]
        var answered: [[UInt8]: Int64] = [:]
    }

    private let key = SymmetricKey(size: .bits256)
    private let milliseconds: @Sendable () -> Int64
    private let countMax: Int
    private let state = Mutex(State())

    /// - parameter countMax: The most sessions; the one that was used the longest ago makes room.
    init(milliseconds: @escaping @Sendable () -> Int64, countMax: Int) {
        self.milliseconds = milliseconds
        self.countMax = countMax
    }

    // MARK: Challenges

    /// Makes a challenge.
    func challenge() -> [UInt8] {
        var content = withUnsafeBytes(of: (milliseconds() + Self.challengeMilliseconds).bigEndian) {
            Array($0)
        }
        content += SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return content + Array(HMAC<SHA256>.authenticationCode(for: content, using: key))
    }

    /// Takes a challenge, whose answer was checked, as answered: once.
    ///
    /// - throws: ``RemoteError`` of code `invalidSignature`.
    func answer(_ challenge: [UInt8]) throws {
        let now = milliseconds()
        let expiry = try expiry(of: challenge)
        try state.withLock { state in
            state.answered = state.answered.filter { $0.value > now }
            guard state.answered.updateValue(expiry, forKey: challenge) == nil else {
                throw RemoteError(.invalidSignature, "the challenge was answered already")
            }
        }
    }

    /// Checks that a challenge is this server's, and still valid. Costs little.
    func check(_ challenge: [UInt8]) throws { _ = try expiry(of: challenge) }

    private func expiry(of challenge: [UInt8]) throws -> Int64 {
        let content = challenge.prefix(24)
        guard challenge.count == Self.challengeByteCount,
            HMAC<SHA256>.isValidAuthenticationCode(challenge.suffix(32), authenticating: content, using: key)
        else { throw RemoteError(.sessionEnded, "the challenge is not this server's: was it restarted?") }
        let expiry = content.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard expiry > milliseconds() else { throw RemoteError(.sessionEnded, "the challenge has expired") }
        return expiry
    }

    // MARK: Sessions

    /// How many sessions there are.
    var count: Int { state.withLock { $0.sessions.count } }

    /// Opens a session.
    func open(store: StoreID, key: [UInt8]) -> Session {
        let now = milliseconds()
        let token = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        let session = Session(token: token, store: store, key: key, usedMilliseconds: now)
        state.withLock { state in
            state.sessions = state.sessions.filter { now - $0.value.usedMilliseconds < Self.idleMilliseconds }
            let own = state.sessions.filter { $0.value.key == key && $0.value.store == store }
            if own.count >= Self.deviceCountMax,
                let oldest = own.min(by: { $0.value.usedMilliseconds < $1.value.usedMilliseconds })
            {
                state.sessions[oldest.key] = nil
            }
            if state.sessions.count >= countMax,
                let oldest = state.sessions.min(by: { $0.value.usedMilliseconds < $1.value.usedMilliseconds })
            {
                state.sessions[oldest.key] = nil
            }
            state.sessions[token] = session
        }
        return session
    }

    /// The session of a token.
    ///
    /// - throws: ``RemoteError`` of code `sessionEnded`.
    func session(_ token: [UInt8]) throws -> Session {
        let now = milliseconds()
        return try state.withLock { state in
            guard let session = state.sessions[token], now - session.usedMilliseconds < Self.idleMilliseconds
            else { throw RemoteError(.sessionEnded, "the session has ended") }
            return session
        }
    }

    /// Takes the number of a request whose signature was checked: each number once, and no lower one after it.
    ///
    /// - throws: ``RemoteError``: `sessionEnded`, `invalidSignature`.
    func accept(_ number: UInt64, of session: Session) throws {
        let now = milliseconds()
        try state.withLock { state in
            guard let current = state.sessions[session.token] else {
                throw RemoteError(.sessionEnded, "the session has ended")
            }
            guard number > current.number else {
                throw RemoteError(.invalidSignature, "the request came before")
            }
            state.sessions[session.token]?.number = number
            state.sessions[session.token]?.usedMilliseconds = now
        }
    }
}
