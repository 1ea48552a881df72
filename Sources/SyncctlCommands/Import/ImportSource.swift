import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The bytes of an import, which are read twice: a file, or what came through a pipe.
///
/// What comes through a pipe waits in a file that only its owner can read and that has no name from the moment it
/// is there, so that nothing of it is left whatever ends the process.
final class ImportSource: Sendable {
    /// What stands for standard input on the command line.
    static let standardInput = "-"

    /// What messages call it.
    let path: String
    let size: Int64
    private let descriptor: Int32

    /// Opens a regular file.
    convenience init(path: String) throws(CSVError) {
        let descriptor = try Self.open(path)
        guard let status = Self.status(of: descriptor), status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.refusal(
                path, "not a regular file", hint: "name a file, a pipe, or - for standard input")
        }
        self.init(path, descriptor, Int64(status.st_size))
    }

    /// - parameter descriptor: Of an open file, which this object closes.
    init(_ path: String, _ descriptor: Int32, _ size: Int64) {
        (self.path, self.descriptor, self.size) = (path, descriptor, size)
    }

    deinit { close(descriptor) }

    /// Reads bytes from a place.
    ///
    /// - returns: Their number, 0 at the end, or -1 with `errno`.
    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int {
        while true {
            let result = pread(descriptor, buffer, count, off_t(offset))
            if result >= 0 || errno != EINTR { return result }
        }
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
