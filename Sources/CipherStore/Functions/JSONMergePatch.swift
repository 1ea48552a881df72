/// Merges a patch into a JSON text.
///
/// Source: RFC 7396, "JSON Merge Patch", <https://www.rfc-editor.org/rfc/rfc7396>
enum JSONMergePatch {
    private struct Member {
        let name: ArraySlice<UInt8>
        /// Nil when the patch removed it.
        var value: ArraySlice<UInt8>?

        func isNamed(_ name: [UInt8]) -> Bool {
            JSONString.unescaped(self.name.dropFirst().dropLast()) == name
        }
    }

    static func apply(_ patch: JSONText, to target: JSONText) -> [UInt8] {
        Array(merge(target, 0, patch, 0))
    }

    /// The depth of the recursion is bounded by ``JSONText/maximumDepth``.
    private static func merge(
        _ target: JSONText, _ targetNode: Int?, _ patch: JSONText, _ patchNode: Int
    ) -> ArraySlice<UInt8> {
        guard patch.nodes[patchNode].kind == .object else { return patch.text(of: patchNode) }
        var members: [Member] = []
        var nodes: [Int?] = []
        var indexes: [[UInt8]: Int] = [:]
        if let targetNode, target.nodes[targetNode].kind == .object {
            for label in target.children(of: targetNode) {
                // Of members with the same name, the first is the one that is patched.
                let name = target.name(label)
                if indexes[name] == nil { indexes[name] = members.count }
                members.append(Member(name: target.text(of: label), value: target.text(of: label + 1)))
                nodes.append(label + 1)
            }
        }
        for label in patch.children(of: patchNode) {
            let name = patch.name(label)
            let isNull = patch.nodes[label + 1].kind == .null
            if let index = indexes[name] {
                if isNull {
                    members[index].value = nil
                    // Another member of that name is the next one to be patched.
                    indexes[name] = members.indices.first {
                        members[$0].value != nil && members[$0].isNamed(name)
                    }
                } else if let node = nodes[index] {
                    members[index].value = merge(target, node, patch, label + 1)
                    nodes[index] = nil
                } else {
                    // The patch has the name a second time.
                    let value = try? JSONText(parsing: Array(members[index].value ?? []))
                    members[index].value = value.map { merge($0, 0, patch, label + 1) }
                }
            } else if !isNull {
                indexes[name] = members.count
                members.append(
                    Member(name: patch.text(of: label), value: merge(target, nil, patch, label + 1)))
                nodes.append(nil)
            }
        }
        return text(of: members)
    }

    private static func text(of members: [Member]) -> ArraySlice<UInt8> {
        var output: ArraySlice<UInt8> = [UInt8(ascii: "{")]
        for member in members {
            guard let value = member.value else { continue }
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            output += member.name
            output.append(UInt8(ascii: ":"))
            output += value
        }
        output.append(UInt8(ascii: "}"))
        return output
    }
}

extension JSONText {
    /// The name of a member, without its escapes.
    func name(_ label: Int) -> [UInt8] {
        JSONString.unescaped(bytes[(nodes[label].start + 1)..<(nodes[label].end - 1)])
    }
}
