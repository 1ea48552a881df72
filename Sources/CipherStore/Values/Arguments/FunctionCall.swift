import CSQLCipher
import Foundation

/// One call of an SQL function: its arguments and its result.
///
/// It is valid until the function returns.
struct FunctionCall {
    private let context: OpaquePointer?
    private let arguments: UnsafeMutableBufferPointer<OpaquePointer?>

    /// Whether a function of JSON returns it in its binary form.
    var returnsJSONB = false

    init(_ context: OpaquePointer?, _ count: CInt, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        self.context = context
        self.arguments = UnsafeMutableBufferPointer(start: arguments, count: Int(count))
    }

    // MARK: Arguments

    var argumentCount: Int { arguments.count }

    /// An argument, to be decoded without a copy.
    subscript(index: Int) -> RawValue { RawValue(value: arguments[index]) }

    /// The mark that another function left on its result, 0 if none.
    func subtype(_ index: Int) -> CUnsignedInt { sqlite3_value_subtype(arguments[index]) }

    /// Copies all arguments.
    var databaseValues: [DatabaseValue] {
        [DatabaseValue](unsafeUninitializedCapacity: arguments.count) { values, count in
            for index in arguments.indices {
                values.initializeElement(at: index, to: DatabaseValue(RawValue(value: arguments[index])))
            }
            count = arguments.count
        }
    }

    // MARK: Result

    func returnNull() { sqlite3_result_null(context) }

    func returnInt64(_ value: Int64) { sqlite3_result_int64(context, value) }

    func returnDouble(_ value: Double) { sqlite3_result_double(context, value) }

    func returnText(_ value: String) {
        var value = value
        value.withUTF8 { returnText(UnsafeRawBufferPointer($0)) }
    }

    func returnText(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Int(CInt.max) else { return sqlite3_result_error_toobig(context) }
        csqlcipher_result_text(
            context, bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1), CInt(bytes.count))
    }

    func returnBlob(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Int(CInt.max) else { return sqlite3_result_error_toobig(context) }
        csqlcipher_result_blob(context, bytes.baseAddress, CInt(bytes.count))
    }

    func returnValue(_ value: DatabaseValue) {
        switch value.content {
        case .null: returnNull()
        case .int64(let value): returnInt64(value)
        case .double(let value): returnDouble(value)
        case .string(let value): returnText(value)
        case .blob(let value): value.withUnsafeBytes { returnBlob($0) }
        case .sixteenBytes(let first, let second): withUnsafeBytes(of: (first, second)) { returnBlob($0) }
        case .unencodable(let value): sqlite3_result_error(context, value.message, -1)
        }
    }

    /// Returns an argument as it is.
    func returnArgument(_ index: Int) { sqlite3_result_value(context, arguments[index]) }

    /// Marks the result for other functions.
    func markResult(subtype: CUnsignedInt) { sqlite3_result_subtype(context, subtype) }

    /// Makes the statement fail with a code and a message.
    func fail(_ error: any Error) {
        if let error = error as? DatabaseError {
            sqlite3_result_error(context, error.message ?? "", -1)
            // With the code of a success, SQLite would take the message for the result, or never end.
            let successes: [ResultCode] = [.SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE]
            let isFailure = !successes.contains(error.resultCode)
            sqlite3_result_error_code(context, isFailure ? error.extendedResultCode.rawValue : SQLITE_ERROR)
        } else {
            let description = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            sqlite3_result_error(context, description, -1)
        }
    }

    func run(_ body: (FunctionCall) throws -> Void) {
        do {
            try body(self)
        } catch {
            fail(error)
        }
    }

    // MARK: Aggregates

    /// The object that keeps the state of an aggregation.
    ///
    /// - parameter make: Makes it at the first step.
    func aggregateState(orMake make: () -> any AggregateState) -> any AggregateState {
        guard let memory = aggregateMemory(size: CInt(MemoryLayout<UnsafeRawPointer?>.size)) else {
            return make()
        }
        if let pointer = memory.pointee {
            return Unmanaged<AggregateBox>.fromOpaque(pointer).takeUnretainedValue().state
        }
        let box = AggregateBox(make())
        memory.pointee = UnsafeRawPointer(Unmanaged.passRetained(box).toOpaque())
        return box.state
    }

    /// Takes the object out, or returns nil when there was no step.
    func takeAggregateState() -> (any AggregateState)? {
        guard let memory = aggregateMemory(size: 0), let pointer = memory.pointee else { return nil }
        memory.pointee = nil
        return Unmanaged<AggregateBox>.fromOpaque(pointer).takeRetainedValue().state
    }

    private func aggregateMemory(size: CInt) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
        sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: UnsafeRawPointer?.self)
    }

    /// The object that the function was registered with.
    func registered<Object: AnyObject>(_ type: Object.Type) -> Object? {
        sqlite3_user_data(context).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// What an aggregation has seen so far.
protocol AggregateState: AnyObject {
    /// Takes the arguments of one row.
    func step(_ call: FunctionCall) throws
    /// Returns the result.
    func finalize(_ call: FunctionCall) throws
}

/// A reference to a state, of one pointer's size.
private final class AggregateBox {
    let state: any AggregateState

    init(_ state: any AggregateState) { self.state = state }
}

extension RawValue {
    /// The value of a function's argument.
    init(value: OpaquePointer?) { self.value = value }
}

extension DatabaseValue {
    /// Copies the value of a function's argument.
    init(_ value: RawValue) {
        switch value.storageClass {
        case RawColumn.nullClass: self = .null
        case RawColumn.integerClass: self.init(storage: .int64(value.int64))
        case RawColumn.realClass: self.init(storage: .double(value.double))
        case RawColumn.textClass: self.init(storage: .string(value.string))
        default: self.init(bytes: value.blob)
        }
    }
}
