import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How the names in a folder are written to the disk, so that a loss of power can't bring back what they led to before.
///
/// It is a value because no test can make a folder that the system can't write: its owner may open any.
package struct FolderSynchronization: Sendable {
    /// Writes the names in an open folder to the disk, and says whether that was possible.
    let synchronize: @Sendable (Int32) -> Bool

    /// The way of the system.
    static let system = FolderSynchronization(synchronize: { fsync($0) == 0 })

    /// The way of this process; that of a test in what the test calls.
    @TaskLocal package static var current = FolderSynchronization.system

    /// Waits until the names in the folder of a file are on the disk. Some folders can't be opened, and some file systems
    /// have no fsync for folders.
    ///
    /// - returns: Whether that was possible.
    package func run(folderOf path: String) -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return synchronize(descriptor)
    }
}
