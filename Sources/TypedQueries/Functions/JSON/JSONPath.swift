/// A place in a JSON value: `$.links[0].url`.
///
/// It is written as a key path of the Swift type:
///
/// ```swift
/// struct Profile: Codable { var name: String; var links: [Link] }
///
/// $0.profile.jsonExtract(\.links[0].url)    // json_extract("users"."profile", '$.links[0].url')
/// ```
///
/// The names are those of the stored properties. A type whose coding keys are others conforms to ``JSONNamed``. A path
/// with a name that can't be found out, such as that of a computed property, makes the statement fail.
@dynamicMemberLookup
public struct JSONPath<Value>: Hashable, Sendable {
    // Names that the properties of other types hardly have, for they would hide them.

    /// The path as SQLite reads it.
    let pathText: String

    /// Why there is none.
    let pathError: QueryBindingError?

    /// The place of the whole value: `$`.
    public init() { self.init(text: "$", error: nil) }

    /// A place by SQLite's text for it.
    ///
    /// - parameter text: Such as `$.links[0].url`: <https://sqlite.org/json1.html#path_arguments>
    public init(_ text: String) { self.init(text: text, error: nil) }

    private init(text: String, error: QueryBindingError?) {
        pathText = text
        pathError = error
    }

    private func member<Root, Other>(_ keyPath: KeyPath<Root, some Any>) -> JSONPath<Other> {
        guard let name = JSONPropertyName.of(keyPath) else {
            let reason = QueryBindingError(
                "the name of a property of \(Root.self) is not known; let the type conform to JSONNamed")
            return JSONPath<Other>(text: pathText, error: pathError ?? reason)
        }
        return JSONPath<Other>(text: pathText + "." + JSONPropertyName.quoted(name), error: pathError)
    }

    /// The place of a property.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> JSONPath<Member> {
        member(keyPath)
    }

    /// The place of a property of an optional.
    public subscript<Wrapped, Member>(dynamicMember keyPath: KeyPath<Wrapped, Member>) -> JSONPath<Member?>
    where Value == Wrapped? { member(keyPath) }

    /// The place of an element of an array.
    ///
    /// - parameter index: Its position, from 0; from the end when it is negative: -1 is the last.
    public subscript<Element>(index: Int) -> JSONPath<Element> where Value == [Element] {
        JSONPath<Element>(text: pathText + (index < 0 ? "[#\(index)]" : "[\(index)]"), error: pathError)
    }

    /// The place of an element of an array that is optional.
    public subscript<Element>(index: Int) -> JSONPath<Element?> where Value == [Element]? {
        JSONPath<Element?>(text: pathText + (index < 0 ? "[#\(index)]" : "[\(index)]"), error: pathError)
    }

    /// The place of a value of a dictionary.
    public subscript<Element>(key key: String) -> JSONPath<Element> where Value == [String: Element] {
        JSONPath<Element>(text: pathText + "." + JSONPropertyName.quoted(key), error: pathError)
    }

    /// The place behind the last element of an array.
    func appended<Element>() -> JSONPath<Element> where Value == [Element] {
        JSONPath<Element>(text: pathText + "[#]", error: pathError)
    }

    /// Adds the path as a parameter.
    func write(to fragment: inout QueryFragment) {
        fragment.append(binding: pathError.map { .invalid($0) } ?? .text(pathText))
    }
}

/// A place in a JSON value, as a key path: `\.links[0].url`.
public typealias JSONKeyPath<Root, Value> = KeyPath<JSONPath<Root>, JSONPath<Value>>

/// A type whose coding keys are not the names of its properties. One with `@Table` or `@Selection`, whose coding keys are
/// nested in it, need not say so.
///
/// ```swift
/// extension Profile: JSONNamed {
///     static func jsonName(of keyPath: PartialKeyPath<Profile>) -> String? {
///         keyPath == \.name ? "full_name" : nil
///     }
/// }
/// ```
public protocol JSONNamed {
    /// The name of a property in JSON, or nil when it is that of the property.
    static func jsonName(of keyPath: PartialKeyPath<Self>) -> String?
}

/// The names of properties in JSON.
enum JSONPropertyName {
    static func of<Root>(_ keyPath: KeyPath<Root, some Any>) -> String? {
        if let named = Root.self as? any JSONNamed.Type, let name = own(named, keyPath) { return name }
        // `\Profile.name`; what is computed is `<computed 0x…>`.
        let description = keyPath.debugDescription
        guard let dot = description.lastIndex(of: ".") else { return nil }
        let name = description[description.index(after: dot)...]
        guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { return nil }
        let table = Root.self as? any Table.Type
        return table?.nameInJSON(ofProperty: String(name)) ?? String(name)
    }

    private static func own<Named: JSONNamed>(_ type: Named.Type, _ keyPath: AnyKeyPath) -> String? {
        (keyPath as? PartialKeyPath<Named>).flatMap { type.jsonName(of: $0) }
    }

    /// A name in a path, between quotes where it needs them.
    static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        if isPlain, !name.isEmpty { return name }
        let escaped = name.escaping(["\"", "\\"])
        return "\"\(escaped)\""
    }
}

extension Table {
    fileprivate static func nameInJSON(ofProperty property: String) -> String? {
        TableColumns.columnList.nameInJSON(ofProperty: property)
    }
}
