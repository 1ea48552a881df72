#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The device and inode of a file.
struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Reads the identity, or returns nil when there is no file.
    init?(path: String) {
        var information = stat()
        // Each access to a database asks this. As an argument, the text would be copied into an array.
        let code = path.withCString { stat($0, &information) }
        guard code == 0 else { return nil }
        self.init(information)
    }

    /// The identity of the file that the system told of.
    init(_ information: stat) {
        device = UInt64(truncatingIfNeeded: information.st_dev)
        inode = UInt64(truncatingIfNeeded: information.st_ino)
    }
}
