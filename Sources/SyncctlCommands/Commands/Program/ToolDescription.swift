/// What ArgumentParser tells of a program's commands: the parts of its JSON that pages are made of.
struct ToolDescription: Decodable {
    struct Command: Decodable {
        let superCommands: [String]?
        let commandName: String
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool?
        let subcommands: [Command]?
        let arguments: [Argument]?
    }

    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            /// As it is written on a command line.
            var text: String { (kind == "long" ? "--" : "-") + name }
        }
        /// `positional`, `option` or `flag`.
        let kind: String
        let shouldDisplay: Bool
        let sectionTitle: String?
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?
    }

    let command: Command
}
