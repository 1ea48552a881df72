import SwiftSyntax

/// Writes what stands for a function in queries: a type that calls it, and a property with its only value.
struct DatabaseFunctionEmission {
    private let model: DatabaseFunctionModel
    private let type: String
    /// The lines before both that say where the function is available.
    private let availability: String
    private var library: String { Library.name }

    init(_ model: DatabaseFunctionModel, type: String, availability: String) {
        self.model = model
        self.type = type
        self.availability = availability
    }

    /// `$name`.
    var projection: String {
        let isStatic = model.isStatic ? "static " : ""
        return """
            \(availability)\(model.access.peerWord)nonisolated \(isStatic)var $\(model.name.text): \(type) {
                \(type)(body: \(body))
            }
            """
    }

    /// The function as a closure. It is named here, where its own name means it.
    private var body: String {
        let name = (model.isOfInstance ? "self." : "") + model.name.source
        let attempt = model.isThrowing ? "try " : ""
        switch model.form {
        case .scalar(let parameters):
            let values = parameters.indices.map { "p\($0)" }
            let arguments = zip(parameters, values).map { parameter, value in
                parameter.label.map { "\(DeclaredName(text: $0).label): \(value)" } ?? value
            }
            let heading = values.isEmpty ? "" : " \(values.joined(separator: ", ")) in"
            return "{\(heading) \(attempt)\(name)(\(arguments.joined(separator: ", "))) }"
        case .aggregate(let sequence, _):
            let label = sequence.label.map { "\(DeclaredName(text: $0).label): " } ?? ""
            return "{ rows in \(attempt)\(name)(\(label)rows) }"
        case .property:
            return "{ \(attempt)\(name) }"
        }
    }

    var declaration: String {
        let access = model.access.word
        return """
            \(availability)\(model.access.peerWord)nonisolated struct \(type): \(protocols) {
                \(access)typealias Output = \(output)
                \(access)let name = \(model.sqlName.literal)
                \(access)var isDeterministic: Bool { \(model.isDeterministic) }
                \(access)var argumentCount: Int {
                    \(argumentCount)
                }
                let body: \(bodyType)
                \(members)
            }
            """
    }

    private var output: String { model.outputRepresentation?.trimmedDescription ?? "Swift.Void" }

    private var protocols: String {
        switch model.form {
        case .scalar: "\(library).ScalarDatabaseFunction"
        case .aggregate: "\(library).AggregateDatabaseFunction"
        case .property: "\(library).ScalarDatabaseFunction, \(library).QueryExpression"
        }
    }

    /// The parameters of the call in SQL.
    private var columns: [DatabaseFunctionModel.Parameter] {
        switch model.form {
        case .scalar(let parameters): parameters
        case .aggregate(_, let elements): elements
        case .property: []
        }
    }

    private var argumentCount: String {
        let steps = columns.map { "count += \($0.representation.trimmedDescription).columnWidth" }
        return steps.isEmpty ? "0" : (["var count = 0"] + steps + ["return count"]).joined(separator: "\n")
    }

    private var bodyType: String {
        let result = model.output?.trimmedDescription ?? "Swift.Void"
        switch model.form {
        case .scalar(let parameters):
            let types = parameters.map { Self.bodyType(of: $0.type) }.joined(separator: ", ")
            return "@Sendable (\(types)) throws -> \(result)"
        case .aggregate(let sequence, _):
            return "@Sendable ([\(sequence.type.trimmedDescription)]) throws -> \(result)"
        case .property:
            return "@Sendable () throws -> \(result)"
        }
    }

    /// A closure's parameter has no `@escaping`, and a function's has no more than its type here.
    private static func bodyType(of type: TypeSyntax) -> String {
        (type.as(AttributedTypeSyntax.self)?.baseType ?? type).trimmedDescription
    }

    private var members: String {
        switch model.form {
        case .scalar: ([call] + [plainCall].compactMap { $0 } + [invocation]).joined(separator: "\n")
        case .aggregate(let sequence, _): [aggregateCall, step(sequence), result].joined(separator: "\n")
        case .property: [call, property, invocation].joined(separator: "\n")
        }
    }
}

/// The members of the type.
extension DatabaseFunctionEmission {
    private var parameters: [String] {
        columns.enumerated().map { index, parameter in
            let label = parameter.label.map { DeclaredName(text: $0).label } ?? "_"
            let representation = parameter.representation.trimmedDescription
            let value = parameter.defaultValue.map {
                " = \(library).BindQueryExpression(\($0.trimmedDescription), as: \(representation).self)"
            }
            return "\(label) p\(index): some \(library).QueryExpression<\(representation)>\(value ?? "")"
        }
    }

    private var arguments: String {
        "[" + columns.indices.map { "p\($0)" }.joined(separator: ", ") + "]"
    }

    private var call: String {
        """
        \(model.access.word)func callAsFunction(
            \(parameters.joined(separator: ",\n    "))
        ) -> some \(library).QueryExpression<\(output)> {
            \(library).DatabaseFunctionCall<\(output)>(name, \(arguments))
        }
        """
    }

    /// The call as SQL writes it, without labels; nil where the call has none.
    private var plainCall: String? {
        guard columns.contains(where: { $0.label != nil }) else { return nil }
        let parameters = columns.enumerated().map { index, parameter in
            "_ p\(index): some \(library).QueryExpression<\(parameter.representation.trimmedDescription)>"
        }
        return """
            @_disfavoredOverload
            \(model.access.word)func callAsFunction(
                \(parameters.joined(separator: ",\n    "))
            ) -> some \(library).QueryExpression<\(output)> {
                \(library).DatabaseFunctionCall<\(output)>(name, \(arguments))
            }
            """
    }

    private var property: String {
        """
        \(model.access.word)typealias QueryValue = \(output)
        \(model.access.word)var queryFragment: \(library).QueryFragment { callAsFunction().queryFragment }
        """
    }

    private var invocation: String {
        let steps = columns.enumerated().map { index, parameter in
            "let p\(index) = try decoder.value(\(parameter.representation.trimmedDescription).self)"
        }
        let values = columns.indices.map { "p\($0)" }.joined(separator: ", ")
        return """
            \(model.access.word)func invoke(
                _ decoder: inout some \(library).QueryDecoder
            ) throws -> \(library).QueryBinding {
                \(steps.joined(separator: "\n"))
                \(returning("try body(\(values))"))
            }
            """
    }

    private func returning(_ value: String) -> String {
        model.output == nil
            ? "\(value)\nreturn .null" : "return \(library).QueryBinding(\(value), as: \(output).self)"
    }

    private var aggregateCall: String {
        let all =
            parameters + [
                "distinct isDistinct: Swift.Bool = false",
                "filter: (some \(library).QueryExpression<Swift.Bool>)? = Swift.Bool?.none",
            ]
        return """
            \(model.access.word)func callAsFunction(
                \(all.joined(separator: ",\n    "))
            ) -> some \(library).QueryExpression<\(output)> {
                \(library).DatabaseFunctionCall<\(output)>(
                    name, \(arguments), isDistinct: isDistinct, filter: filter
                )
            }
            """
    }

    private func step(_ sequence: DatabaseFunctionModel.Parameter) -> String {
        let values = columns.map { column in
            let read = "try decoder.value(\(column.representation.trimmedDescription).self)"
            return column.label.map { "\(DeclaredName(text: $0).label): \(read)" } ?? read
        }
        let element = columns.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))"
        return """
            \(model.access.word)func step(
                _ decoder: inout some \(library).QueryDecoder
            ) throws -> \(sequence.type.trimmedDescription) {
                \(element)
            }
            """
    }

    private var result: String {
        guard case .aggregate(let sequence, _) = model.form else { return "" }
        return """
            \(model.access.word)func invoke(
                _ rows: [\(sequence.type.trimmedDescription)]
            ) throws -> \(library).QueryBinding {
                \(returning("try body(rows)"))
            }
            """
    }
}
