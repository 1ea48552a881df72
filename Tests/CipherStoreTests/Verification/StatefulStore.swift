import Foundation
import Testing

@testable import CipherStore

/// A small store whose rows all have the value of one state, and what is read of its files after
/// somebody without the key has changed them.
struct StatefulStore {
    /// What a read says.
    enum Outcome: Equatable, CustomStringConvertible {
        /// An error of the library.
        case refused
        /// All rows are of one state.
        case state(Int)
        /// Each byte is of one of the states, but not all of the same.
        case mixed
        /// As before, but the last page of a large value is zeros: `secure_delete` wrote them when
        /// a transaction freed the page, which is one of its versions.
        case zeros
        /// A byte that no state has at its place, or a missing row.
        case invented(String)

        var description: String {
            switch self {
            case .refused: "refused"
            case .state(let state): "state \(state)"
            case .mixed: "mixed"
            case .zeros: "zeros"
            case .invented(let what): "invented: \(what)"
            }
        }
    }

    static let rowCount = 24
    static let stateCount = 4

    let path: String
    let settings: CipherSettings
    private let passphrase: String
    private let keys = KeyCache()

    init(_ path: String, _ settings: CipherSettings, passphrase: String = "secret") throws {
        self.path = path
        self.settings = settings
        self.passphrase = passphrase
        let key = try keys.keyForNewFile(
            path, passphrase: Passphrase(passphrase).bytes, settings: settings)
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        for id in 0..<Self.rowCount {
            try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, Self.body(id, 0)])
        }
    }

    /// A value of a state: no two states have a byte in common at one place, and none has a zero.
    static func body(_ id: Int, _ state: Int) -> Data { bodies[id][state] }

    private static let bodies: [[Data]] = (0..<rowCount).map { id in
        (0..<stateCount).map { state in
            let count = id == 5 ? 9_000 : 150 + id * 25
            return Data((0..<count).map { UInt8(1 + ($0 * 7 + id * 13 + state * 50) % 255) })
        }
    }

    func open() throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: .keyed(passphrase), keyCache: keys)
    }

    /// Gives all rows the value of a state.
    static func update(_ db: Database, to state: Int) throws {
        for id in 0..<rowCount {
            try db.execute(sql: "UPDATE note SET body = ? WHERE id = ?", arguments: [body(id, state), id])
        }
    }

    func bytes(_ suffix: String = "") throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + suffix)))
    }

    /// Puts files in the place of those of the store; nil for no file.
    func put(_ file: [UInt8], _ suffix: String, _ sidecar: [UInt8]?) throws {
        for suffix in ["-journal", "-wal", "-shm"] { unlink(path + suffix) }
        try Data(file).write(to: URL(fileURLWithPath: path))
        if let sidecar { try Data(sidecar).write(to: URL(fileURLWithPath: path + suffix)) }
    }

    /// What a program reads.
    func outcome() throws -> Outcome {
        do {
            let queue = try open()
            let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT id, body FROM note ORDER BY id") }
            try queue.close()
            return Self.judge(rows.map { ($0["id"], $0["body"]) })
        } catch is DatabaseError {
            return .refused
        } catch is StoreError {
            return .refused
        }
    }

    /// Records an issue for what is neither right nor named in `docs/threat-model.md`.
    ///
    /// - parameter state: The last committed state.
    func expectNamed(_ outcome: Outcome, orState state: Int, _ what: String) {
        switch outcome {
        case .refused, .mixed, .zeros, .state(state): break
        default: Issue.record("\(what): \(outcome)")
        }
    }

    private static func judge(_ rows: [(id: Int, body: Data)]) -> Outcome {
        guard rows.map(\.id) == Array(0..<rowCount) else { return .invented("rows \(rows.map(\.id))") }
        var states: Set<Int> = []
        var hasZeros = false
        for (id, body) in rows {
            let known = Self.bodies[id]
            guard body.count == known[0].count else { return .invented("row \(id) has \(body.count) bytes") }
            if let state = known.firstIndex(of: body) {
                states.insert(state)
                continue
            }
            // A freed page that lists other ones has a few numbers between its zeros.
            let end = body.firstIndex(of: 0) ?? body.count
            hasZeros = hasZeros || end < body.count
            for (index, byte) in body.prefix(end).enumerated() {
                guard let state = known.firstIndex(where: { $0[index] == byte }) else {
                    return .invented("byte \(index) of row \(id) is \(byte)")
                }
                states.insert(state)
            }
        }
        if hasZeros { return .zeros }
        return states.count == 1 ? .state(states.first ?? 0) : .mixed
    }
}

/// The document that names what nobody notices.
func threatModel() throws -> String {
    try String(
        contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/threat-model.md"), encoding: .utf8)
}
