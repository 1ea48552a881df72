/// Makes a Swift function callable in queries, by its name with a dollar sign.
///
/// ```swift
/// @DatabaseFunction(isDeterministic: true)
/// func folded(_ text: String) -> String { text.lowercased() }
///
/// configuration.prepareDatabase { db in db.add(function: $folded) }
/// Book.where { $folded($0.title).eq("dune") }
/// // SELECT … FROM "books" WHERE ("folded"("books"."title")) = (?)
/// ```
///
/// A function with one parameter `some Sequence<Element>` is an aggregate: it gets what each row of a group has. With
/// tuples as elements it has several arguments. A computed property is a function without arguments, which queries name
/// without parentheses.
///
/// SQLite calls it on the thread of the connection, without an instance: a member must be `static`, and in a module
/// whose default is the main actor it must be `nonisolated`.
///
/// - parameters:
///     - name: The name in SQL; that of the function by default.
///     - representation: How the arguments and the result are stored, where it isn't as their types do:
///       `((Date.UnixTimeRepresentation) -> Int).self`.
///     - isDeterministic: Whether the result depends on the arguments only.
@attached(peer, names: prefixed(`$`))
public macro DatabaseFunction(
    _ name: String = "", as representation: Any.Type? = nil, isDeterministic: Bool = false
) = #externalMacro(module: "CipherStoreMacros", type: "DatabaseFunctionMacro")
