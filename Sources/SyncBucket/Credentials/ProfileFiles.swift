import Foundation

/// A profile of the files that other programs for buckets have: `~/.aws/credentials` and `~/.aws/config`.
public struct ProfileFiles: Sendable {
    /// The name of the profile.
    public let name: String
    /// The values of the profile; those of the file of credentials go first.
    private let values: [String: String]

    private static let byteCountMax = 1 << 20

    /// Reads a profile.
    ///
    /// - parameters:
    ///     - environment: `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE` name other files, `HOME` the folder of the
    ///       usual ones, and `AWS_PROFILE` the profile.
    ///     - profile: The profile; nil for that of the environment, or `default`.
    /// - throws: ``BucketError``: `invalidCredentials` for a file that can't be read; `noCredentials` when neither file
    ///   has the profile that was named.
    public init(environment: [String: String], profile: String? = nil) throws {
        let given = profile ?? environment["AWS_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        name = given ?? "default"
        let home = environment["HOME"] ?? ""
        let credentials = environment["AWS_SHARED_CREDENTIALS_FILE"] ?? home + "/.aws/credentials"
        let configuration = environment["AWS_CONFIG_FILE"] ?? home + "/.aws/config"
        let first = try Self.sections(ofFile: credentials)[name]
        // In this file, all sections but one have a word before the name.
        let sections = try Self.sections(ofFile: configuration)
        let second = sections["profile \(name)"] ?? (name == "default" ? sections[name] : nil)
        if let given, first == nil, second == nil {
            throw BucketError(
                .noCredentials, "there is no profile \(given) in \(credentials) or \(configuration)",
                hint: "look at its name, or add it to \(credentials)")
        }
        values = (second ?? [:]).merging(first ?? [:]) { _, new in new }
    }

    /// The credentials that the profile holds itself; nil when it holds none.
    func credentials() throws -> BucketCredentials? {
        guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else {
            return nil
        }
        return try BucketCredentials(
            keyID: id, secretKey: secret, sessionToken: values["aws_session_token"])
    }

    /// The command that prints credentials.
    var command: String? { values["credential_process"] }

    /// The region that the profile names.
    public var region: String? { values["region"] }

    /// The endpoint that the profile names.
    public var endpoint: String? { values["endpoint_url"] }

    /// The sections of a file; none when there is no file.
    private static func sections(ofFile path: String) throws -> [String: [String: String]] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        let wrong = BucketError(
            .invalidCredentials, "\(path): cannot be read", hint: "may this user read it?")
        guard let handle = FileHandle(forReadingAtPath: path) else { throw wrong }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: byteCountMax + 1) ?? Data(),
            data.count <= byteCountMax, let text = String(data: data, encoding: .utf8)
        else { throw wrong }
        return parse(text)
    }

    /// Reads text of lines `[section]` and `name = value`. Values of nested sections, which are indented, are left out.
    static func parse(_ text: String) -> [String: [String: String]] {
        var sections: [String: [String: String]] = [:]
        var section: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let isIndented = line.first?.isWhitespace == true
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                let words = line[line.index(after: line.startIndex)..<end].split(
                    whereSeparator: \.isWhitespace)
                section = words.joined(separator: " ")
                section.map { sections[$0] = sections[$0] ?? [:] }
            } else if !isIndented, let section, let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingCharacters(in: .whitespaces).lowercased()
                let value = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
                if !value.isEmpty { sections[section]?[name] = value }
            }
        }
        return sections
    }
}
