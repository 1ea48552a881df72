import Crypto
import SyncWire
import Synchronization

/// The sessions of people who look at the server's page. They are in memory only: a restart ends them.
final class ConsoleSessions: Sendable {
    /// Somebody who had a link.
    struct Session: Sendable {
        /// The store whose link it was, and the only one that it shows.
        let store: StoreID
        /// The generation of the store's sessions that it belongs to, see ``ConsoleRegister``.
        let generation: Int64
        fileprivate let openedMilliseconds: Int64
        fileprivate var usedMilliseconds: Int64
    }

    /// How long a session lasts.
    static let lifeMilliseconds: Int64 = 12 * 3_600_000
    /// How long it waits for the next request; an open stream uses it all the time.
    static let idleMilliseconds: Int64 = 3_600_000
    /// The most sessions; the one that was used the longest ago makes room.
    static let countMax = 64

    private let milliseconds: @Sendable () -> Int64
    // By the hash of the token, so that no comparison tells of a token itself.
    private let sessions = Mutex<[SHA256Digest: Session]>([:])

    init(milliseconds: @escaping @Sendable () -> Int64) { self.milliseconds = milliseconds }

    private static func isValid(_ session: Session, at now: Int64) -> Bool {
        now - session.openedMilliseconds < lifeMilliseconds
            && now - session.usedMilliseconds < idleMilliseconds
    }

    /// Opens a session.
    ///
    /// - returns: Its token.
    func open(store: StoreID, generation: Int64) -> [UInt8] {
        let now = milliseconds()
        let token = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        sessions.withLock { sessions in
            sessions = sessions.filter { Self.isValid($0.value, at: now) }
            if sessions.count >= Self.countMax,
                let oldest = sessions.min(by: { $0.value.usedMilliseconds < $1.value.usedMilliseconds })
            {
                sessions[oldest.key] = nil
            }
            sessions[SHA256.hash(data: token)] = Session(
                store: store, generation: generation, openedMilliseconds: now, usedMilliseconds: now)
        }
        return token
    }

    /// The session of a token, which is used by asking; nil when there is none, or it has ended.
    func session(_ token: [UInt8]) -> Session? {
        let now = milliseconds()
        let key = SHA256.hash(data: token)
        return sessions.withLock { sessions in
            guard let session = sessions[key], Self.isValid(session, at: now) else {
                sessions[key] = nil
                return nil
            }
            sessions[key]?.usedMilliseconds = now
            return session
        }
    }

    /// Ends a session.
    func end(_ token: [UInt8]) { sessions.withLock { $0[SHA256.hash(data: token)] = nil } }
}
