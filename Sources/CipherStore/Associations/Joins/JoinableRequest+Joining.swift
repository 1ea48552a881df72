// Requests of several tables.

extension JoinableRequest {
    /// Returns a request that includes an associated row, and leaves rows out
    /// that have none.
    ///
    /// ```swift
    /// struct BookInfo: Decodable, FetchableRecord {
    ///     var book: Book
    ///     var author: Author
    /// }
    /// let request = Book.including(required: Book.author).asRequest(of: BookInfo.self)
    /// ```
    public func including<A: Association>(required association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let path = association.path
        return with { $0.join(path, .required) }
    }

    /// Returns a request that includes an associated row, if there is one.
    public func including<A: Association>(optional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let path = association.path
        return with { $0.join(path, .optional) }
    }

    /// Returns a request that fetches all associated rows as well, by a second
    /// query.
    ///
    /// ```swift
    /// struct AuthorInfo: Decodable, FetchableRecord {
    ///     var author: Author
    ///     var books: [Book]
    /// }
    /// let request = Author.including(all: Author.books).asRequest(of: AuthorInfo.self)
    /// ```
    public func including<A: AssociationToMany>(all association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let path = association.path
        return with { $0.prefetch(path) }
    }

    /// Returns a request that leaves rows out that have no associated row.
    ///
    /// ```swift
    /// let request = Book.joining(required: Book.author.filter { $0.countryCode == "FR" })
    /// ```
    public func joining<A: Association>(required association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let path = association.path
        return with { $0.join(path, .required, isSelected: false) }
    }

    /// Returns a request that joins associated rows, to be used by a table alias.
    public func joining<A: Association>(optional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        let path = association.path
        return with { $0.join(path, .optional, isSelected: false) }
    }

    /// Returns a request that selects the columns of an associated row as its
    /// own, and leaves rows out that have none.
    ///
    /// ```swift
    /// let request = Player.annotated(withRequired: Player.team.select { $0.name.forKey("teamName") })
    /// ```
    public func annotated<A: Association>(withRequired association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        annotated(association.path, .required)
    }

    /// Returns a request that selects the columns of an associated row as its
    /// own; they are NULL when there is none.
    public func annotated<A: Association>(withOptional association: A) -> Self
    where A.OriginRowDecoder == RowDecoder {
        annotated(association.path, .optional)
    }

    private func annotated(_ path: AssociationPath, _ kind: RelationChild.Kind) -> Self {
        let alias = SourceIdentity()
        var path = path
        path.destination.relation.aliases.append(alias)
        let selection = path.destination.relation.selection.map { SQLSelection(.aliased(alias, $0)) }
        return with { [path] relation in
            relation.selection += selection
            relation.join(path, kind, isSelected: false)
        }
    }
}
