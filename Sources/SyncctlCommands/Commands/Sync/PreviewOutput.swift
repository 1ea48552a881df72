import SyncEngine

/// What `--dry-run` says of a remote.
struct PreviewOutput {
    let store: String
    let remote: String
    let direction: SyncDirection
    let preview: SyncPreview

    private struct Document: Encodable {
        struct Table: Encodable {
            let table: String
            let rows: Int64
        }
        let store: String
        let remote: String
        let dryRun = true
        let outgoing: [Table]?
        let incoming: [Table]?
        let incomingChanges: Int64?
    }

    func print(_ context: CommandContext) throws {
        func tables(_ tables: [SyncPreview.Table]?) -> [Document.Table]? {
            tables?.map { .init(table: $0.name, rows: $0.rowCount) }
        }
        try context.print(
            Document(
                store: store, remote: remote, outgoing: tables(preview.outgoing),
                incoming: tables(preview.incoming), incomingChanges: preview.incomingChangeCount),
            text: text(context))
        if let count = preview.incomingChangeCount, count > 0 {
            context.note(
                "\(remote) does not tell of tables: up to \(HumanFormat.count(Int(count), "change")) would come"
            )
        }
    }

    private func text(_ context: CommandContext) -> String {
        let outgoing = preview.outgoing ?? []
        let incoming = preview.incoming ?? []
        let names = Set((outgoing + incoming).map(\.name)).sorted()
        guard !names.isEmpty else {
            return (preview.incomingChangeCount ?? 0) > 0 ? "nothing would go" : "nothing would be exchanged"
        }
        let comes = preview.incomingChangeCount == nil && direction != .push
        var columns: [Table.Column] = [.text("TABLE")]
        if direction != .pull { columns.append(.number("WOULD GO")) }
        if comes { columns.append(.number("WOULD COME")) }
        var table = Table(columns)
        func count(_ name: String, _ tables: [SyncPreview.Table]) -> Table.Cell {
            .init(HumanFormat.count(Int(tables.first { $0.name == name }?.rowCount ?? 0)))
        }
        for name in names {
            var row: [Table.Cell] = [.init(name)]
            if direction != .pull { row.append(count(name, outgoing)) }
            if comes { row.append(count(name, incoming)) }
            table.addRow(row)
        }
        return table.text(style: context.terminal.outputStyle)
    }
}
