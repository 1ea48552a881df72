import ArgumentParser
import CipherStore
import SyncEngine

/// The values that lost against writes that did not know them.
struct ConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show values that lost against others, and restore them.",
        discussion: """
            When two replicas wrote one column without knowing of each other, the later write wins, and \
            the other value is kept here, by the replica that found out. So are edits of a row that was \
            deleted elsewhere. Nothing has to be done about it: a conflict stays until it is resolved.

            EXAMPLES:
              syncctl conflicts list notes.db
              syncctl conflicts show notes.db 12
              syncctl conflicts resolve notes.db 12 13 --restore
              syncctl conflicts resolve notes.db --all --table note --keep
            """,
        subcommands: [
            ConflictsListCommand.self, ConflictsShowCommand.self, ConflictsResolveCommand.self,
        ],
        defaultSubcommand: ConflictsListCommand.self)
}

/// A conflict in a JSON document.
struct ConflictDocument: Encodable {
    let id: Int64
    let table: String
    let key: String
    let column: String
    let lost: JSONValue
    let writtenBy: String
    let writtenHere: Bool
    let written: String?
    let winner: String
    let winnerHere: Bool
    let won: String?
    let reason: String
    let life: Int64
    let found: String
    let resolution: String?
    let resolved: String?

    init(_ conflict: Conflict) {
        func time(_ milliseconds: Int64?) -> String? {
            milliseconds.map { HumanFormat.timestamp($0, style: .internetMilliseconds) }
        }
        id = conflict.id
        table = conflict.table
        key = conflict.keyText
        column = conflict.column
        lost = JSONValue(conflict.lost)
        writtenBy = conflict.origin.replica.description
        writtenHere = conflict.origin.isLocal
        written = time(conflict.origin.milliseconds)
        winner = conflict.winner.replica.description
        winnerHere = conflict.winner.isLocal
        won = time(conflict.winner.milliseconds)
        reason = conflict.reason.rawValue
        life = conflict.life
        found = HumanFormat.timestamp(conflict.foundMilliseconds, style: .internetMilliseconds)
        resolution = conflict.resolution?.rawValue
        resolved = time(conflict.resolvedMilliseconds)
    }
}

/// A database value in JSON: blobs are `{"base64": "…"}`, numbers that are not finite are text.
struct JSONValue: Encodable {
    private let value: DatabaseValue

    init(_ value: DatabaseValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value.storage {
        case .null: try container.encodeNil()
        case .int64(let number): try container.encode(number)
        case .double(let number) where number.isFinite: try container.encode(number)
        case .double(let number): try container.encode("\(number)")
        case .string(let text): try container.encode(text)
        case .blob(let data): try container.encode(["base64": data.base64EncodedString()])
        }
    }
}

/// Values and writers as people read them.
enum ConflictText {
    /// A value on one line: text in quotes and cut, long blobs by their size.
    static func value(_ value: DatabaseValue, columns: Int = 40) -> String {
        switch value.storage {
        case .null: return "NULL"
        case .int64(let number): return String(number)
        case .double(let number): return "\(number)"
        case .string(let text):
            let start = PrintableText.escaped(String(text.prefix(columns + 1)))
            let short = PrintableText.truncated(start, to: columns)
            guard short != start || text.count > columns else { return "\"\(short)\"" }
            return "\"\(short)…\" (\(HumanFormat.bytes(text.utf8.count)))"
        case .blob(let data) where data.count <= 16:
            let digits = data.map { byte in
                let text = String(byte, radix: 16)
                return text.count == 1 ? "0" + text : text
            }
            return "x'\(digits.joined())'"
        case .blob(let data): return "a blob of \(HumanFormat.bytes(data.count))"
        }
    }

    static func writer(_ writer: Conflict.Writer) -> String {
        writer.isLocal ? "here" : writer.replica.shortDescription
    }

    static func time(_ writer: Conflict.Writer) -> String {
        writer.milliseconds.map { HumanFormat.timestamp($0, style: .second) } ?? ""
    }

    static func outcome(_ conflict: Conflict) -> String {
        let winner = writer(conflict.winner)
        switch conflict.reason {
        case .newer: return "newer: \(winner)"
        case .deleted: return "row deleted: \(winner)"
        case .mergeFailed: return "merge failed"
        case .row: return "rest of the row"
        }
    }
}
