import CipherStore
import SyncEngine

extension DependencyValues {
    /// The engine that keeps the program's database equal with another replica.
    ///
    /// ```swift
    /// try prepareDependencies {
    ///     $0.defaultDatabase = try appDatabase()
    ///     $0.defaultSyncEngine = try SyncEngine(
    ///         for: $0.defaultDatabase, tables: RemindersList.self, Reminder.self, transport: transport)
    /// }
    /// ```
    ///
    /// Until it is set it is an engine of an empty database in memory, which reaches nobody: each synchronization
    /// throws ``NoDefaultSyncEngine``. Its first use is a warning, except in tests and previews.
    public var defaultSyncEngine: SyncEngine {
        get { self[DefaultSyncEngineKey.self] }
        set { self[DefaultSyncEngineKey.self] = newValue }
    }
}

/// `defaultSyncEngine` was to synchronize, and was not set.
public struct NoDefaultSyncEngine: Error, Equatable, Sendable, CustomStringConvertible {
    /// What happened, and what to do.
    public var description: String {
        """
        defaultSyncEngine is used and was not set, so that it reaches no other replica: set it with \
        prepareDependencies { $0.defaultSyncEngine = … } at the start of the program
        """
    }
}

private enum DefaultSyncEngineKey: DependencyKey {
    static var liveValue: SyncEngine {
        Database.logError?(.SQLITE_WARNING, NoDefaultSyncEngine().description)
        return unset
    }

    static var testValue: SyncEngine { unset }

    private static var unset: SyncEngine {
        do {
            return try SyncEngine(
                for: DatabaseQueue(), tables: [], transport: UnsetTransport(), startImmediately: false)
        } catch {
            // Without memory, or with a library that can't encrypt, nothing works at all.
            preconditionFailure("a database in memory can't be opened: \(error)")
        }
    }
}

/// The way to no replica.
private struct UnsetTransport: Transport {
    var name: String { "no replica" }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer { throw NoDefaultSyncEngine() }
}
