import CipherStore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A new file that only its owner can read, or standard output.
///
/// A file that is not finished is removed, so that nobody takes a part for the whole.
final class OutputFile {
    /// What its temporary name is told by.
    static let purpose = "export"

    private let path: String?
    /// What errors call the file.
    private let shownPath: String
    /// The file has its name only when it is whole.
    private let temporary: String
    private let terminal: Terminal
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isFinished = false

    /// Creates the file, or uses standard output when `path` is nil.
    ///
    /// - parameters:
    ///   - path: The path of the file.
    ///   - terminal: What standard output is.
    ///   - shownPath: What errors call the file, when it is in a folder that has another name yet.
    /// - throws: ``StoreError`` of code `exists` when there is a file or a folder already, and `reservedName` when the name
    ///   is that of a file beside a store; a ``Failure`` for a link that leads nowhere.
    init(_ path: String?, _ terminal: Terminal, shownAs shownPath: String? = nil) throws {
        self.path = path
        self.shownPath = shownPath ?? path ?? ""
        self.terminal = terminal
        guard let path else {
            descriptor = -1
            temporary = ""
            return
        }
        try FileReplacement.requireNoOwner(of: path)
        try StoreFileCheck.requireFree(path)
        temporary = FileReplacement.temporaryName(for: path, purpose: OutputFile.purpose)
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure.system("cannot create \(self.shownPath)", code: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if path != nil, !isFinished { unlink(temporary) }
    }

    /// Whether what is written appears on a terminal.
    var isTerminal: Bool { path == nil && terminal.outputIsTerminal }

    /// Writes text.
    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 256 << 10 { try flush() }
    }

    private func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes { bytes in
            guard path != nil else { return try terminal.writeOutput(bytes: bytes) }
            let code = DescriptorOutput.write(bytes, to: descriptor)
            guard code == 0 else { throw Failure.system("cannot write \(shownPath)", code: code) }
        }
    }

    /// Ends the file: everything is on the disk, its name too where the file system writes folders there.
    func finish() throws {
        try flush()
        if let path {
            guard fsync(descriptor) == 0 else {
                throw Failure.system("cannot write \(shownPath)", code: errno)
            }
            // A hard link, unlike a rename, never replaces a file; where there are none, a rename has to do.
            if link(temporary, path) == 0 {
                unlink(temporary)
            } else if errno == EEXIST {
                throw StoreError(.exists, "there is a file already", path: path)
            } else if rename(temporary, path) != 0 {
                throw Failure.system("cannot create \(shownPath)", code: errno)
            }
            _ = FolderSynchronization.current.run(folderOf: path)
        }
        isFinished = true
    }
}
