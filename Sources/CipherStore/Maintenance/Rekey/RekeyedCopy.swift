import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A copy of a store's pages under another key.
///
/// The pages go through no SQLCipher, whose codecs would take them one after the other: they are
/// spread over the processors. Whether the copy is a database is for SQLCipher to say, afterwards.
///
/// Nobody else may write to the source, and it must stand alone, without a journal or a WAL.
struct RekeyedCopy {
    private static let roundByteCount = 1 << 24

    private let source: Database
    private let file: FileReplacement
    private let rekeying: PageRekeying

    /// - parameter file: Where the pages go: its temporary file.
    init(
        of source: Database, to file: FileReplacement, from current: EncryptionKey, to next: EncryptionKey
    ) throws {
        self.source = source
        self.file = file
        rekeying = try PageRekeying(from: current, to: next)
    }

    /// Writes the copy.
    ///
    /// - throws: A ``StoreError``: `damaged` when a page is not authentic, or missing; `full`,
    ///   `cannotWrite`; a ``DatabaseError``, and what `progress` throws.
    func write(progress: StoreProgressHandler?) throws {
        let pageCount = try Int.fetchOne(source, sql: "PRAGMA page_count") ?? 0
        let input = try DatabaseFile(source.handle)
        let descriptor = try file.openTemporary(O_WRONLY)
        defer { close(descriptor) }
        let conversion = PageConversion(rekeying: rekeying, descriptor: descriptor, path: source.path)
        let size = rekeying.pageSize
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.roundByteCount, alignment: 16)
        defer { buffer.deallocate() }
        var done = 0
        while done < pageCount {
            let count = min(buffer.count / size, pageCount - done)
            let pages = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * size)])
            guard try input.read(at: done * size, into: pages) else {
                throw StoreError(.damaged, "the file was cut off", path: source.path)
            }
            try conversion.convert(pages, first: done + 1)
            done += count
            try progress?(
                StoreProgress(phase: .copying, completedPageCount: done, totalPageCount: pageCount))
        }
    }
}

/// Rekeys pages and writes them to a file, on all processors.
private struct PageConversion: Sendable {
    private static let sliceByteCount = 1 << 18

    let rekeying: PageRekeying
    let descriptor: Int32

    /// The source's path, for errors.
    let path: String

    /// Converts pages that follow each other.
    ///
    /// - parameter first: The number of the first one, from 1.
    func convert(_ pages: UnsafeMutableRawBufferPointer, first: Int) throws {
        let failure = Lock<(any Error)?>(nil)
        let slice = max(Self.sliceByteCount, rekeying.pageSize)
        // Each iteration has a part of the memory to itself, and all end before this returns.
        nonisolated(unsafe) let pages = pages
        DispatchQueue.concurrentPerform(iterations: (pages.count + slice - 1) / slice) { index in
            let start = index * slice
            let part = UnsafeMutableRawBufferPointer(
                rebasing: pages[start..<min(start + slice, pages.count)])
            let number = first + start / rekeying.pageSize
            do {
                try convertSlice(part, first: number)
                try write(part, at: (number - 1) * rekeying.pageSize)
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func convertSlice(_ pages: UnsafeMutableRawBufferPointer, first: Int) throws {
        let size = rekeying.pageSize
        let lockPage = StorePages.lockPage(size)
        for (index, start) in stride(from: 0, to: pages.count, by: size).enumerated() {
            let number = first + index
            let page = UnsafeMutableRawBufferPointer(rebasing: pages[start..<(start + size)])
            if number == lockPage {
                // It never holds data.
                page.initializeMemory(as: UInt8.self, repeating: 0)
            } else if try !rekeying.rekey(page, number: number) {
                throw StoreVerification.unauthentic(page: number, path: path)
            }
        }
    }

    private func write(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw errno == ENOSPC || errno == EDQUOT
                    ? StoreError(.full, "the disk is full; nothing was changed", path: path)
                    : StoreError(.cannotWrite, "cannot write: \(StoreError.systemText)", path: path)
            }
            done += count
        }
    }
}
