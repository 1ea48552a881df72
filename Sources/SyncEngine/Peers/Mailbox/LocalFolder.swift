import CipherStore
import Foundation

/// A folder of this machine, or one that is mounted, as a ``Mailbox``.
///
/// A file is written under another name, waits until it is on the disk, and gets its name by `rename`, or by
/// `link` when it may not replace one. All files have the mode 0644. Only regular files count: symbolic links are
/// not followed. Those folders are made that are missing, but for the ones around ``path``.
public struct LocalFolder: Mailbox {
    /// The folder.
    public let path: String

    /// Whether a write makes the folder.
    private let isMade: Bool

    /// Makes a mailbox.
    ///
    /// - parameter path: The folder. It is made by the first write, in a folder that is there.
    public init(path: String) { self.init(path: path, isMade: true) }

    /// Makes a mailbox.
    ///
    /// - parameters:
    ///     - path: The folder.
    ///     - isMade: Whether writes make it. Otherwise it is an error of code `missing` when it is not there, because its drive may not be.
    package init(path: String, isMade: Bool) { (self.path, self.isMade) = (path, isMade) }

    /// As `syncctl` spells it.
    public var name: String { "dir:\(path)" }

    /// The path.
    public var location: String { path }

    /// The names of all that is in the folder.
    ///
    /// - throws: ``MailboxError``: `missing` when the folder has gone and is not to be made, `failed`.
    public func folders() throws -> [String] {
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: path, isDirectory: &isFolder) else {
            try requireFolder()
            return []
        }
        guard isFolder.boolValue else {
            throw MailboxError(.failed, "it is a file, and no folder", location: path)
        }
        return try names(in: path)
    }

    /// The regular files of a subfolder.
    ///
    /// - throws: ``MailboxError`` of code `failed`.
    public func files(in folder: String) throws -> [MailboxFile] {
        let place = path + "/" + folder
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try names(in: place).compactMap { name in
            guard let attributes = Self.regular(place + "/" + name),
                let size = attributes[.size] as? NSNumber
            else { return nil }
            let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970
            return MailboxFile(
                name: name, byteCount: size.intValue,
                modifiedMilliseconds: modified.flatMap(Self.milliseconds))
        }
    }

    /// Opens a regular file.
    ///
    /// - throws: ``MailboxError``: `missing`, `notPermitted`, `failed`.
    public func open(_ path: MailboxPath) throws -> any MailboxReader {
        let place = self.path + "/\(path)"
        // A pipe or a device could block for ever.
        guard Self.regular(place) != nil else {
            throw MailboxError(.missing, "there is no such file", location: place)
        }
        guard let handle = FileHandle(forReadingAtPath: place) else {
            throw MailboxError(.notPermitted, "cannot open: \(StoreError.systemText)", location: place)
        }
        do {
            return LocalFileReader(try FileSource(handle), location: place)
        } catch {
            throw MailboxError(.failed, "cannot read it", location: place)
        }
    }

    /// Writes a file, and waits until it is on the disk.
    ///
    /// - throws: ``MailboxError``: `exists`, `missing`, `notPermitted`, `full`, `failed`; what `body` throws.
    public func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try requireFolder()
        for place in [self.path, self.path + "/" + path.folder] { try makeFolder(place) }
        let place = self.path + "/\(path)"
        let file = try translating { try FileReplacement(destination: place, purpose: "sealed") }
        do {
            let output = try translating { try OutputDescriptor(file) }
            try body { data in try translating { try output.write(data) } }
            file.allowReading()
            try translating { try replacing ? file.replaceDestination() : file.moveIntoPlace() }
        } catch {
            file.discard()
            throw error
        }
    }

    /// Removes a file.
    ///
    /// - throws: ``MailboxError`` of code `notPermitted`.
    public func remove(_ path: MailboxPath) throws {
        let place = self.path + "/\(path)"
        do {
            try FileManager.default.removeItem(atPath: place)
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            return
        } catch let error as CocoaError {
            throw MailboxError(.notPermitted, "cannot remove it: \(error.systemText)", location: place)
        }
    }

    private func names(in place: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: place)
        } catch let error as CocoaError {
            throw MailboxError(
                .failed, "cannot read the folder: \(error.systemText)", location: place)
        }
    }

    /// A time that a file has, which whoever may write the file has chosen; nil for one that is no number of
    /// milliseconds.
    static func milliseconds(_ seconds: Double) -> Int64? { Int64(exactly: (seconds * 1000).rounded(.down)) }

    /// What the system knows of a regular file; nil when there is none.
    private static func regular(_ place: String) -> [FileAttributeKey: Any]? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: place),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return attributes
    }

    private static func isFolder(_ place: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Throws where the folder is not there and nobody is to make it.
    private func requireFolder() throws {
        guard isMade || Self.isFolder(path) else {
            throw MailboxError(.missing, "there is no such folder", location: path)
        }
    }

    private func makeFolder(_ place: String) throws {
        if Self.isFolder(place) { return }
        do {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        } catch let error as CocoaError {
            // Somebody else may have made it meanwhile.
            if Self.isFolder(place) { return }
            throw MailboxError(
                .notPermitted, "cannot make the folder: \(error.systemText)", location: place)
        }
    }

    /// Says the errors of files as those of mailboxes.
    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            let code: MailboxError.Code =
                switch error.code {
                case .full: .full
                case .exists: .exists
                case .missing: .missing
                default: .failed
                }
            throw MailboxError(code, error.message, location: error.path)
        }
    }
}

/// A file of a folder that is open.
private final class LocalFileReader: MailboxReader {
    private let source: FileSource
    private let location: String

    init(_ source: FileSource, location: String) {
        self.source = source
        self.location = location
    }

    var byteCount: Int { source.byteCount }

    func read(upTo count: Int) throws -> Data {
        do {
            return try source.read(upToCount: count)
        } catch let error as CocoaError {
            throw MailboxError(.failed, "cannot read it: \(error.systemText)", location: location)
        }
    }
}
