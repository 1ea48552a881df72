import ArgumentParser
import CipherStore
import Foundation

/// Writes manual pages.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the manual pages, one for each command.",
        usage: "syncctl manual --to <folder> [<options>]",
        discussion: """
            The pages hold what the help of the commands says. Where man(1) looks is shown by: manpath

            EXAMPLES:
              syncctl manual --to ~/.local/share/man/man1
              man syncctl-sync
            """)

    @Option(
        help: ArgumentHelp("The folder; made when it is not there.", valueName: "folder"),
        completion: .directory)
    var to: String

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let to: String
        let pages: [String]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try FileReplacement.requireNoOwner(of: to)
            var isFolder: ObjCBool = false
            guard !FileManager.default.fileExists(atPath: to, isDirectory: &isFolder) || isFolder.boolValue
            else {
                throw Failure("\(to): it is a file, and no folder", hints: ["name another folder"])
            }
            let root = try RootCommand.require()
            let tool = try JSONDecoder().decode(ToolDescription.self, from: Data(root._dumpHelp().utf8))
            let pages = ManualPage.pages(of: tool.command, version: CommandLineProgram.version)
            do {
                try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
                for page in pages {
                    let url = URL(fileURLWithPath: to).appendingPathComponent(page.name)
                    try Data(page.text.utf8).write(to: url, options: .atomic)
                }
            } catch let error as CocoaError {
                throw Failure("cannot write to \(to): \(error.systemText)")
            }
            try context.print(
                Document(to: to, pages: pages.map(\.name)),
                text: "wrote \(HumanFormat.count(pages.count, "page")) to \(to)")
            return .success
        }
    }
}
