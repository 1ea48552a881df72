import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tells when something was done to a database file, its WAL or its journal.
///
/// No descriptor of the store is opened for this: closing one would drop the locks that SQLite's connections of
/// this process hold. On Linux the files are watched by name, and the folder, which tells of files that are replaced,
/// and of a `-wal` that is not there yet. On macOS it is the folder, and the `-wal`, on which SQLite holds no locks.
///
/// It is used on one queue only.
final class FileEvents {
    private let source: EventSource

    /// - parameters:
    ///     - path: The database file.
    ///     - queue: Where `onEvent` is called. All methods have to be called there too.
    ///     - onEvent: Called when something happened, until `pause()`.
    /// - returns: nil when the system can't tell of events.
    init?(path: String, queue: DispatchQueue, onEvent: @escaping @Sendable () -> Void) {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        guard
            let source = EventSource(
                folder: file.deletingLastPathComponent().path, name: file.lastPathComponent, queue, onEvent)
        else { return nil }
        self.source = source
    }

    /// Whether events are waited for.
    var isOn: Bool { source.isOn }

    /// Waits for events.
    ///
    /// - returns: False when the system can't tell of events any more.
    func resume() -> Bool { source.isOn || source.begin() }

    /// Waits for events no longer: writes to the folder cost nothing then.
    func pause() { if source.isOn { source.end() } }

    deinit { source.cancel() }
}

#if canImport(Glibc) || canImport(Musl)
    /// Events of a folder, by inotify.
    ///
    /// It is `@unchecked Sendable` because it is used on one queue only.
    private final class EventSource: @unchecked Sendable {
        /// How long events of other files in the folder are left alone after one, in milliseconds.
        private static let restTime = 50

        private let descriptor: Int32
        private let folder: String
        private let names: Set<String>
        private let queue: DispatchQueue
        private let source: any DispatchSourceRead
        /// The watch of the folder.
        private var watch: Int32?
        /// The watches of the files. Those who write to other files of the folder have no work by them.
        private var fileWatches: [Int32] = []
        private var isSuspended = true
        private var isCancelled = false

        init?(folder: String, name: String, _ queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void)
        {
            descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.folder = folder
            self.queue = queue
            names = [name, name + "-wal", name + "-journal"]
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setCancelHandler { [descriptor] in _ = close(descriptor) }
            source.setEventHandler { [weak self] in
                guard let self, isOn else { return }
                if read() { onEvent() } else { rest() }
            }
        }

        var isOn: Bool { watch != nil }

        func begin() -> Bool {
            let kinds = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | Int32(IN_ONLYDIR)
            let added = inotify_add_watch(descriptor, folder, UInt32(kinds))
            guard added >= 0 else { return false }
            watch = added
            // Of a file that is made later, the folder tells.
            fileWatches = names.map { inotify_add_watch(descriptor, folder + "/" + $0, UInt32(IN_MODIFY)) }
                .filter { $0 >= 0 }
            setSuspended(false)
            return true
        }

        func end() {
            setSuspended(true)
            if let watch { inotify_rm_watch(descriptor, watch) }
            watch = nil
            for watch in fileWatches { inotify_rm_watch(descriptor, watch) }
            fileWatches = []
            _ = read()
        }

        private func setSuspended(_ suspends: Bool) {
            guard suspends != isSuspended, !isCancelled else { return }
            isSuspended = suspends
            if suspends { source.suspend() } else { source.resume() }
        }

        /// Leaves a busy folder alone for a moment.
        private func rest() {
            setSuspended(true)
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.restTime)) { [weak self] in
                guard let self, isOn else { return }
                setSuspended(false)
            }
        }

        /// Reads what there is: the kernel keeps no more than some thousand events.
        ///
        /// - returns: Whether something happened to one of the files.
        private func read() -> Bool {
            var isHit = false
            let size = MemoryLayout<inotify_event>.size
            withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
                while let base = buffer.baseAddress {
                    #if canImport(Glibc)
                        let count = Glibc.read(descriptor, base, buffer.count)
                    #else
                        let count = Musl.read(descriptor, base, buffer.count)
                    #endif
                    guard count > 0 else { return }
                    var offset = 0
                    while offset + size <= count {
                        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                        let end = min(offset + size + Int(event.len), count)
                        let name = String(
                            decoding: buffer[offset + size..<end].prefix { $0 != 0 }, as: UTF8.self)
                        let isOfFile = event.mask & UInt32(IN_MODIFY | IN_Q_OVERFLOW) != 0
                        if isOfFile || names.contains(name) { isHit = true }
                        offset = end
                    }
                }
            }
            return isHit
        }

        func cancel() {
            // A source that is suspended must not be released.
            setSuspended(false)
            isCancelled = true
            watch = nil
            source.cancel()
        }
    }
#else
    /// Events of a folder and of a WAL, by kqueue.
    ///
    /// It is `@unchecked Sendable` because it is used on one queue only.
    private final class EventSource: @unchecked Sendable {
        private let paths: [String]
        private let queue: DispatchQueue
        private let onEvent: @Sendable () -> Void
        private var sources: [any DispatchSourceFileSystemObject] = []

        init?(folder: String, name: String, _ queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void)
        {
            // The WAL is there or not; the folder tells when that changes.
            paths = [folder, folder + "/" + name + "-wal"]
            self.queue = queue
            self.onEvent = onEvent
        }

        var isOn: Bool { !sources.isEmpty }

        func begin() -> Bool {
            sources = paths.compactMap(source)
            return isOn
        }

        private func source(_ path: String) -> (any DispatchSourceFileSystemObject)? {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename], queue: queue)
            source.setEventHandler { [weak self] in
                guard let self, isOn else { return }
                onEvent()
            }
            source.setCancelHandler { _ = close(descriptor) }
            source.resume()
            return source
        }

        func end() {
            for source in sources { source.cancel() }
            sources = []
        }

        func cancel() { end() }
    }
#endif
