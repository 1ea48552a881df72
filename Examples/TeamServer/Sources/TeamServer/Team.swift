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

    /// Lets one more device of a user in, once, within a quarter of an hour. An invitation that was not used goes.
    ///
    /// - throws: A `RemoteError` when the user has a device of that name.
    func invite(_ device: String, of user: User) throws -> InviteLink {
        guard let address = try devices.address() else { throw Problem("the server does not run yet") }
        try withdrawInvitations(of: user.name)
        return try devices.invite(
            label: "\(user.name)/\(device)", isReadOnly: user.role == .reader, scope: Self.scope(of: user),
            address: address)
    }

    /// The devices of a user that may synchronize.
    func devices(of name: String) throws -> [UserDevice] {
        try devices.devices().filter { $0.revokedMilliseconds == nil }
            .compactMap { UserDevice($0, of: name) }
    }

    /// Refuses the devices of a user from now on, all of them or those of a name.
    ///
    /// - returns: How many there were.
    @discardableResult func revoke(_ device: String? = nil, of name: String) throws -> Int {
        let found = try devices(of: name).filter { device == nil || $0.name == device }
        // By their numbers: two may have come in under one name.
        for item in found { try devices.revoke(String(item.device.id)) }
        return found.count
    }

    /// Brings the devices of a user to the team and the role that the user has now.
    func update(_ user: User) throws {
        try withdrawInvitations(of: user.name)
        for item in try devices(of: user.name) {
            try devices.change(
                String(item.device.id), scope: Self.scope(of: user), isReadOnly: user.role == .reader)
        }
    }

    /// Takes back what a user's links of before would allow.
    func withdrawInvitations(of name: String) throws {
        try devices.withdrawInvitations { UserDevice.name(in: $0, of: name) != nil }
    }
}

/// A device of a user: its label is the user's name, a slash and the device's name.
struct UserDevice {
    let device: Device
    let name: String

    init?(_ device: Device, of user: String) {
        guard let name = Self.name(in: device.label, of: user) else { return nil }
        self.device = device
        self.name = name
    }

    /// The device's name in a label; nil when the label is another user's.
    static func name(in label: String, of user: String) -> String? {
        // Bytes: a mark after the slash would make one character of both.
        let start = Array("\(user)/".utf8)
        return label.utf8.starts(with: start) ? String(label.utf8.dropFirst(start.count)) : nil
    }
}
