import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that can be read from any place.
protocol ImportContent: Sendable {
    /// Reads bytes from a place.
    ///
    /// - returns: Their number, 0 at the end, or -1 with `errno`.
    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int
}

/// The bytes of an import, which are read twice: a file, or what came through a pipe.
final class ImportSource: Sendable {
    /// What stands for standard input on the command line.
    static let standardInput = "-"

    /// What messages call it.
    let path: String
    let size: Int64
    private let content: any ImportContent

    /// Opens a regular file.
    convenience init(path: String) throws(CSVError) {
        let descriptor = try Self.open(path)
        guard let status = Self.status(of: descriptor), status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.refusal(
                path, "not a regular file", hint: "name a file, a pipe, or - for standard input")
        }
        self.init(path, ImportFile(descriptor), Int64(status.st_size))
    }

    /// - parameters:
    ///     - path: What messages call it.
    ///     - content: The bytes.
    ///     - size: How many there are.
    init(_ path: String, _ content: any ImportContent, _ size: Int64) {
        (self.path, self.content, self.size) = (path, content, size)
    }

    /// Reads bytes from a place.
    ///
    /// - returns: Their number, 0 at the end, or -1 with `errno`.
    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int {
        content.read(into: buffer, count: count, at: offset)
    }

    /// Without O_NONBLOCK, opening a pipe would wait for its writer, whatever the user presses.
    static func open(_ path: String) throws(CSVError) -> Int32 {
        #if canImport(Glibc)
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #elseif canImport(Musl)
            let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #else
            let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #endif
        guard descriptor >= 0 else { throw refusal(path, Failure.systemText(errno)) }
        return descriptor
    }

    static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    static func refusal(_ path: String, _ reason: String, hint: String? = nil) -> CSVError {
        CSVError(code: .cannotOpen, path: path, line: nil, message: "cannot open: \(reason)", hint: hint)
    }
}

/// A file that is read where it is.
private final class ImportFile: ImportContent {
    private let descriptor: Int32

    /// - parameter descriptor: Of an open file, which this object closes.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int {
        while true {
            let result = pread(descriptor, buffer, count, off_t(offset))
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
