// Requests of several tables that begin with a record type or a table.

extension TableRecord {
    /// Returns a request that includes an associated row, and leaves rows out that have none.
    public static func including<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(required: association)
    }

    /// Returns a request that includes an associated row, if there is one.
    public static func including<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(optional: association)
    }

    /// Returns a request that fetches all associated rows as well.
    public static func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(all: association)
    }

    /// Returns a request that leaves rows out that have no associated row.
    public static func joining<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(required: association)
    }

    /// Returns a request that joins associated rows, to be used by a table alias.
    public static func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(optional: association)
    }

    /// Returns a request that selects the columns of an associated row, and leaves rows out that have none.
    public static func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().annotated(withRequired: association)
    }

    /// Returns a request that selects the columns of an associated row, if there is one.
    public static func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().annotated(withOptional: association)
    }
}

extension Table {
    /// Returns a request that includes an associated row, and leaves rows out that have none.
    public func including<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.including(required: association)
    }

    /// Returns a request that includes an associated row, if there is one.
    public func including<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.including(optional: association)
    }

    /// Returns a request that fetches all associated rows as well.
    public func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.including(all: association)
    }

    /// Returns a request that leaves rows out that have no associated row.
    public func joining<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.joining(required: association)
    }

    /// Returns a request that joins associated rows, to be used by a table alias.
    public func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.joining(optional: association)
    }

    /// Returns a request that selects the columns of an associated row, and leaves rows out that have none.
    public func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.annotated(withRequired: association)
    }

    /// Returns a request that selects the columns of an associated row, if there is one.
    public func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        request.annotated(withOptional: association)
    }
}
