import Foundation

extension Row {
    /// Calls a function with a blob that is not copied.
    ///
    /// - parameters:
    ///     - index: The position of the column.
    ///     - body: Gets the data, which must not leave it, or nil for NULL.
    /// - returns: What the function returns.
    /// - throws: ``RowDecodingError`` when the value is no data; what the function throws.
    public func withUnsafeData<T>(atIndex index: Int, _ body: (Data?) throws -> T) throws -> T {
        checkIndex(index)
        if hasNull(atIndex: index) { return try body(nil) }
        guard let source = source(atIndex: index),
            RawColumn.storageClass(source.statement, source.index) == RawColumn.blobClass
        else { return try body(decode(Data.self, atIndex: index)) }
        let bytes = RawColumn.blob(source.statement, source.index)
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return try body(Data()) }
        // It is only read: to change the data, one has to copy it first.
        let pointer = UnsafeMutableRawPointer(mutating: start)
        return try body(Data(bytesNoCopy: pointer, count: bytes.count, deallocator: .none))
    }

    /// Calls a function with a blob that is not copied.
    ///
    /// - parameters:
    ///     - name: The name of the column.
    ///     - body: Gets the data, which must not leave it, or nil when it is NULL or missing.
    /// - returns: What the function returns.
    /// - throws: ``RowDecodingError`` when the value is no data; what the function throws.
    public func withUnsafeData<T>(named name: String, _ body: (Data?) throws -> T) throws -> T {
        guard let index = index(ofColumn: name) else { return try body(nil) }
        return try withUnsafeData(atIndex: index, body)
    }

    /// Calls a function with a blob that is not copied: see ``withUnsafeData(named:_:)``,
    /// which has the name of the other accessors.
    public func withUnsafeData<T>(name: String, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeData(named: name, body)
    }
}
