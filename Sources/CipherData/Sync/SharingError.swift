/// What can't be done yet: to share rows with other people.
///
/// Sharing comes with spaces. Until then these functions are there so that code that calls them compiles, and
/// throw this.
public struct SharingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was asked for, such as `share`.
    public let operation: String

    /// What happened.
    public var description: String {
        "\(operation) is not possible yet: rows can't be shared with other people before spaces are there"
    }
}

/// What the others would see of a shared row. It comes with spaces.
public struct ShareSettings: Sendable {
    /// A value by its key, such as a title: none yet, and none is kept.
    public subscript(key: String) -> (any Sendable)? {
        get { nil }
        nonmutating set {}
    }
}

extension SyncEngine {
    /// Shares a row. It comes with spaces.
    ///
    /// - throws: ``SharingError``, always.
    public func share<Record>(record: Record) async throws { throw SharingError(operation: "share") }

    /// Shares a row. It comes with spaces.
    ///
    /// - parameters:
    ///     - record: The row.
    ///     - configure: Would say what the others see of it. It is not called.
    /// - throws: ``SharingError``, always.
    public func share<Record>(record: Record, configure: (ShareSettings) -> Void) async throws {
        throw SharingError(operation: "share")
    }

    /// Ends the sharing of a row. It comes with spaces.
    ///
    /// - throws: ``SharingError``, always.
    public func unshare<Record>(record: Record) async throws { throw SharingError(operation: "unshare") }

    /// Takes part in what somebody shares. It comes with spaces.
    ///
    /// - throws: ``SharingError``, always.
    public func acceptShare<Metadata>(metadata: Metadata) async throws {
        throw SharingError(operation: "acceptShare")
    }
}
