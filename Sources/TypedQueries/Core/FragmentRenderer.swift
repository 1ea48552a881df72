/// Makes text of the bytes of a ``QueryFragment``.
struct FragmentRenderer {
    /// What becomes of a parameter.
    enum Parameters {
        /// `?`, for the engine.
        case anonymous
        /// `?`, for the engine that takes so many: when half of them are used, literals for the values that have exact ones.
        case limited(Int)
        /// What a function makes of its number.
        case named((Int) -> String)
        /// The value as a literal.
        case literals
    }

    /// The forms that are taken where there is a choice.
    enum Forms {
        /// Those of this process' engine.
        case engine
        /// Those of new engines, for people.
        case native
    }

    /// The text.
    private(set) var text: [UInt8] = []

    /// Which values the parameters have, in their order.
    private(set) var values: [Int] = []

    /// Whether all values are used, each once and in order.
    var isIdentity: Bool { values.count == bindings.count }

    private let bindings: [QueryBinding]
    private let parameters: Parameters
    private let forms: Forms
    /// A table whose columns are qualified by another name than its own.
    private let renamed: (type: any Table.Type, name: String)?
    private var nextValue = 0
    private var hidesValues = false
    private(set) var needs: [EngineNeed] = []

    /// Whether it is a change that must not take values from views of its table.
    private(set) var isUpdateFromViews = false

    /// The tables whose rows' numbers are asked for.
    private(set) var numberedTables: [any Table.Type] = []

    /// What is wrong with a table in which two properties have a column of one name.
    private var sharedColumn: String?

    init(
        _ fragment: QueryFragment, _ parameters: Parameters = .anonymous, _ forms: Forms = .engine,
        renaming renamed: (type: any Table.Type, name: String)? = nil
    ) {
        self.renamed = renamed
        bindings = fragment.bindings
        self.parameters = parameters
        self.forms = forms
        text.reserveCapacity(4 * fragment.code.count)
        render(fragment.code[...])
    }

    /// Throws when the engine lacks what the SQL needs, and when a table has two columns of one name: SQLite takes the first value
    /// of each, and reads it for both.
    ///
    /// - parameter sql: The SQL, for the error.
    /// - throws: A `DatabaseError`.
    func check(sql: String) throws {
        for need in needs { try need.check(sql: sql) }
        guard let sharedColumn else { return }
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: sharedColumn, sql: sql)
    }

    private mutating func render(_ code: ArraySlice<UInt8>) {
        var index = code.startIndex
        while index < code.endIndex {
            let byte = code[index]
            index += 1
            switch byte {
            case QueryFragment.Code.parameter: renderParameter()
            case QueryFragment.Code.tableName, QueryFragment.Code.columns, QueryFragment.Code.tableSource,
                QueryFragment.Code.writableNames, QueryFragment.Code.names:
                renderReference(byte, code[index..<index + 8])
                index += 8
            case QueryFragment.Code.rowNumber:
                if let type = QueryFragment.table(at: code[index..<index + 8]) { numberedTables.append(type) }
                index += 8
            case QueryFragment.Code.elements: index += 8
            case QueryFragment.Code.part: index += 1
            case QueryFragment.Code.literal:
                text.append(code[index])
                index += 1
            case QueryFragment.Code.need:
                note(EngineNeed(rawValue: code[index]))
                index += 1
            case QueryFragment.Code.choice: index = renderChoice(code, index)
            case QueryFragment.Code.naming, QueryFragment.Code.namingEnd: continue
            case QueryFragment.Code.comma: text.append(contentsOf: ", ".utf8)
            default: text.append(byte)
            }
        }
    }

    private mutating func note(_ need: EngineNeed?) {
        guard let need else { return }
        // Only the schema says whether there is a view.
        if need == .updateFromOwnView { isUpdateFromViews = true } else { needs.append(need) }
    }

    private mutating func renderParameter() {
        let value = nextValue
        nextValue += 1
        switch parameters {
        case .anonymous: text.append(UInt8(ascii: "?"))
        case .limited(let limit):
            let isLate = values.count >= limit / 2 && bindings.indices.contains(value)
            if isLate, let literal = bindings[value].exactText { return appendHidden(literal) }
            text.append(UInt8(ascii: "?"))
        case .named(let name): text.append(contentsOf: name(values.count + 1).utf8)
        case .literals:
            text.append(
                contentsOf: (bindings.indices.contains(value) ? bindings[value].debugDescription : "?").utf8)
        }
        values.append(value)
    }

    /// Adds a value as a literal, behind a mark that hides it where the SQL is shown without its arguments.
    private mutating func appendHidden(_ literal: String) {
        if !hidesValues { text.append(contentsOf: ValueRedaction.mark.utf8) }
        hidesValues = true
        text.append(contentsOf: literal.utf8)
    }

    private mutating func renderChoice(_ code: ArraySlice<UInt8>, _ start: Int) -> Int {
        let choice = EngineChoice(rawValue: code[start])
        let native = code.loadCount(start + 1)
        let emulated = code.loadCount(start + 5)
        let nativeValues = code.loadCount(start + 9)
        let emulatedValues = code.loadCount(start + 13)
        let beginning = start + QueryFragment.Code.length(QueryFragment.Code.choice) - 1
        let middle = beginning + native
        if forms == .native || choice?.isSupported ?? true {
            render(code[beginning..<middle])
            nextValue += emulatedValues
        } else {
            nextValue += nativeValues
            render(code[middle..<middle + emulated])
        }
        return middle + emulated
    }

    // MARK: Tables

    private mutating func renderReference(_ kind: UInt8, _ address: ArraySlice<UInt8>) {
        guard let type = QueryFragment.table(at: address) else { return }
        // By its name alone, columns of a table are named one by one.
        if kind != QueryFragment.Code.tableName, sharedColumn == nil { sharedColumn = type.sharedColumn }
        switch kind {
        case QueryFragment.Code.tableName:
            quote(qualifier(of: type))
        case QueryFragment.Code.columns: renderColumns(type)
        case QueryFragment.Code.tableSource: renderSource(type)
        default:
            let names = kind == QueryFragment.Code.names ? type.allColumnNames : type.writableColumnNames
            for (index, column) in names.enumerated() {
                if index > 0 { text.append(contentsOf: ", ".utf8) }
                quote(column)
            }
        }
    }

    private func qualifier(of type: any Table.Type) -> String {
        if let renamed, renamed.type == type { return renamed.name }
        return type.tableAlias ?? type.tableName
    }

    private mutating func renderColumns(_ type: any Table.Type) {
        for (index, column) in type.allColumnNames.enumerated() {
            if index > 0 { text.append(contentsOf: ", ".utf8) }
            quote(qualifier(of: type))
            text.append(UInt8(ascii: "."))
            quote(column)
        }
    }

    private mutating func renderSource(_ type: any Table.Type) {
        let source = FragmentRenderer(type.tableFragment, .literals, forms)
        text.append(contentsOf: source.text)
        guard let alias = type.tableAlias else { return }
        text.append(contentsOf: " AS ".utf8)
        quote(alias)
    }

    private mutating func quote(_ name: String) {
        text.append(UInt8(ascii: "\""))
        for byte in name.utf8 {
            if byte == UInt8(ascii: "\"") { text.append(byte) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }
}

extension ArraySlice<UInt8> {
    fileprivate func loadCount(_ index: Int) -> Int { Int(load(UInt32.self, index)) }
}

extension QueryFragment {
    /// The type that a reference is to.
    static func table(at address: ArraySlice<UInt8>) -> (any Table.Type)? {
        let address = address.withUnsafeBytes { $0.loadUnaligned(as: UInt.self) }
        // Only `append(_:_:)` writes references: the bits are those of a metatype, which lives forever.
        let type = unsafeBitCast(address, to: Any.Type.self)
        return type as? any Table.Type
    }

    /// The SQL with placeholders, and the values of these.
    ///
    /// - parameter placeholder: Makes the placeholder of a parameter, counted from 1.
    public func prepare(_ placeholder: (_ offset: Int) -> String) -> (sql: String, bindings: [QueryBinding]) {
        withoutActuallyEscaping(placeholder) { placeholder in
            let renderer = FragmentRenderer(self, .named(placeholder))
            return (
                String(decoding: renderer.text, as: UTF8.self), renderer.values.map { bindings[$0] }
            )
        }
    }
}

extension QueryFragment: CustomDebugStringConvertible {
    /// The SQL with its values as literals, for people. It is not meant to be run.
    public var debugDescription: String {
        String(decoding: FragmentRenderer(self, .literals, .native).text, as: UTF8.self)
    }
}
