import CipherStore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A new folder of files that only its owner can open.
///
/// It has its name only when all files in it are whole, so that nobody takes a part for the whole.
struct OutputFolder {
    /// What its temporary name is told by.
    static let purpose = "export"

    private let path: String
    /// Where the files are until all of them are whole.
    private let temporary: String

    /// Makes the folder under a temporary name, beside the one that it will have.
    ///
    /// - throws: ``StoreError`` of code `exists` when the name is taken, and `reservedName` when it is that of a file beside
    ///   a store; ``Failure``.
    init(_ path: String) throws {
        self.path = Self.trimmed(path)
        try StoreFileCheck.requirePlace(of: self.path)
        try StoreFileCheck.requireFree(self.path)
        temporary = FileReplacement.temporaryName(for: self.path, purpose: Self.purpose)
        guard mkdir(temporary, 0o700) == 0 else {
            throw Failure.system("cannot create \(path)", code: errno)
        }
    }

    /// The path of a folder without the slashes at its end, behind which a temporary name would be one within it.
    static func trimmed(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") {
            path = String(decoding: path.utf8.dropLast(), as: UTF8.self)
        }
        return path
    }

    /// The path of a file in it, for as long as the folder is not finished.
    func file(_ name: String) -> String { "\(temporary)/\(name)" }

    /// Gives the folder its name.
    ///
    /// - throws: ``StoreError`` of code `exists` when somebody took the name meanwhile; ``Failure``.
    func finish() throws {
        Self.synchronize(temporary)
        // Nothing but an empty folder is replaced.
        guard rename(temporary, path) == 0 else {
            let code = errno
            guard ![EEXIST, ENOTEMPTY, ENOTDIR].contains(code) else {
                throw StoreError(.exists, "there is a file or folder already", path: path)
            }
            throw Failure.system("cannot create \(path)", code: code)
        }
        Self.synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Removes the folder, which can't be finished.
    func discard() { try? FileManager.default.removeItem(atPath: temporary) }

    /// Waits until the names in a folder are on the disk, where the file system can do that.
    private static func synchronize(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
