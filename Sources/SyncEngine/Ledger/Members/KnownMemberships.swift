import CipherStore
import SyncMembers
import SyncWire
import Synchronization

/// What the statements in some files say, so that a process which synchronizes often does not read and judge all of them each
/// time.
///
/// What is known of members follows from the names of their statements, and from nothing else: a name is a hash of what was
/// signed. So what was evaluated holds for as long as a file has the same statements, whoever wrote to it meanwhile. It is
/// kept for each file, so that no file is believed what another one says.
final class KnownMemberships: Sendable {
    /// Those of this process.
    static let shared = KnownMemberships()

    private struct Known {
        let path: String
        let state: MembershipState
        let byteCount: Int
    }

    private static let countMax = 16

    private let byteCountMax: Int
    /// Those that were used last at the end.
    private let known = Mutex<[Known]>([])

    init(byteCountMax: Int = MembershipLimits.totalByteCountMax) { self.byteCountMax = byteCountMax }

    /// What is known of a file, if it still has all statements from which that follows.
    ///
    /// - parameter names: The statements that the file has.
    /// - returns: nil when all have to be read.
    func state(
        of path: String, _ store: StoreID, founding: StatementID, within names: Set<StatementID>
    ) -> MembershipState? {
        known.withLock { known in
            guard let place = known.firstIndex(where: { $0.path == path }) else { return nil }
            let entry = known.remove(at: place)
            let state = entry.state
            guard state.store == store, state.founding == founding, state.statements.count <= names.count,
                state.statements.keys.allSatisfy({ names.contains($0) })
            else { return nil }
            known.append(entry)
            return state
        }
    }

    /// Keeps what the statements of a file say, in the place of what was known of it before.
    func keep(_ state: MembershipState, of path: String) {
        // With what is known of each statement: a bit for each one that came before it.
        let count = state.statements.count
        let byteCount = state.statements.values.reduce(count * count / 8) { $0 + $1.bytes.count }
        known.withLock { known in
            known.removeAll { $0.path == path }
            known.append(Known(path: path, state: state, byteCount: byteCount))
            var sum = known.reduce(0) { $0 + $1.byteCount }
            while let first = known.first, sum > byteCountMax || known.count > Self.countMax {
                sum -= first.byteCount
                known.removeFirst()
            }
        }
    }

    /// The file of a connection; nil for one in memory, of which nothing is kept.
    static func path(_ db: Database) throws -> String? {
        let path = try Row.fetchOne(db, sql: "PRAGMA database_list")?["file"] as String?
        return path == "" ? nil : path
    }
}
