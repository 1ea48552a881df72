import Foundation

/// Where the changes of one kind go, in one table.
///
/// SQLite gives names as C strings for each change; they are compared with those
/// of the route, so that no string is made for a change.
final class EventRoute {
    let kind: DatabaseEvent.Kind
    let databaseName: String
    let tableName: String
    let observations: [TransactionObservation]

    private let databaseBytes: [CChar]
    private let tableBytes: [CChar]

    /// Those of them that have rows which the changes may take from their rowids.
    private let moved: [TransactionObservation]

    init(
        _ kind: DatabaseEvent.Kind, _ databaseName: String, _ tableName: String,
        _ observations: [TransactionObservation], moved: [TransactionObservation]
    ) {
        self.kind = kind
        self.databaseName = databaseName
        self.tableName = tableName
        self.observations = observations
        self.moved = moved
        databaseBytes = Array(databaseName.utf8CString)
        tableBytes = Array(tableName.utf8CString)
    }

    /// Whether changes of a kind take the route.
    func fits(
        _ kind: DatabaseEvent.Kind, _ databaseName: UnsafePointer<CChar>, _ tableName: UnsafePointer<CChar>
    ) -> Bool {
        self.kind == kind && strcmp(tableBytes, tableName) == 0 && strcmp(databaseBytes, databaseName) == 0
    }

    /// Whether the changes concern an observation whatever the rowid after them is.
    func moves(_ observation: TransactionObservation) -> Bool {
        !moved.isEmpty && moved.contains { $0 === observation }
    }

    func event(_ rowID: Int64) -> DatabaseEvent {
        DatabaseEvent(kind: kind, rowID: rowID, databaseName: databaseName, tableName: tableName)
    }
}

/// Where inserted and deleted rows go, which is the same for each statement.
struct EventRoutes {
    /// The routes, by a hash of the table's name.
    private var routes: [UInt64: [EventRoute]] = [:]

    func route(
        _ kind: DatabaseEvent.Kind, _ databaseName: UnsafePointer<CChar>, _ tableName: UnsafePointer<CChar>
    ) -> EventRoute? {
        routes[Self.hash(tableName)]?.first { $0.fits(kind, databaseName, tableName) }
    }

    mutating func append(_ route: EventRoute) {
        routes[route.tableName.withCString(Self.hash), default: []].append(route)
    }

    mutating func removeAll() { routes.removeAll() }

    /// FNV-1a: no string is made of the name.
    private static func hash(_ name: UnsafePointer<CChar>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var byte = name
        while byte.pointee != 0 {
            hash = (hash ^ UInt64(UInt8(bitPattern: byte.pointee))) &* 0x100_0000_01b3
            byte += 1
        }
        return hash
    }
}
