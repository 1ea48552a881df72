/// A tokenizer of your own for ``FTS5``, which works on the bytes of the text.
///
/// Most tokenizers change what another one finds: see ``FTS5WrapperTokenizer``.
///
/// Register it on all connections, and use it in tables:
///
/// ```swift
/// configuration.prepareDatabase { db in
///     db.add(tokenizer: StopWordsTokenizer.self)
/// }
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = StopWordsTokenizer.tokenizerDescriptor()
///     t.column("content")
/// }
/// ```
///
/// Any connection that uses such a table needs the tokenizer: other programs
/// can't read or write it.
public protocol FTS5CustomTokenizer: FTS5Tokenizer {
    /// The name of the tokenizer, which is none of `ascii`, `porter`,
    /// `trigram` and `unicode61`.
    static var name: String { get }

    /// Makes a tokenizer for a table.
    ///
    /// - parameters:
    ///     - db: The connection.
    ///     - arguments: The arguments that the table was created with.
    /// - throws: An error that makes the access to the table fail.
    init(db: Database, arguments: [String]) throws
}

extension FTS5CustomTokenizer {
    /// Returns the tokenizer for the definition of a table.
    ///
    /// - parameter arguments: What the tokenizer's initializer gets.
    public static func tokenizerDescriptor(arguments: [String] = []) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: [name] + arguments)
    }
}

/// A tokenizer of your own for ``FTS5`` that changes the tokens of another one.
///
/// ```swift
/// final class StopWordsTokenizer: FTS5WrapperTokenizer {
///     static let name = "stopwords"
///     let wrappedTokenizer: any FTS5Tokenizer
///
///     init(db: Database, arguments: [String]) throws {
///         wrappedTokenizer = try db.makeTokenizer(.unicode61())
///     }
///
///     func accept(
///         token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
///         tokenCallback: FTS5WrapperTokenCallback
///     ) throws {
///         if !["a", "the"].contains(token) { try tokenCallback(token, flags) }
///     }
/// }
/// ```
public protocol FTS5WrapperTokenizer: FTS5CustomTokenizer {
    /// The tokenizer that finds the tokens.
    var wrappedTokenizer: any FTS5Tokenizer { get }

    /// Takes a token, and hands out none, one or several in its place.
    ///
    /// - parameters:
    ///     - token: The token.
    ///     - flags: What the wrapped tokenizer told about it. Hand them on, with
    ///       ``FTS5TokenFlags/colocated`` for each synonym after the first.
    ///     - tokenization: Why the text is tokenized. Make synonyms for one of
    ///       queries and documents only.
    ///     - tokenCallback: Takes a token. Don't catch its errors.
    /// - throws: What the callback throws, or an error that makes the statement fail.
    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws
}

/// What takes the tokens of an ``FTS5WrapperTokenizer``.
public typealias FTS5WrapperTokenCallback = (_ token: String, _ flags: FTS5TokenFlags) throws -> Void

extension FTS5WrapperTokenizer {
    /// Has the wrapped tokenizer find the tokens, and
    /// ``accept(token:flags:for:tokenCallback:)`` change them.
    public func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt, tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        var wrapping = Wrapping(
            tokenizer: self, tokenization: tokenization, context: context, callback: tokenCallback)
        return withUnsafeMutablePointer(to: &wrapping) { wrapping in
            wrappedTokenizer.tokenize(
                context: wrapping, tokenization: tokenization, pText: pText, nText: nText
            ) { wrapping, flags, token, count, start, end in
                guard let wrapping = wrapping?.assumingMemoryBound(to: Wrapping.self) else {
                    return ResultCode.SQLITE_MISUSE.rawValue
                }
                return wrapping.pointee.accept(
                    String(token: token, count: count), FTS5TokenFlags(rawValue: flags), start, end)
            }
        }
    }
}

/// One tokenization by a wrapper.
private struct Wrapping {
    let tokenizer: any FTS5WrapperTokenizer
    let tokenization: FTS5Tokenization
    let context: UnsafeMutableRawPointer?
    let callback: FTS5TokenCallback

    func accept(_ token: String, _ flags: FTS5TokenFlags, _ start: CInt, _ end: CInt) -> CInt {
        // A code of the callback ends the tokenization, whatever becomes of the error.
        var code = ResultCode.SQLITE_OK.rawValue
        do {
            try tokenizer.accept(token: token, flags: flags, for: tokenization) { token, flags in
                if code == ResultCode.SQLITE_OK.rawValue {
                    code = handOut(token, flags, start, end)
                }
                guard code == ResultCode.SQLITE_OK.rawValue else {
                    throw DatabaseError(resultCode: ResultCode(rawValue: code))
                }
            }
        } catch  where code == ResultCode.SQLITE_OK.rawValue {
            return error.failureCode
        } catch {}
        return code
    }

    private func handOut(_ token: String, _ flags: FTS5TokenFlags, _ start: CInt, _ end: CInt) -> CInt {
        var token = token
        return token.withUTF8 { utf8 in
            // FTS5 knows tokens of no bytes, but no address for them.
            guard let bytes = utf8.baseAddress, utf8.count > 0 else { return ResultCode.SQLITE_OK.rawValue }
            return bytes.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
                callback(context, flags.rawValue, $0, CInt(clamping: utf8.count), start, end)
            }
        }
    }
}

extension Error {
    /// The code by which SQLite learns of the error, which is that of no success.
    var failureCode: CInt {
        let code = (self as? DatabaseError)?.extendedResultCode ?? .SQLITE_ERROR
        return [.SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE].contains(code)
            ? ResultCode.SQLITE_ERROR.rawValue : code.rawValue
    }
}
