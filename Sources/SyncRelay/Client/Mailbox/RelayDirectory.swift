import SyncEngine

/// What a channel holds, with what this process has written and removed since it was listed.
struct RelayDirectory: Sendable {
    /// A file.
    struct File: Equatable, Sendable {
        let byteCount: Int
        /// At which position it was written, which tells its versions apart.
        let position: RelayPosition
        /// When it was written by the relay's clock; nil for what was written here.
        let milliseconds: Int64?
    }

    /// The moment up to which all is known.
    private(set) var moment: RelayMoment
    private(set) var folders: [String: [String: File]] = [:]
    private var fileCount = 0
    /// Whether something is known to have changed since.
    var isStale = false

    /// Begins with nothing.
    init(epoch: RelayEpoch) { moment = RelayMoment(epoch: epoch, position: 0) }

    /// The file of a path; nil when there is none.
    subscript(path: MailboxPath) -> File? {
        get { folders[path.folder]?[path.name] }
        set {
            let former = folders[path.folder]?[path.name]
            folders[path.folder, default: [:]][path.name] = newValue
            if folders[path.folder]?.isEmpty == true { folders[path.folder] = nil }
            fileCount += (newValue == nil ? 0 : 1) - (former == nil ? 0 : 1)
        }
    }

    /// Takes in a page of a listing of this epoch.
    ///
    /// - throws: ``RelayError`` of code `failed` for what can't be right.
    mutating func add(_ page: RelayListing) throws {
        for entry in page.files {
            guard entry.position <= page.position, entry.byteCount <= RelayBounds.fileByteCountMax,
                let byteCount = Int(exactly: entry.byteCount)
            else { throw RelayError(.failed, "the relay lists a file that can't be there") }
            self[MailboxPath(entry.file)] = File(
                byteCount: byteCount, position: entry.position, milliseconds: entry.milliseconds)
        }
        for file in page.removed { self[MailboxPath(file)] = nil }
        guard fileCount <= RelayBounds.fileCountMax else {
            throw RelayError(.failed, "the relay lists more files than a channel has")
        }
    }

    /// Says up to which position all is known.
    mutating func advance(to position: RelayPosition) {
        moment = RelayMoment(epoch: moment.epoch, position: position)
    }

    /// Notes a file that was written here at a position. When that is the next one, nothing else changed meanwhile.
    mutating func note(_ file: File, at path: MailboxPath) {
        self[path] = file
        if file.position == moment.position + 1 { advance(to: file.position) }
    }

    /// Notes what was changed here by one request: files that were removed, and others that were written after them.
    ///
    /// - parameter position: The one that the relay told, which is that of the last change.
    /// - returns: The positions of the files; nil, and nothing is noted, when something else was changed meanwhile.
    mutating func note(
        written: [(path: MailboxPath, byteCount: Int)], removed: [MailboxPath], upTo position: RelayPosition
    ) -> [RelayPosition]? {
        let gone = Set(removed).filter { self[$0] != nil }
        let count = RelayPosition(written.count + gone.count)
        guard position.subtractingReportingOverflow(moment.position) == (count, false) else { return nil }
        let positions = written.indices.map { moment.position + RelayPosition(gone.count + $0 + 1) }
        for path in gone { self[path] = nil }
        for (file, position) in zip(written, positions) {
            self[file.path] = File(byteCount: file.byteCount, position: position, milliseconds: nil)
        }
        advance(to: position)
        return positions
    }
}

extension MailboxPath {
    init(_ file: RelayFileName) { self.init(folder: file.folder, name: file.name) }
}
