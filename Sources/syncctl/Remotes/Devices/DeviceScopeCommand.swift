import ArgumentParser
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// Changes what a device may exchange.
struct DeviceScopeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope", abstract: "Change what a device may exchange.",
        usage: "syncctl device scope <store> <device> [--tables …] [--rows …] [<options>]",
        discussion: """
            It holds from the device's next request on, also in a session or stream that is open, and \
            takes the place of what was before: --tables alone means all rows of these tables, --rows alone \
            all other tables. What the device has received stays on it until it hears of the change, \
            with its next session: then it takes rows out that are not its own any more, and gets what \
            was added. Changes that it made meanwhile to what it may not write any more stay on it, and \
            are taken when it may again.

            EXAMPLES:
              syncctl device scope hub.db phone --rows note.team=red
              syncctl device scope hub.db till --tables sale,article --read-only
              syncctl device scope hub.db phone --everything --read-write
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The device's label, or its number in the list.")
    var device: String

    @OptionGroup var scope: DeviceScopeOptions

    @Flag(help: "Exchange everything with the device.")
    var everything = false

    @Flag(help: "Refuse changes of the device.")
    var readOnly = false

    @Flag(help: "Take changes of the device.")
    var readWrite = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if readOnly && readWrite { throw ValidationError("--read-only and --read-write exclude each other") }
        if everything && scope.isGiven {
            throw ValidationError("--everything excludes --tables and --rows")
        }
        if !everything && !scope.isGiven && !readOnly && !readWrite {
            throw ValidationError(
                "nothing is said: give --tables, --rows, --everything, --read-only or --read-write")
        }
    }

    private struct Document: Encodable {
        let store: String
        let device: Int64
        let label: String
        let readOnly: Bool
        let tables: [String]?
        let rows: [String]?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let register = try DeviceRegister(Synchronizer(existing: context.open(options)))
            let chosen: SyncScope? = everything ? .everything : scope.isGiven ? scope.scope : nil
            let isReadOnly: Bool? = readOnly ? true : readWrite ? false : nil
            let device = try Failure.explainingDevice(of: options.store) {
                try register.change(self.device, scope: chosen, isReadOnly: isReadOnly)
            }
            let rows = device.scope.rows.map(RowList.text)
            try context.print(
                Document(
                    store: options.store, device: device.id, label: device.label,
                    readOnly: device.isReadOnly, tables: device.tables, rows: rows.isEmpty ? nil : rows),
                text: PrintableText.escaped(
                    "\(device.label) exchanges \(DeviceScopeText.text(device.scope))\(device.isReadOnly ? ", read-only" : "")"
                ))
            return .success
        }
    }
}

/// What a device may exchange, for people.
enum DeviceScopeText {
    /// One line, such as `note, tag; note.team=red`.
    static func text(_ scope: SyncScope) -> String {
        guard scope != .everything else { return "everything" }
        let tables = scope.tableNames?.joined(separator: ", ") ?? "all tables"
        return ([tables] + scope.rows.map(RowList.text)).joined(separator: "; ")
    }
}
