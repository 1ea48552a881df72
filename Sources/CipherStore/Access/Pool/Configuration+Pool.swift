import Foundation

extension Configuration {
    /// The configuration of a pool's writing connection.
    ///
    /// A reader that meets the header of the WAL index while a commit writes it takes the write lock, to read the header
    /// once more. A write that begins in this moment would find the database locked, by nobody but its own pool. So the
    /// writer waits a little also where it is to fail at once.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/walformat.html#recovery>
    var ofWriter: Configuration {
        var writer = self
        writer.journalMode = .wal
        if patienceWithReaders == nil { writer.patienceWithReaders = Self.waitForReader }
        return writer
    }

    /// The configuration of a pool's reading connections.
    var ofReader: Configuration {
        var reader = self
        reader.readonly = true
        reader.requiresExistingFile = true
        reader.busyMode = readonlyBusyMode ?? .timeout(10)
        reader.patienceWithReaders = nil
        // A reader has no business in leaving transactions open.
        reader.allowsUnsafeTransactions = false
        return reader
    }

    /// What decides whether to try again when a lock is held, if anything does.
    var busyCallback: Database.BusyCallback? {
        switch busyMode {
        case .callback(let callback): callback
        case .immediateError: patienceWithReaders
        case .timeout: nil
        }
    }

    /// Waits two milliseconds, fifty times: what a reader does under the lock takes microseconds, unless the system
    /// takes its processor away.
    private static func waitForReader(_ numberOfTries: Int) -> Bool {
        guard numberOfTries < 50 else { return false }
        Thread.sleep(forTimeInterval: 0.002)
        return true
    }
}
