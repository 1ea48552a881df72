import Foundation
import TypedQueriesMacros

@Selection struct Stamps: Equatable {
    var createdAt: Int
    var updatedAt: Int?
}

@Table struct Article: Equatable {
    let id: Int
    var title = ""
    var stamps: Stamps
    @Column(generated: .virtual) let shout: String
    @Column(lazyInitializable: true) let position: Int
}

@Table struct Enrollment: Equatable {
    let id: ID
    var grade: Int?

    @Selection struct ID: Hashable {
        let courseID: Int
        let studentID: Int
    }
}

@Selection enum Attachment: Equatable {
    case link(String)
    case picture(Picture)
    @Column("note_text") case note(text: String)
}

@Selection struct Picture: Equatable {
    let width: Int
    let height: Int
}

@Table struct Item: Equatable {
    let id: Int
    var attachment: Attachment
}

@Table struct Post: Equatable {
    static let all = Self.where { !$0.isDeleted }

    let id: Int
    var isDeleted = false
}

@Selection struct TitleAndLength: Equatable {
    let title: String
    let length: Int
    var mark = "none"
}

@Table struct Word: Equatable {
    let id: Int
    var `class`: String
    var `default` = 1
    var `inout` = 2.5
}

enum Nested {
    enum Kind: Int, QueryBindable { case low, high }

    @Table("nested_things", schema: "main") struct Thing: Equatable {
        let id: Int
        var kind = Kind.low
        var kinds: Kind?
    }
}

/// What other modules do not see, though a public table begins with it.
let shelfDepth = 3

/// A table whose initializers other modules may call.
@Table public struct Shelf: Sendable, Equatable {
    /// The key.
    public let id: Int
    /// How deep it is.
    public var depth: Int = shelfDepth
    /// The one that it is in.
    public var above: Self.Number?

    /// What keys are.
    public typealias Number = Int
}

/// A table of an app that also runs where this isn't there. Apple's compilers check what the macro writes of it.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, *) @Table struct Later {
    let id: Int
    var kind: Kind

    @Selection enum Kind {
        case number(Int)
    }

    @DatabaseFunction static func doubled(_ number: Int) -> Int { 2 * number }
}

/// A table that another module may use.
@Table public struct Published: Sendable, Equatable {
    /// The key.
    public let id: Int
    /// The title.
    public var title: String
    var note: String?

    /// Makes a row.
    public init(id: Int, title: String) {
        self.id = id
        self.title = title
    }
}
