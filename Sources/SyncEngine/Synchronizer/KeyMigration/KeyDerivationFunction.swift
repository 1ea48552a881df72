import CipherStore
import Synchronization

/// The SQL function that derives keys while rows are copied.
final class KeyDerivationFunction: Sendable {
    private struct State {
        var completed: Int64 = 0
        var failure: (any Error)?
    }

    private let name: String
    private let rules: [String: KeyDerivationRule]
    private let total: Int64
    private let state = Mutex(State())
    // The function runs only while the connection's own thread is in a statement of the conversion, which
    // is when the caller's closure may be called.
    private nonisolated(unsafe) let progress: KeyProgress?

    init(name: String, plan: KeyConversionPlan, progress: KeyProgress?) {
        self.name = name
        rules = plan.derivations
        total = plan.keyCount
        self.progress = progress
    }

    /// Its arguments are the table, the rowid or NULL, and the values of the old key.
    var function: DatabaseFunction {
        DatabaseFunction(name, pure: false) { [self] arguments in
            guard arguments.count >= 2, let table = String.fromDatabaseValue(arguments[0]),
                let rule = rules[table]
            else {
                throw SyncError(.keysNotConvertible, "there is no key to derive")
            }
            try advance()
            return rule.key(of: Array(arguments[2...]), rowid: Int64.fromDatabaseValue(arguments[1]))
        }
    }

    private func advance() throws {
        let completed = state.withLock { state in
            state.completed += 1
            return state.completed
        }
        guard let progress, completed % 4096 == 0 || completed == total else { return }
        do {
            try progress(completed, max(total, completed))
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
    }

    /// Runs statements; an error of the progress closure comes out as it went in.
    func rethrowing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw state.withLock { $0.failure } ?? error
        }
    }

    /// The literal of the new key for the default of a column that refers to a table.
    func literal(_ db: Database, _ sql: String, domain: String) throws -> String {
        guard let rule = rules[domain] else { return sql }
        let value = try DatabaseValue.fetchOne(
            db, sql: "SELECT \(rule.affinity.applied(to: "v")) FROM (SELECT \(sql) AS v)")
        guard let value, !value.isNull else { return sql }
        switch rule.key(of: [value]).storage {
        case .blob(let data):
            return "x'" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
        case .string(let text): return "'\(text)'"
        default: return sql
        }
    }
}
