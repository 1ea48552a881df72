import SwiftSyntax

/// What `@DatabaseFunction` needs to know of a function or a computed property.
struct DatabaseFunctionModel {
    struct Parameter {
        /// The label of a call in Swift; nil for `_`.
        let label: String?
        let name: DeclaredName
        /// What the function takes.
        let type: TypeSyntax
        /// How SQLite stores it.
        let representation: TypeSyntax
        let defaultValue: ExprSyntax?
    }

    enum Form {
        /// Called once a row, with a value for each parameter.
        case scalar([Parameter])
        /// Called once a group, with a sequence of what each row has: one value, or a tuple of several.
        case aggregate(Parameter, elements: [Parameter])
        /// A computed property: a function without parameters that a query names without parentheses.
        case property
    }

    /// The name in Swift.
    let name: DeclaredName
    /// The name in SQL.
    let sqlName: String
    let form: Form
    /// What the function returns; nil for `Void`.
    let output: TypeSyntax?
    let outputRepresentation: TypeSyntax?
    /// Whether equal arguments give equal results; the source of the argument.
    let isDeterministic: ExprSyntax
    let isThrowing: Bool
    let isStatic: Bool
    /// Whether it is called on an instance.
    let isOfInstance: Bool
    let access: Access
}
