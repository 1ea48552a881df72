/// The functions of libpq, PostgreSQL's own client library.
///
/// The library is loaded when a storage is opened, and not linked: see docs/decisions/0024. All functions are looked up at
/// once, so that there is no call that could find out later that one is missing. Their types are those of `libpq-fe.h`,
/// whose binary interface is that of `libpq.so.5` since PostgreSQL 8.
struct LibPQ: Sendable {
    /// A `PGconn`.
    typealias Connection = OpaquePointer
    /// A `PGresult`.
    typealias Result = OpaquePointer
    /// Where the fields of a `PQconninfoOption` are: six pointers to texts and a number, of which the first and the fourth
    /// are the keyword and the value.
    enum ConnectionOption {
        static let keyword = 0
        static let value = 3 * MemoryLayout<Int>.stride
        static let stride = 7 * MemoryLayout<Int>.stride
    }
    /// Where the payload of a `PGnotify` is: behind a pointer and a number.
    enum Notification {
        static let payload = 2 * MemoryLayout<Int>.stride
    }
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>
    typealias Numbers = UnsafePointer<CInt>

    /// The values of `ConnStatusType`, `PostgresPollingStatusType` and `ExecStatusType` that are told apart.
    enum Status {
        static let ok: CInt = 0
        static let bad: CInt = 1
        static let pollingFailed: CInt = 0
        static let pollingReading: CInt = 1
        static let pollingWriting: CInt = 2
        static let pollingOK: CInt = 3
        static let emptyQuery: CInt = 0
        static let commandOK: CInt = 1
        static let tuplesOK: CInt = 2
        static let pipelineSync: CInt = 10
        static let pipelineAborted: CInt = 11
    }
    /// The fields of an error, `PG_DIAG_…`.
    enum Field {
        static let state = CInt(UInt8(ascii: "C"))
        static let message = CInt(UInt8(ascii: "M"))
    }

    let parse:
        @Sendable @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> UnsafeMutableRawPointer?
    let freeOptions: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
    let freeMemory: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

    let connectStart: @Sendable @convention(c) (Texts, Texts, CInt) -> Connection?
    let connectPoll: @Sendable @convention(c) (Connection) -> CInt
    let status: @Sendable @convention(c) (Connection) -> CInt
    let socket: @Sendable @convention(c) (Connection) -> CInt
    let errorMessage: @Sendable @convention(c) (Connection) -> UnsafePointer<CChar>?
    let serverVersion: @Sendable @convention(c) (Connection) -> CInt
    let setNonblocking: @Sendable @convention(c) (Connection, CInt) -> CInt
    let setNoticeProcessor:
        @Sendable @convention(c) (
            Connection, (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Void)?,
            UnsafeMutableRawPointer?
        ) -> UnsafeMutableRawPointer?
    let finish: @Sendable @convention(c) (Connection) -> Void

    let sendQuery: @Sendable @convention(c) (Connection, UnsafePointer<CChar>) -> CInt
    let sendPrepare:
        @Sendable @convention(c) (
            Connection, UnsafePointer<CChar>, UnsafePointer<CChar>, CInt, UnsafePointer<CUnsignedInt>?
        ) -> CInt
    let sendPrepared:
        @Sendable @convention(c) (
            Connection, UnsafePointer<CChar>, CInt, Texts?, Numbers?, Numbers?, CInt
        ) -> CInt
    let flush: @Sendable @convention(c) (Connection) -> CInt
    let consumeInput: @Sendable @convention(c) (Connection) -> CInt
    let isBusy: @Sendable @convention(c) (Connection) -> CInt
    let result: @Sendable @convention(c) (Connection) -> Result?
    let notification: @Sendable @convention(c) (Connection) -> UnsafeMutableRawPointer?

    let resultStatus: @Sendable @convention(c) (Result) -> CInt
    let errorField: @Sendable @convention(c) (Result, CInt) -> UnsafePointer<CChar>?
    let rowCount: @Sendable @convention(c) (Result) -> CInt
    let columnCount: @Sendable @convention(c) (Result) -> CInt
    let isNull: @Sendable @convention(c) (Result, CInt, CInt) -> CInt
    let value: @Sendable @convention(c) (Result, CInt, CInt) -> UnsafePointer<CChar>?
    let length: @Sendable @convention(c) (Result, CInt, CInt) -> CInt
    let changedCount: @Sendable @convention(c) (Result) -> UnsafePointer<CChar>?
    let clear: @Sendable @convention(c) (Result) -> Void

    /// What sends several statements at once. libpq has it since PostgreSQL 14; without it they go one after the other.
    struct Pipeline: Sendable {
        let enter: @Sendable @convention(c) (Connection) -> CInt
        let sync: @Sendable @convention(c) (Connection) -> CInt
        let exit: @Sendable @convention(c) (Connection) -> CInt
    }
    let pipeline: Pipeline?

    /// A text that a pointer in a struct of the library leads to; nil when there is none.
    static func text(_ struct: UnsafeMutableRawPointer, at offset: Int) -> String? {
        `struct`.load(fromByteOffset: offset, as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
    }
}
