import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// The devices that may synchronize with a store that is served.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "List the devices of a store that is served, and say what each may exchange.",
        discussion: """
            EXAMPLES:
              syncctl device list hub.db
              syncctl device scope hub.db phone --rows note.team=red
              syncctl device revoke hub.db phone
            """,
        subcommands: [
            DeviceListCommand.self, DeviceScopeCommand.self, DeviceRevokeCommand.self,
            DeviceWithdrawCommand.self,
        ])
}

/// Lists the devices of a store.
struct DeviceListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the devices that were enrolled.",
        usage: "syncctl device list <store> [<options>]")

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        struct Item: Encodable {
            let device: Int64
            let label: String
            let readOnly: Bool
            let tables: [String]?
            let rows: [String]?
            let replica: String?
            let key: String
            let enrolled: String
            let lastSeen: String?
            let revoked: String?
        }
        let store: String
        let devices: [Item]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let devices = try DeviceRegister(Synchronizer(existing: context.openForReading(options)))
                .devices()
            let items = devices.map {
                Document.Item(
                    device: $0.id, label: $0.label, readOnly: $0.isReadOnly, tables: $0.tables,
                    rows: $0.scope.rows.isEmpty ? nil : $0.scope.rows.map(RowList.text),
                    replica: $0.replica?.description, key: $0.keyFingerprint,
                    enrolled: HumanFormat.timestamp($0.enrolledMilliseconds),
                    lastSeen: $0.lastSeenMilliseconds.map { HumanFormat.timestamp($0) },
                    revoked: $0.revokedMilliseconds.map { HumanFormat.timestamp($0) })
            }
            try context.print(
                Document(store: options.store, devices: items), text: text(devices, context))
            if devices.isEmpty {
                context.note(
                    "no devices yet; invite one with: syncctl invite \(CommandWords.path(options.store)) --label <name>"
                )
            }
            return .success
        }
    }

    private func text(_ devices: [Device], _ context: CommandContext) -> String {
        guard !devices.isEmpty else { return "" }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var table = Table([
            .number("DEVICE"), .text("LABEL"), .text("REPLICA"), .text("LAST SEEN"), .text("STATE"),
            .text("SCOPE"), .text("KEY"),
        ])
        for device in devices {
            let state =
                device.revokedMilliseconds != nil ? "revoked" : device.isReadOnly ? "read-only" : "enrolled"
            table.addRow([
                .init(String(device.id)), .init(device.label),
                .init(device.replica?.shortDescription ?? "-"),
                .init(device.lastSeenMilliseconds.map { HumanFormat.age(of: $0, now: now) } ?? "never"),
                .init(state), .init(DeviceScopeText.text(device.scope)),
                .init(device.keyFingerprint),
            ])
        }
        return table.text(style: context.terminal.outputStyle)
    }
}

extension Failure {
    /// Says where devices are listed when there is none of a name. The server has refused nobody then.
    static func explainingDevice<Result>(of store: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as RemoteError where error.code == .unknownDevice {
            throw Failure(
                error.message, hints: ["see: syncctl device list \(CommandWords.path(store))"])
        }
    }
}

/// Revokes a device.
struct DeviceRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Refuse a device from now on.",
        usage: "syncctl device revoke <store> <device> [<options>]",
        discussion: """
            The server refuses its next request, also in a session that is open. What the device has \
            received stays on it, and what it sent stays here. Its replica is not waited for any more \
            once it is retired: syncctl replica retire.
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The device's label, or its number in the list.")
    var device: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let device: Int64
        let label: String
        let replica: String?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let register = try DeviceRegister(Synchronizer(existing: context.open(options)))
            let device = try Failure.explainingDevice(of: options.store) { try register.revoke(self.device) }
            try context.print(
                Document(
                    store: options.store, device: device.id, label: device.label,
                    replica: device.replica?.description),
                text: "revoked \(PrintableText.escaped(device.label))")
            if let replica = device.replica {
                context.note(
                    "if it does not come back: syncctl replica retire \(CommandWords.path(options.store)) \(replica.shortDescription)"
                )
            }
            return .success
        }
    }
}
