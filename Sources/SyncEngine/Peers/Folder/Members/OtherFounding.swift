import CipherStore
import SyncMembers
import SyncWire

/// A statement that founded other members of the database than those that are known here, which a file of a mailbox holds.
///
/// Such a file is read once, and what it says goes on to be true: so this is kept beside what is known of the file, as a setting.
struct OtherFounding: Hashable {
    let id: StatementID
    /// The device of the first member.
    let device: DeviceID
    /// What that one is called.
    let name: MemberName

    /// So many of them are told of: anybody who has the passphrase can leave some.
    private static let toldCountMax = 3

    private static let prefix = "membership.founding "

    private static func prefix(_ mailbox: String) -> String { "\(prefix)\(mailbox) " }

    /// Finds the first in what a file holds; nil when there is none.
    init?(_ statements: [SignedStatement], beside state: MembershipState) {
        for statement in statements {
            guard case .found(let founding) = statement.statement.kind, statement.id != state.founding,
                statement.statement.store == state.store
            else { continue }
            (id, device, name) = (statement.id, founding.device.id, founding.name)
            return
        }
        return nil
    }

    /// Reads one that was kept. Other programs may have written anything.
    private init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let id = StatementID(hexadecimal: String(words[0])),
            let device = DeviceID(hexadecimal: String(words[1])), let name = try? MemberName(String(words[2]))
        else { return nil }
        (self.id, self.device, self.name) = (id, device, name)
    }

    // MARK: What is kept

    /// Those of a mailbox, by the file.
    static func load(_ db: Database, mailbox: String) throws -> [String: OtherFounding] {
        var foundings: [String: OtherFounding] = [:]
        // A path has no space. With one it is of a mailbox whose name begins with this one and a space.
        for (path, text) in try SyncSetting.texts(db, withPrefix: prefix(mailbox)) where !path.contains(" ") {
            foundings[path] = OtherFounding(text)
        }
        return foundings
    }

    /// Notes which one a file holds; nil for none.
    static func note(_ db: Database, mailbox: String, _ path: String, _ founding: OtherFounding?) throws {
        try SyncSetting.set(
            db, prefix(mailbox) + path, founding.map { "\($0.id) \($0.device) \($0.name)" })
    }

    /// Forgets all, for a membership that is another one, and for a copy, which must not tell of the original's places.
    static func removeAll(_ db: Database) throws { try SyncSetting.removeAll(db, withPrefix: prefix) }

    // MARK: What is said

    /// Says who founded other members of the database: as long as both go on, neither takes in what the others write.
    ///
    /// - parameters:
    ///     - foundings: Those that lie in a mailbox, by the file.
    ///     - state: What is known by now. One of its members that left others in its folder has gone over.
    ///     - own: This replica, of which the same is true.
    static func remarks(
        _ foundings: [String: OtherFounding], _ state: MembershipState, _ own: ReplicaID
    ) -> [String] {
        var (told, remarks): (Set<StatementID>, [String]) = ([], [])
        // In one order, so that a watch, which says what is new, says each once.
        for (path, other) in foundings.sorted(by: { $0.key < $1.key }) where told.count < toldCountMax {
            guard other.id != state.founding, let folder = path.split(separator: "/").first,
                let replica = ReplicaID(hexadecimal: String(folder)), replica != own,
                state.replicas[replica].flatMap({ state.role(of: $0.device) }) == nil,
                told.insert(other.id).inserted
            else { continue }
            remarks.append(
                """
                members of this database were founded twice, here and by '\(other.name)' (device \
                \(other.device.shortDescription)), and neither takes in what the others write: if you know who that is, \
                one of you goes over by an invitation of the other: syncctl member accept --replace
                """)
        }
        return remarks
    }
}
