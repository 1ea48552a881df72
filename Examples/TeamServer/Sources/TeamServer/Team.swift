import CipherStore
import Foundation
import SyncEngine
import SyncHTTP

/// The tasks of all teams, of which each device gets those of its user's team.
struct Team: Sendable {
    let synchronizer: Synchronizer
    let devices: DeviceRegister

    init(path: String, configuration: Configuration) throws {
        let database = try DatabasePool(path: path, configuration: configuration)
        try Self.migrator.migrate(database)
        // Triggers in the file note each change from now on, whichever program makes it.
        synchronizer = try Synchronizer(database, tables: ["project", "task"])
        devices = try DeviceRegister(synchronizer)
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("projects and tasks") { db in
            try db.create(table: "project") { t in
                t.primaryKey("id", .text)
                t.column("team", .text).notNull()
                t.column("title", .text).notNull()
            }
            try db.create(table: "task") { t in
                t.primaryKey("id", .text)
                t.column("team", .text).notNull()
                t.column("project", .text).notNull().indexed().references("project", onDelete: .cascade)
                t.column("title", .text).notNull()
                t.column("isDone", .boolean).notNull().defaults(to: false)
            }
        }
        return migrator
    }

    // MARK: The rules

    /// What a user's devices exchange: the rows of the team. What they send for another team is refused.
    static func scope(of user: User) -> SyncScope {
        SyncScope.tables(["project", "task"])
            .rows(of: "project", where: "team", in: [.text(user.team)])
            .rows(of: "task", where: "team", in: [.text(user.team)])
    }

    /// Lets one more device of a user in, once, within a quarter of an hour.
    ///
    /// - throws: A `RemoteError` when the user has a device of that name.
    func invite(_ device: String, of user: User) throws -> InviteLink {
        guard let address = try devices.address() else { throw Problem("the server does not run yet") }
        return try devices.invite(
            label: label(device, user.name), isReadOnly: user.role == .reader, scope: Self.scope(of: user),
            address: address)
    }

    /// The devices of a user that may synchronize.
    func devices(of name: String) throws -> [Device] {
        try devices.devices().filter { $0.revokedMilliseconds == nil && $0.label.hasPrefix("\(name)/") }
    }

    /// Refuses a device from now on.
    func revoke(_ device: String, of name: String) throws { try devices.revoke(label(device, name)) }

    /// Brings the devices of a user to the team and the role that the user has now.
    func update(_ user: User) throws {
        for device in try devices(of: user.name) {
            try devices.change(
                device.label, scope: Self.scope(of: user), isReadOnly: user.role == .reader)
        }
    }

    private func label(_ device: String, _ name: String) -> String { "\(name)/\(device)" }
}
