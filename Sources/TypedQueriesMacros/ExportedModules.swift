// What the expansions speak of.
@_exported import TypedQueries
