/// A type that reads from a database.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration of its connections.
    var configuration: Configuration { get }

    /// The path of the database file, or `":memory:"`.
    var path: String { get }

    /// Closes the connections. Later accesses throw `SQLITE_MISUSE`.
    func close() throws

    /// Interrupts the statements that are running.
    func interrupt()

    /// Reads in one snapshot of the database and waits for the result.
    func read<T>(_ value: (Database) throws -> T) throws -> T
}

/// A type that reads from and writes to a database.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs a block in a transaction and waits for the result. An error that
    /// the block throws undoes everything it did.
    func write<T>(_ updates: (Database) throws -> T) throws -> T

    /// Runs a block outside of any transaction and waits for the result.
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T
}
